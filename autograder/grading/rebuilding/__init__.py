"""From what a stranger handed in to the notebook that is graded. Cells in, cells out: no file, no process."""
