"""Which axes may be split over devices: as much as can be. That what is named may be split, the laws show."""

import pytest

from mycelia import primitives as p
from mycelia.types import TensorType, float32, int32


def f32(*shape):
    return TensorType(float32, shape)


@pytest.mark.parametrize(
    ("op", "inputs", "axes"),
    [
        (p.Exp(), [f32(2, 3)], "a b -> a b"),
        (p.Add(), [f32(2, 1), f32(4, 1, 3)], "b 1, a 1 c -> a b c"),
        (p.Add(), [f32(), f32(3)], ", a -> a"),
        (p.Broadcast((4, 2, 3)), [f32(2, 1)], "b 1 -> 1 b 1"),
        (p.Sum((0,)), [f32(2, 3)], "a b -> b"),
        (p.Max((0,)), [f32(2, 3)], "1 b -> b"),
        (p.ArgMax(1), [f32(2, 3)], "a 1 -> a"),
        (p.Cumsum(0), [f32(2, 3)], "1 b -> 1 b"),
        (p.Transpose((1, 0)), [f32(2, 3)], "a b -> b a"),
        (p.Reshape((8, 3)), [f32(2, 4, 3)], "a 1 b -> a b"),
        (p.Reshape((2, 4, 3)), [f32(8, 3)], "a b -> a 1 b"),
        (p.Reshape((2, 1, 3)), [f32(2, 3)], "a b -> a 1 b"),
        (p.Slice((0, 1), (2, 3), (1, 1)), [f32(2, 3)], "a 1 -> a 1"),
        (p.Slice((0, 0), (2, 3), (1, 2)), [f32(2, 3)], "a 1 -> a 1"),
        (p.Pad((0, 1), (0, 0), 0), [f32(2, 3)], "a 1 -> a 1"),
        (p.Concat(1), [f32(2, 3), f32(2, 4)], "a 1, a 1 -> a 1"),
        (p.Flip((1,)), [f32(2, 3)], "a 1 -> a 1"),
        (p.Contract("mk", "kn", "mn"), [f32(2, 3), f32(3, 4)], "m k, k n -> m n"),
        (p.Gather(0), [f32(2, 3), TensorType(int32, (4,))], "1 b, c -> c b"),
        (p.Conv((1,), ((0, 0),), (1,), 1), [f32(2, 3, 4), f32(5, 3, 2)], "n c 1, o c 1 -> n o 1"),
        (p.Conv((1,), ((0, 0),), (1,), 3), [f32(2, 3, 4), f32(6, 1, 2)], "n 1 1, 1 1 1 -> n 1 1"),
        (p.MaxPool((2,), (2,), ((0, 0),)), [f32(2, 3, 4)], "a b 1 -> a b 1"),
    ],
    ids=str,
)
def test_axes(op, inputs, axes):
    assert op.axes(*inputs) == axes
