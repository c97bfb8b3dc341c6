"""Linear algebra of `mint`."""

from mycelia.ops import inverse as inv
from mycelia.ops import matrix_norm as matrix_norm
from mycelia.ops import norm as norm
from mycelia.ops import qr as qr
from mycelia.ops import vector_norm as vector_norm

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]
