"""Random numbers from a counter: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011), and distributions made of it.

The same key and counter give the same numbers, always and everywhere. Whoever wants others counts on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Mistake, Op, Purity, Reader, Sample, Value, zero_gradient
from mycelia.loops import Expr, Index, binary, const, position, select
from mycelia.primitives.family import check_dtype, given, mapping, names
from mycelia.primitives.windows import whole
from mycelia.types import Array, DType, Shape, TensorType, float32, float64, int32, row_major, uint32

__all__ = [
    "RandomBits",
    "bernoulli",
    "normal",
    "random_bits",
    "uniform",
]

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
FEW = 16  # words


@frozen
class RandomBits(Op):
    """Random 32-bit words. Word `i` is word `i % 4` of Philox at (i // 4, 0, *counter) under `key`.

    Key and counter are two words each, the low one first; leading axes that both have are a batch.

    >>> zero = np.zeros(2, np.uint32)
    >>> [hex(word) for word in RandomBits((4,)).reference(zero, zero)]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """

    shape: Shape
    name: ClassVar[str] = "random_bits"
    dtypes: ClassVar[tuple[DType, ...]] = (uint32,)
    purity: ClassVar[Purity] = Purity.TOTAL
    vjp = zero_gradient("its output is an integer")

    def infer(self, key: TensorType, counter: TensorType) -> TensorType:
        check_dtype(self, key, counter)
        if key.shape != counter.shape or key.shape[-1:] != (2,):
            raise ShapeError(
                f"{self.name} needs a key and a counter of two words each",
                given=given((key, counter)),
                hint="both are uint32 of shape (2,), with equal batch axes before",
            )
        return TensorType(uint32, key.shape[:-1] + self.shape)

    def reference(self, key: Array, counter: Array) -> Array:
        count = prod(self.shape)
        if key.ndim == 1 and count <= FEW:  # NumPy takes longer for one operation than Python for some blocks
            given = key.tolist(), counter.tolist()
            words = [word for block in range((count + 3) // 4) for word in philox(block, *given)]
            return np.array(words[:count], np.uint32).reshape(self.shape)
        blocks = np.arange((count + 3) // 4, dtype=np.uint64)
        # the words of all blocks, those that are multiplied apart from the others: (..., two of them, blocks)
        even, odd = np.zeros((2, *key.shape, blocks.size), np.uint64)
        even[..., 0, :], even[..., 1, :], odd[..., 1, :] = blocks, counter[..., :1], counter[..., 1:]
        keys, weyl, multipliers = (np.array(x, np.uint64)[..., None] for x in (key, WEYL, MULTIPLIERS))
        for _ in range(ROUNDS):
            products = (even * multipliers)[..., ::-1, :]
            even, odd = products >> HALF ^ odd ^ keys, products & LOW
            keys = keys + weyl & LOW
        flat = np.stack([even, odd], -1).swapaxes(-3, -2).reshape((*key.shape[:-1], 4 * blocks.size))[..., :count]
        return flat.astype(np.uint32).reshape(key.shape[:-1] + self.shape)

    def element(self, index: Sequence[Index], key: Reader, counter: Reader) -> Expr:
        batch, here = index[: key.type.rank - 1], index[key.type.rank - 1 :]
        flat = Index(0)
        for i, stride in zip(here, row_major(self.shape), strict=True):
            flat = flat + i * stride
        keys = [key.at([*batch, Index(i)]) for i in range(2)]
        high = [counter.at([*batch, Index(i)]) for i in range(2)]
        words = [position(flat // 4, uint32), const(0, uint32), *high]
        for _ in range(ROUNDS):
            words = philox_round(words, keys)
            keys = [k + const(w, uint32) for k, w in zip(keys, WEYL, strict=True)]
        lane = position(flat % 4, uint32)
        out = words[3]
        for other in (2, 1, 0):
            out = select(binary("eq", lane, const(other, uint32)), words[other], out)
        return out

    def vmap(self, size: int, mapped: tuple[bool, ...], key: Value, counter: Value) -> Any:
        return self(*whole(size, mapped, (key, counter)))

    def axes(self, key: TensorType, counter: TensorType) -> str:
        batch = names(key.rank - 1)
        return mapping([[*batch, "1"]] * 2, [*batch, *("1" for _ in self.shape)])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        key, counter = np.array([1, 0xFFFFFFFF], np.uint32), np.array([0, 7], np.uint32)
        yield from (Sample(cls(shape), (key, counter)) for shape in [(4,), (3, 5), (), (0, 2), (1000,)])
        keys = np.arange(8, dtype=np.uint32).reshape(4, 2)
        yield Sample(cls((2, 3)), (keys, keys[::-1].copy()))
        yield Sample(cls((2, 3)), (keys[:0], keys[:0]))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        key = TensorType(uint32, (2,))
        yield Mistake(lambda: cls((3,)).infer(key, key.with_shape(())), ShapeError, "two words each")
        yield Mistake(lambda: cls((3,)).infer(key.with_dtype(int32), key), DTypeError, "random_bits needs")


def philox(block: int, key: Sequence[int], counter: Sequence[int]) -> tuple[int, int, int, int]:
    """The four words of a block.

    >>> [hex(word) for word in philox(0, (0, 0), (0, 0))]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    (m0, m1), (w0, w1), low = MULTIPLIERS, WEYL, 0xFFFFFFFF
    (k0, k1), (c0, c1, c2, c3) = key, (block, 0, *counter)
    for _ in range(ROUNDS):
        first, second = c0 * m0, c2 * m1
        c0, c1, c2, c3 = second >> 32 ^ c1 ^ k0, second & low, first >> 32 ^ c3 ^ k1, first & low
        k0, k1 = k0 + w0 & low, k1 + w1 & low
    return c0, c1, c2, c3


def philox_round(c: Sequence[Expr], keys: Sequence[Expr]) -> list[Expr]:
    """One round: two products, whose halves are exchanged and mixed with the key."""
    m0, m1 = (const(m, uint32) for m in MULTIPLIERS)
    mixed = [
        binary("xor", binary("xor", binary("mulhi", c[2], m1), c[1]), keys[0]),
        binary("xor", binary("xor", binary("mulhi", c[0], m0), c[3]), keys[1]),
    ]
    return [mixed[0], c[2] * m1, mixed[1], c[0] * m0]


def random_bits(key: Any, counter: Any, shape: Sequence[int]) -> Any:
    """Random 32-bit words.

    >>> str(random_bits(p.zeros(uint32, (2,)), p.zeros(uint32, (2,)), (3,)).type)
    'u32[3]'
    """
    return RandomBits(tuple(shape))(key, counter)


def uniform(key: Any, counter: Any, shape: Sequence[int], dtype: DType = float32) -> Any:
    """Numbers in [0, 1), evenly, each a multiple of the smallest step below one.

    >>> str(uniform(p.zeros(uint32, (2,)), p.zeros(uint32, (2,)), (3,)).type)
    'f32[3]'
    """
    digits = {16: 8 if dtype.name == "bfloat16" else 11, 32: 24, 64: 53}[dtype.bits]
    if digits <= 24:
        return _fraction(random_bits(key, counter, shape), digits, dtype)
    pair = random_bits(key, counter, (2, *shape))
    high, low = (p.reshape(p.take(pair, 0, i, i + 1), shape) for i in range(2))
    return _fraction(high, 26, dtype) + _fraction(low, 27, dtype) * 2.0**-26


def _fraction(bits: Any, digits: int, dtype: DType) -> Any:
    """The first `digits` bits of each word, as a number below one."""
    whole_numbers = p.cast(p.shift_right(bits, 32 - digits), int32)
    return p.cast(whole_numbers, dtype) * 2.0**-digits


def normal(key: Any, counter: Any, shape: Sequence[int], dtype: DType = float32) -> Any:
    """Numbers of the standard normal distribution, by the method of Box and Muller.

    >>> str(normal(p.zeros(uint32, (2,)), p.zeros(uint32, (2,)), (3,)).type)
    'f32[3]'
    """
    inner = float64 if dtype is float64 else float32
    pair = uniform(key, counter, (2, *shape), inner)
    radius, angle = (p.reshape(p.take(pair, 0, i, i + 1), shape) for i in range(2))
    return p.cast(p.sqrt(-2.0 * p.log(1.0 - radius)) * p.cos(2.0 * math.pi * angle), dtype)


def bernoulli(key: Any, counter: Any, probability: Any, shape: Sequence[int]) -> Any:
    """True with this probability.

    >>> str(bernoulli(p.zeros(uint32, (2,)), p.zeros(uint32, (2,)), 0.5, (3,)).type)
    'bool[3]'
    """
    return p.less(uniform(key, counter, shape), probability)
