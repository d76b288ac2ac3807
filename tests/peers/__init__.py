"""Servers that nobody here wrote, to test against."""
