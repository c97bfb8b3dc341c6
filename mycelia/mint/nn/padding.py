"""Zeros around lines and space; around planes, they are in `nn`."""

from __future__ import annotations

from mycelia.nn.padding import ConstantPad1d, ConstantPad3d


class ZeroPad1d(ConstantPad1d):
    """Zeros at the ends of lines.

    >>> from mycelia import ops
    >>> ZeroPad1d((1, 2))(ops.ones((1, 1, 3))).shape
    (1, 1, 6)
    """

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__(padding, 0.0)


class ZeroPad3d(ConstantPad3d):
    """Zeros around blocks of space.

    >>> from mycelia import ops
    >>> ZeroPad3d(1)(ops.ones((1, 1, 2, 2, 2))).shape
    (1, 1, 4, 4, 4)
    """

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__(padding, 0.0)
