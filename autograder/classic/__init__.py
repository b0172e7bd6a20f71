"""An instructor's own nbgrader assignments: asserts, hidden tests and manual marks, run in our sandbox.

README.md here says what is as in nbgrader and what differs on purpose.
"""
