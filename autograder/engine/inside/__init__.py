"""What runs in the sandbox, beside the student's code: seen as /engine/inside from there.

It imports Python's standard library, what the course itself needs, and nothing else of the project.
"""
