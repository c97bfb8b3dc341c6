"""A name for what a function is: equal functions have equal digests, in every process."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.ir import Function, Param, Value


@lru_cache(maxsize=4096)
def digest(fn: Function) -> str:
    """Sixteen hexadecimal digits that tell this function from others.

    >>> from mycelia.types import TensorType, float32
    >>> scalar = TensorType(float32, ())
    >>> digest(Function.build(lambda x: x * x, scalar)) == digest(Function.build(lambda y: y * y, scalar))
    True
    """
    number: dict[Value, int] = {}
    text = hashlib.sha256()
    for v in fn.values():
        number[v] = len(number)
        shown = _shown(v.op) if isinstance(v.op, Param) else _shown((v.op.name, *v.op.attributes().values()))
        text.update(f"{shown} {[number[x] for x in v.inputs]}\n".encode())
    text.update(f"{_shown(fn.types)} {[number[r] for r in fn.results]}".encode())
    return text.hexdigest()[:16]


def _shown(attribute: Any) -> str:
    if isinstance(attribute, Function):
        return digest(attribute)
    if isinstance(attribute, tuple):
        return f"({', '.join(map(_shown, attribute))})"
    if isinstance(attribute, np.ndarray):
        return f"{attribute.dtype}{attribute.shape}{hashlib.sha256(attribute.tobytes()).hexdigest()}"
    return repr(attribute)


def digest_all(named: tuple[tuple[str, Function], ...]) -> str:
    """Eight digits for functions that go together under names.

    >>> len(digest_all(()))
    8
    """
    text = ", ".join(f"{name}={digest(fn)}" for name, fn in named)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
