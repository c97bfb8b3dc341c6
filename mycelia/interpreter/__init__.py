"""Capture by interpretation: Python's syntax is run on a store of its own, and what it has done is a program."""
