"""From a submission to verdicts and the gradebook. Calls `engine`, never runs a student's code itself.

Here stand the commands (`grade`, `regrade`), what they keep (`verdicts`, `snapshots`) and hand around (`jobs`); in the
rooms below, the steps: `dispatch` gives the work out, `workers` do it, by `rebuilding` and running each notebook,
`gradebook` takes the result.
"""
