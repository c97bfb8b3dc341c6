"""Distances by SciPy's names."""

from mycelia.scipy.spatial import distance as distance
