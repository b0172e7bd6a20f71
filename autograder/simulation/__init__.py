"""A simulated class, to show and test all of it."""
