"""Functions of matrices: the exponential, the logarithm, the root.

The value at [[A, E], [0, A]] has the derivative at A in the direction of E in its corner, of any such function.
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Cotangents, Sample, Several, Value
from mycelia.primitives import schur_forms
from mycelia.primitives.family import draw
from mycelia.primitives.matrices import OfMatrices, adjoint, flags, of_batch, one_by_one, with_imaginary
from mycelia.types import Array, TensorType, TupleType

__all__ = ["MatrixExp", "MatrixLog", "MatrixRoot"]


def _by_block(function: Callable[[Any], Any], x: Any, ct: Any) -> Any:
    """What flows back to matrices from a function of them: the derivative of the transposed ones along `ct`."""
    n, rank = x.shape[-1], len(x.shape)
    across = adjoint(x)
    upper = p.concat([across, ct], rank - 1)
    block = p.concat([upper, p.concat([p.zeros_like(x), across], rank - 1)], rank - 2)
    corner = p.take(function(block), rank - 2, 0, n)
    return p.take(corner, rank - 1, n, n + n)


class MatrixExp(OfMatrices):
    """The exponential of matrices: the sum of A^k / k!."""

    name = "matrix_exp"

    def types(self, x: TensorType) -> TensorType:  # type: ignore[override]  # of one operand
        return x

    def computed(self, x: Array) -> Any:  # type: ignore[override]  # of one operand
        return _exponential(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (_by_block(MatrixExp(), x, ct),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)):
            yield Sample(cls(), (draw(*shape, low=-1.0, high=1.0),))
        yield Sample(cls(), (with_imaginary(draw(2, 2, 2, low=-1.0, high=1.0)),))
        yield Sample(cls(), (draw(3, 3, low=-20.0, high=20.0),), smooth=False, note="large")


class FunctionOfMatrix(OfMatrices, Several, abstract=True):
    """A function of square matrices, and whether there is a value: none of real numbers may exist."""

    @staticmethod
    def compute(a: Array) -> Array:
        """The value for one matrix; an error of NumPy's if there is none."""
        raise AssertionError("a function of matrices says how it is computed")

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((x, flags(x)))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        with np.errstate(all="ignore"):
            (out,), found = of_batch(one_by_one(self.compute, 1), x)
        return out, found

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        return (_by_block(lambda block: type(self)()(block)[0], x, ct[0]),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 2, 2, low=-0.4, high=0.4).astype(np.float64) + np.eye(2) * 1.5
        yield Sample(cls(), (x,))
        yield Sample(cls(), (with_imaginary(x),))
        yield Sample(cls(), (x[0].astype("f"),))
        yield Sample(cls(), (np.array([[2.0, 1.0], [0.0, 2.0]]),), note="one eigenvector")
        yield Sample(cls(), (np.diag([1.0, -1.0]),), smooth=False, note="none of real numbers")


class MatrixLog(FunctionOfMatrix):
    """The matrices whose exponentials are the operands, with eigenvalues of imaginary parts between -pi and pi."""

    name = "matrix_log"
    compute = staticmethod(schur_forms.logarithm)


class MatrixRoot(FunctionOfMatrix):
    """The matrices whose squares are the operands, with eigenvalues in the right half-plane."""

    name = "matrix_root"
    compute = staticmethod(schur_forms.root)


# of the Padé approximation of degree 13, which is exact to double precision up to a norm of 5.37 (Higham, 2005)
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_NORM = 5.371920351148152


def _exponential(x: Array) -> Array:
    """By scaling and squaring, in double precision."""
    if not x.size:
        return x.copy()
    a = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    norm = float(np.nan_to_num(np.abs(a).sum(-2), nan=0.0, posinf=0.0).max())
    turns = max(0, int(np.ceil(np.log2(norm / _NORM)))) if norm > _NORM else 0
    a = a / 2.0**turns
    one = np.broadcast_to(np.eye(x.shape[-1]), a.shape)
    powers = [one, a @ a]
    powers += [powers[1] @ powers[1]]
    powers += [powers[1] @ powers[2]]

    def even(first: int) -> Any:
        low = sum(_PADE[first + 2 * k] * powers[k] for k in range(4))
        return low + powers[3] @ sum(_PADE[first + 6 + 2 * k] * powers[k] for k in range(1, 4))

    odd, rest = a @ even(1), even(0)
    (out,), _ = of_batch(np.linalg.solve, rest - odd, rest + odd)
    for _ in range(turns):
        out = out @ out
    return out.astype(x.dtype)
