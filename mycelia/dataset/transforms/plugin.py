"""A transform that lives in a shared library of the user."""

from __future__ import annotations

import ctypes

import numpy as np

from mycelia.checks import text
from mycelia.dataset.transforms.base import Array, TensorOperation
from mycelia.errors import ArgumentError, DependencyError
from mycelia.frozen import frozen


@frozen
class Plugin(TensorOperation):
    """A C function `int name(char *data, const int64_t *shape, int rank, const char *dtype, const char *user_args)`.

    It works in place on a contiguous copy of the column; `dtype` is NumPy's name of the element type, and any answer
    but 0 is an error.

    >>> Plugin("libnowhere.so", "blur").func_name
    'blur'
    """

    lib_path: str
    func_name: str
    user_args: str | None = None

    def __post_init__(self) -> None:
        text(self, "lib_path", self.lib_path)
        text(self, "func_name", self.func_name)
        text(self, "user_args", self.user_args or "")

    def apply(self, x: Array) -> Array:
        """The library is opened when first used, so the transform itself travels between processes."""
        try:
            function = getattr(ctypes.CDLL(self.lib_path), self.func_name)
        except (OSError, AttributeError) as error:
            raise DependencyError(
                f"the plugin cannot be loaded: {error}", given={"lib_path": self.lib_path, "func_name": self.func_name}
            ) from None
        out = np.array(x, order="C")
        shape = (ctypes.c_int64 * out.ndim)(*out.shape)
        status = function(
            out.ctypes.data_as(ctypes.c_void_p),
            shape,
            out.ndim,
            out.dtype.name.encode(),
            (self.user_args or "").encode(),
        )
        if status:
            raise ArgumentError(
                f"the plugin {self.func_name} answered {status}", given={"column": f"{out.dtype}{out.shape}"}
            )
        return out
