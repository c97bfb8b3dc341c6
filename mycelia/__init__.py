"""Mycelia: a deep-learning framework, Python all the way down to LLVM."""
