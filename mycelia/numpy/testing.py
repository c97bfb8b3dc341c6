"""Assertions about arrays, as NumPy words them.

>>> import mycelia.numpy as np
>>> np.testing.assert_allclose(np.ones(2), [1.0, 1.0])
"""

from numpy.testing import (
    assert_allclose,
    assert_almost_equal,
    assert_array_almost_equal,
    assert_array_equal,
    assert_array_less,
    assert_equal,
    assert_raises,
)

__all__ = [
    "assert_allclose",
    "assert_almost_equal",
    "assert_array_almost_equal",
    "assert_array_equal",
    "assert_array_less",
    "assert_equal",
    "assert_raises",
]
