"""Set-up of the project on a machine: Python's standard library only."""
