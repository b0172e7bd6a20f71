"""What nbgrader sees of a graded class: rows of its gradebook, autograded pages, the rubric in its formgrader.

Only here are its database and `grading/autograded/` written to.
"""
