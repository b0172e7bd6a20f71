"""Notebooks run in kernels that are forked from a warm process instead of importing everything anew."""
