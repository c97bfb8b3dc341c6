"""Linear systems that are given by what they do to a vector."""

from mycelia.scipy.sparse import linalg as linalg
