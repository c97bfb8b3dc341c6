"""Cotangents by the rule of an op, also where numbers are complex.

A rule transposes: `ct * f'(x)`. What flows back to a complex number is the transpose conjugated, the slopes along its
real and its imaginary part as one number; so cotangents are conjugated before the rule and after it. What is real is
not.
"""

from __future__ import annotations

from typing import Any

from mycelia.ir import Cotangents, Op, Value, algebra
from mycelia.types import TensorType


def by_rule(op: Op, ct: Any, out: Any, *inputs: Value) -> Cotangents:
    """The cotangents of the inputs, from that of the result or, as a tuple, from those of several."""
    given = ct if isinstance(ct, tuple) else (ct,)
    if not any(_complex(x) for x in (*given, *inputs)):
        return op.vjp(ct, out, *inputs)
    turned = tuple(map(_conj, ct)) if isinstance(ct, tuple) else _conj(ct)
    return tuple(map(_conj, op.vjp(turned, out, *inputs)))


def _complex(x: Any) -> bool:
    return x is not None and type(x.type) is TensorType and x.type.dtype.is_complex


def _conj(x: Any) -> Any:
    return algebra.conj(x) if _complex(x) else x
