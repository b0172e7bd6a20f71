"""Hostile submissions, one a file of `suite/`, and what must become of each."""
