"""Capture: an interpreter of Python's syntax turns a call into a program, behind guards."""
