"""Runs strangers' code and judges what comes out. What runs in the sandbox is marked so in its first line."""
