"""Types with names in place of their larger extents: so that one native kernel of eager mode serves many shapes.

Which kernel computes must follow from the shapes alone, not from what was computed before: kernels that were written at
different sizes may add up in another order. So sizes are sorted into classes, each eight times as large as the one
before, the program of a class is written at its middle, and it is used only if it relies on nothing else (it has no
guards).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from mycelia.sizes import Scope, Sym
from mycelia.types import TensorType

SMALL = 16  # extents up to this one are constants of a kernel: short loops gain most by that

Key = tuple[object, ...]


def named(types: Sequence[TensorType]) -> tuple[Key, tuple[TensorType, ...]] | None:
    """What tensors of these types have in common with others, and types with names; None if all extents are small.

    >>> from mycelia.types import float32
    >>> key, (x, y) = named([TensorType(float32, (300, 4)), TensorType(float32, (300,))])
    >>> str(x), str(y), key == named([TensorType(float32, (400, 4)), TensorType(float32, (400,))])[0]
    ('f32[n0, 4]', 'f32[n0]', True)
    """
    scope = Scope()
    known: dict[int, Sym] = {}
    key: list[object] = []
    found = []
    for t in types:
        shape: list[int | Sym] = []
        for n in t.shape:
            if n <= SMALL:
                shape.append(n)
                key.append(n)
                continue
            group = (n.bit_length() - 1) // 3
            if n not in known:
                least, most = max(SMALL + 1, 1 << 3 * group), (1 << 3 * group + 3) - 1
                known[n] = scope.name(f"n{len(known)}", hint=isqrt(least * most), low=least, high=most)
            shape.append(known[n])
            key.append((group, str(known[n])))
        key.append(t.dtype)
        found.append(TensorType(t.dtype, tuple(shape)))  # type: ignore[arg-type]  # a size is typed as an int
    return (tuple(key), tuple(found)) if known else None
