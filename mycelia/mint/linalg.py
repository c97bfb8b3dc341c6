"""Linear algebra of `mint`."""

from mycelia.ops import matrix_norm as matrix_norm
from mycelia.ops import vector_norm as vector_norm
