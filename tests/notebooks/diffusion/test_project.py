"""The painter project: its judges against scikit-learn and SciPy, its reader and its applicants, what it draws."""
