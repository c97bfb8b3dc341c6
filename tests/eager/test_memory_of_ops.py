"""Ops remember how they went by the types of what they were given: each part of a type tells calls apart."""

import operator
from itertools import permutations, product

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops
from mycelia.eager.dispatch import ready, signature
from mycelia.eager.random import Generator
from mycelia.eager.tape import recording, set_aside
from mycelia.errors import DTypeError, GradientError
from mycelia.ir import Function, registry
from mycelia.transforms import vjp
from mycelia.types import TupleType, type_of

DTYPES = ["float32", "float64", "int32", "uint8", "bool"]
SHAPES = [(), (1,), (3,), (2, 1), (2, 3)]


def test_each_part_of_the_types_is_a_part_of_the_signature():
    arrays = [np.zeros(shape, dtype) for shape in SHAPES for dtype in DTYPES]
    for count in (1, 2, 3):
        chosen = list(product(arrays[:: 2 * count - 1], repeat=count))
        signatures = {signature(x) for x in chosen}
        assert len(signatures) == len(chosen)


def outcomes(cases):
    """What calls give, one after the other in one process: types and numbers."""
    found = {}
    for name, dx, dy, sx, sy in cases:
        x, y = Tensor(np.full(sx, 1).astype(dx)), Tensor(np.full(sy, 1).astype(dy))
        out = getattr(ops, name)(x, y)
        found[name, dx, dy, sx, sy] = out.dtype, out.shape, out.asnumpy().tolist()
    return found


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "less", "equal"])
def test_what_an_op_gives_does_not_depend_on_what_it_was_given_before(name):
    types = list(product(DTYPES[:4], repeat=2))
    cases = [(name, dx, dy, sx, sy) for dx, dy in types for sx, sy in ((SHAPES[2], SHAPES[4]), (SHAPES[4], SHAPES[0]))]
    forth = outcomes(cases)
    for (_, dx, dy, sx, sy), (dtype, shape, numbers) in forth.items():
        assert shape == np.broadcast_shapes(sx, sy)
        wanted = {"add": 2, "mul": 1, "maximum": 1, "less": False, "equal": True}[name]
        assert np.array_equal(numbers, np.full(shape, wanted))
        if name in ("less", "equal"):
            assert dtype == ms.bool_
        elif "float64" in (dx, dy):
            assert dtype == ms.float64
        elif "float32" in (dx, dy):
            assert dtype == ms.float32


def test_gradients_are_those_of_what_is_asked_for_however_it_was_asked_before():
    x, y = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    wanted = {0: [5.0, 7.0], 1: [2.0, 3.0]}
    for order in permutations([0, 1, (0, 1), (1, 0)]):
        for at in order:
            got = ms.grad(lambda a, b: a * b, at)(x, y)
            if isinstance(at, int):
                assert got.tolist() == wanted[at]
            else:
                assert [g.tolist() for g in got] == [wanted[i] for i in at]


def test_results_that_are_not_used_have_no_part_in_a_gradient():
    x = Tensor([3.0, 1.0, 2.0])
    first = ms.grad(lambda x: ops.topk(x, 2)[0].sum())
    both = ms.grad(lambda x: (ops.topk(x, 2)[0] * ops.topk(x, 2)[1].astype(ms.float32)).sum())
    split = ms.grad(lambda x: ops.split(x, 1, 0)[1].sum())
    other = ms.grad(lambda x: (ops.split(x, 1, 0)[0] * 2 + ops.split(x, 1, 0)[2]).sum())
    for _ in range(2):
        assert first(x).tolist() == [1.0, 0.0, 1.0]
        assert both(x).tolist() == [0.0, 0.0, 2.0]
        assert split(x).tolist() == [0.0, 1.0, 0.0]
        assert other(x).tolist() == [2.0, 0.0, 1.0]


@pytest.mark.parametrize("dtype", [ms.float16, ms.float64, ms.bfloat16, ms.int32, ms.bool_])
def test_a_parameter_of_numbers_with_a_point_takes_others_and_stays_what_it_is(dtype):
    w = Parameter([0.0, 0.0], name="w")
    w.set_data(Tensor([1, 0], dtype))
    assert w.dtype == ms.float32
    assert w.tolist() == [1.0, 0.0]
    whole = Parameter(Tensor([0, 0], ms.int32), name="n")
    if dtype.is_float:
        with pytest.raises(DTypeError, match="without loss"):
            whole.set_data(Tensor([1, 0], dtype))
    else:
        assert whole.set_data(Tensor([1, 0], dtype)).tolist() == [1, 0]


def test_the_state_of_a_generator_may_be_bytes_that_lie_apart():
    state = Generator().manual_seed(12345678901).get_state().asnumpy()
    apart = np.zeros((16, 2), np.uint8)
    apart[:, 0] = state.view(np.uint8)
    other = Generator()
    other.set_state(Tensor.from_numpy(apart)[:, 0])
    assert other.get_state().tolist() == state.tolist()


def test_streams_that_were_split_have_seeds_of_64_bits():
    streams = Generator().manual_seed(4).split(40)
    seeds = [s.initial_seed() for s in streams]
    assert len(set(seeds)) == 40
    assert any(seed >= 1 << 32 for seed in seeds)
    assert len({seed >> 32 for seed in seeds}) > 30
    assert len({seed & 0xFFFFFFFF for seed in seeds}) > 30


@pytest.mark.parametrize("before", [5, 2**32 - 1, 2**40 + 7, 2**64 - 1])
def test_a_stream_counts_its_draws_in_64_bits(before):
    stream = Generator()
    stream.counter = Tensor(np.array([before & 0xFFFFFFFF, before >> 32], np.uint32))
    stream.draw()
    low, high = stream.counter.tolist()
    assert (high << 32) + low == (before + 1) % 2**64


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
@pytest.mark.parametrize("kind", [Parameter, Tensor])
def test_operators_in_place_compute_what_numpy_computes(name, kind):
    x = np.array([5.0, -7.0, 8.0], "f")
    w = kind(Tensor(x.copy()), name="w") if kind is Parameter else Tensor(x.copy())
    got, want = getattr(operator, name)(w, 2.0), getattr(operator, name)(x.copy(), np.float32(2.0))
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    assert w.tolist() == x.tolist()  # as MindSpore does it: the name is given another tensor


def test_a_tape_that_was_set_aside_goes_on():
    def f(x):
        y = x * x
        with set_aside():
            assert not recording()
            assert ms.grad(lambda z: z * 5.0)(Tensor(1.0)).item() == 5.0
        assert recording()
        return y * x

    assert ms.grad(f)(Tensor(2.0)).item() == 12.0
    assert not recording()


def test_gradients_of_gradients_of_steps_with_one_result_and_with_several():
    def f(x):
        first, second = ops.split(ops.sin(x), 1, 0)
        return (first * second * x[0]).sum()

    x = np.array([0.5, 0.3])
    second = ms.grad(lambda x: ms.grad(f)(x).sum())(Tensor(x)).asnumpy()

    def slope(x):
        step = 1e-4
        value = lambda x: np.sin(x[0]) * np.sin(x[1]) * x[0]  # noqa: E731
        return sum((value(x + d) - value(x - d)) / (2 * step) for d in np.eye(2) * step)

    wanted = [(slope(x + d) - slope(x - d)) / 2e-3 for d in np.eye(2) * 1e-3]
    np.testing.assert_allclose(second, wanted, rtol=1e-3, atol=1e-4)


def several():
    """Samples of ops that give several results with derivatives."""
    for name, op in sorted(registry.items()):
        for sample in op.samples():
            kind = sample.op.infer(*map(type_of, sample.inputs)) if all(map(is_array, sample.inputs)) else None
            moves = kind is not None and any(type_of(x).differentiable for x in sample.inputs)
            enough = moves and isinstance(kind, TupleType) and sum(t.differentiable for t in kind.elements) > 1
            if enough and has_gradient(sample):
                yield pytest.param(sample, kind, id=name)
                break


def has_gradient(sample):
    try:
        vjp(Function.build(sample.op, *map(type_of, sample.inputs)))
    except GradientError:  # it says so itself
        return False
    return True


def is_array(x):
    return isinstance(x, np.ndarray)


@pytest.mark.parametrize(("sample", "kind"), list(several()))
def test_the_way_back_through_an_op_is_one_for_each_choice_of_results(sample, kind):
    needed = tuple(type_of(x).differentiable for x in sample.inputs)
    places = [i for i, t in enumerate(kind.elements) if t.differentiable]
    choices = [tuple(i == only for i in range(len(kind.elements))) for only in places]
    memory = ready(sample.op)
    found = [memory.pullback(needed, live, sample.inputs) for live in choices]
    assert len(set(map(id, found))) == len(choices)
    assert [memory.pullback(needed, live, sample.inputs) for live in choices] == found
