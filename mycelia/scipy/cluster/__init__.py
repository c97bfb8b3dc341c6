"""Clusters by SciPy's names."""

from mycelia.scipy.cluster import vq as vq
