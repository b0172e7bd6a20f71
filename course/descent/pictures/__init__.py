"""What the notebooks draw: one module a notebook, pure functions that return a figure and its words."""
