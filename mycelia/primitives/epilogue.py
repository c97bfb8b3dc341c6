"""Epilogues: a contraction or convolution together with the bias that follows it, for one library call.

Passes make them when differentiation is done; they are calls like others, so every rule holds for them too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.frozen import frozen
from mycelia.ir import Function, Lowered, Op, Sample, Value
from mycelia.primitives.contraction import Contract
from mycelia.primitives.control import Call
from mycelia.primitives.convolution import Conv
from mycelia.types import TensorType, Type, type_of

__all__ = ["Epilogue", "epilogue"]


@frozen
class Epilogue(Call):
    """`core(x, y) + bias`: the bias is one number for each of the last axis of a contraction, or for each channel of a
    convolution. An activation stays outside: the library's rectifier makes 0 of what is not a number.
    """

    native: ClassVar[Lowered] = Lowered.STEP

    @property
    def core(self) -> Contract | Conv:
        """The contraction or convolution."""
        return next(v.op for v in self.fn.values() if isinstance(v.op, Contract | Conv))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        rng = np.random.default_rng(0)
        x, w, b = (rng.normal(size=s).astype("f") for s in ((4, 3), (3, 5), (5,)))
        image, kernel, c = (rng.normal(size=s).astype("f") for s in ((2, 3, 6, 6), (4, 3, 3, 3), (4,)))
        conv = Conv((1, 1), ((1, 1), (1, 1)), (1, 1), 1)
        for core, arrays in ((Contract("mk", "kn", "mn"), (x, w, b)), (conv, (image, kernel, c))):
            yield Sample(made(core, *map(type_of, arrays)), arrays)


def made(core: Op, *types: Type) -> Epilogue:
    """The epilogue of an op at operands of these types."""

    def whole(x: Value, y: Value, bias: Value) -> Any:
        out = core(x, y)
        if isinstance(core, Conv):
            bias = p.reshape(bias, (1, bias.shape[0], *[1] * (len(out.shape) - 2)))
        return out + bias

    return Epilogue(Function.build(whole, *types))


def epilogue(core: Op, x: Value, y: Value, bias: Value) -> Value:
    """`core(x, y) + bias` as one op.

    >>> from mycelia.types import float32
    >>> x, w, b = (p.zeros(float32, s) for s in ((4, 3), (3, 5), (5,)))
    >>> str(epilogue(Contract("mk", "kn", "mn"), x, w, b).type)
    'f32[4, 5]'
    """
    (out,) = made(core, x.type, y.type, bias.type)(x, y, bias)
    assert isinstance(out.type, TensorType), "an epilogue gives a tensor"
    return out
