"""Small programs in ordinary Python. Each must do the same eagerly and under jit."""

from programs import branches, corners, fallback, loops, recursion, straight
from programs.shared import NATIVE, PYTHON

__all__ = ["NATIVE", "PYTHON", "branches", "corners", "fallback", "loops", "recursion", "straight"]
