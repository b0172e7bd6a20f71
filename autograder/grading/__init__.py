"""From a submission to verdicts and the gradebook. Calls `engine`, never runs a student's code itself."""
