"""Transforms with the arguments that few give: results beside, odd axes, single gradients, settings."""

import functools

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.api.fused import fused
from mycelia.api.parallel_context import SETTINGS, auto_parallel_context, reset_auto_parallel_context
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.ops import pyfunc

X = Tensor(np.array([1.0, -2.0, 3.0], np.float32))
ways = pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "jit"])


def told(nest):
    """A nest of tensors as a nest of lists."""
    if isinstance(nest, Tensor):
        return nest.tolist()
    if isinstance(nest, dict):
        return {k: told(v) for k, v in nest.items()}
    return type(nest)(map(told, nest)) if isinstance(nest, tuple | list) else nest


@ways
@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_beside_the_one_that_is_differentiated_come_back_as_they_are(way, count):
    def fn(x):
        return (x * x, *[x + i for i in range(count)])

    beside = [(X + i).tolist() for i in range(count)]
    want = beside[0] if count == 1 else tuple(beside)
    square, slope = (X * X).tolist(), (X * 2).tolist()
    out, pull, aux = ms.vjp(way(fn), X, has_aux=True)
    assert (out.tolist(), told(aux), told(pull(ops.ones_like(X)))) == (square, want, (slope,))
    out, moved, aux = ms.jvp(way(fn), X, ops.ones_like(X), has_aux=True)
    assert (out.tolist(), told(aux), moved.tolist()) == (square, want, slope)
    out, moved, aux = way(lambda x: ms.jvp(fn, x, x * 0 + 1, has_aux=True))(X)
    assert (out.tolist(), told(aux), moved.tolist()) == (square, want, slope)
    gradient, aux = way(lambda x: ms.grad(lambda x: (fn(x)[0].sum(), *fn(x)[1:]), has_aux=True)(x))(X)
    assert (gradient.tolist(), told(aux)) == (slope, told(tuple(beside)) if count > 1 else (beside[0],))


def test_the_older_spelling_knows_the_weights_of_a_cell():
    net = nn.Dense(3, 1, weight_init="ones")
    first, second = ops.GradOperation(get_by_list=True)(net)(X[None])
    assert (first.tolist(), second.tolist()) == ([X.tolist()], [1.0])
    arguments, weights = ops.GradOperation(get_all=True, get_by_list=True)(net)(X[None])
    assert (told(arguments), len(weights)) == (([[1.0, 1.0, 1.0]],), 2)
    with pytest.raises(ArgumentError, match="get_by_list needs the parameters"):
        ops.GradOperation(get_by_list=True)(lambda x: x)


class Cubed(nn.Cell):
    """Says its gradient: alone, in a tuple, in a list; and wrongly."""

    def __init__(self, made):
        super().__init__()
        self.made = made

    def construct(self, x):
        return x * x * x

    def bprop(self, x, out, dout):
        return self.made(dout * x)


MADE = [lambda g: g, lambda g: (g,), lambda g: [g]]


@pytest.mark.parametrize("made", MADE, ids=["alone", "tuple", "list"])
def test_a_gradient_may_be_said_alone_or_in_a_nest(made):
    net = Cubed(made)
    for way in (ms.grad(net), ms.jit(ms.grad(net)), ms.jit(lambda x: ms.grad(net)(x))):
        assert way(X).tolist() == X.tolist()
    over = ms.vmap(ms.grad(net))(ops.stack((X, X * 2)))
    assert over.tolist() == [X.tolist(), (X * 2).tolist()]


@pytest.mark.parametrize("made", [lambda g: (g, g), lambda g: ()], ids=["two", "none"])
def test_a_wrong_number_of_gradients_is_refused_everywhere(made):
    net = Cubed(made)
    for way in (ms.grad(net), ms.jit(ms.grad(net)), lambda x: ms.vmap(ms.grad(net))(x[None])):
        with pytest.raises(MyceliaError, match="gradient"):
            way(X)


ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


@ways
@pytest.mark.parametrize("name", ["pair as a list", "nest", "nest of lists", "result last", "columns", "shared"])
def test_vmap_over_odd_axes_equals_a_loop(way, name):
    a, b = Tensor(ROWS), Tensor(ROWS * 2 - 3)
    c = Tensor(np.array([5.0, 7.0, 9.0], np.float32))
    if name == "pair as a list":
        got = way(lambda a, c: ms.vmap(lambda x, y: x * y, [0, None])(a, c))(a, c)
        want = ROWS * c.asnumpy()
    elif name == "nest":
        nest = {"k": c, "l": b.T}
        got = way(lambda a, d: ms.vmap(lambda x, d: x + d["k"] * d["l"], (0, {"k": None, "l": 1}))(a, d))(a, nest)
        want = ROWS + c.asnumpy() * b.asnumpy()
    elif name == "nest of lists":
        got = way(lambda a, b, c: ms.vmap(lambda p: p[0] * p[1][0], ([0, [None]],))([a, [c]]))(a, b, c)
        want = ROWS * c.asnumpy()
    elif name == "result last":
        got = way(lambda a, b: ms.vmap(lambda x, y: x + y, 0, 1)(a, b))(a, b)
        want = (ROWS + b.asnumpy()).T
    elif name == "columns":
        got = way(lambda a, b: ms.vmap(lambda x, y: x.sum() * y, (-1, 1), -1)(a, b))(a, b)
        want = ROWS.sum(0) * b.asnumpy()
    else:
        got = way(lambda a, c: ms.vmap(lambda x, y: (x.sum(), y * 2), (0, None), (0, None))(a, c)[1])(a, c)
        want = c.asnumpy() * 2
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


def test_vmap_of_several_cells_gives_each_its_example():
    nets = nn.CellList([nn.Dense(3, 2) for _ in range(2)])
    rows = Tensor(ROWS[:, None])
    want = [net(Tensor(r[None])).asnumpy() for net, r in zip(nets, ROWS, strict=True)]
    np.testing.assert_array_equal(ms.vmap(nets)(rows).asnumpy(), want)
    np.testing.assert_array_equal(ms.vmap(nets, [1])(rows.swapaxes(0, 1)).asnumpy(), want)
    np.testing.assert_array_equal(ms.vmap(nets, 0, 1)(rows).asnumpy(), np.swapaxes(want, 0, 1))
    np.testing.assert_array_equal(ms.vmap(nets, None, None)(rows[0]).asnumpy(), want[0])
    with pytest.raises(ArgumentError, match="2 cells are given as many examples"):
        ms.vmap(nets)(Tensor(np.zeros((3, 1, 3), np.float32)))


class Slotted:
    """Something to call that has no dictionary."""

    __slots__ = ()

    def __call__(self, x):
        return ops.sin(x) * x


class Holder:
    def block(self, x, k=1.0):
        return ops.sin(x) * x * k


@pytest.mark.parametrize(
    "block", [Slotted(), Holder().block, ops.sin, functools.partial(ops.mul, X)], ids=lambda b: type(b).__name__
)
def test_whatever_can_be_called_can_be_computed_again(block):
    def loss(x):
        return ms.recompute(block, x).sum()

    want = ms.grad(lambda x: block(x).sum())(X)
    for way in (ms.grad(loss), ms.jit(ms.grad(loss)), ms.grad(ms.jit(loss))):
        np.testing.assert_allclose(way(X).asnumpy(), want.asnumpy(), rtol=1e-6)
    rows = ops.stack((X, X * 2))
    np.testing.assert_allclose(ms.vmap(loss)(rows).asnumpy(), [float(block(r).sum()) for r in rows], rtol=1e-5)
    outside = ms.vmap(lambda r: ms.recompute(block, X) + r)(rows)
    np.testing.assert_allclose(outside.asnumpy(), (block(X) + rows).asnumpy(), rtol=1e-6)


SAID = [
    ("x", 1, None, 2.5, True),
    (["a", (2, "b")], {"k": 3}),
    (Parameter(X, name="w"), 3),
    (X, [X, "a"]),
    (b"bytes", 1 + 2j),
]


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_what_a_function_prints_while_a_graph_is_written_is_printed_when_it_runs(said, capfd):
    def fn(x):
        ops.print_(*said)
        return x * 2

    fn(X)
    want = capfd.readouterr().out
    mapped, compiled = ms.vmap(fn), ms.jit(fn)
    for run, times in ((compiled, 1), (compiled, 1), (mapped, 3), (mapped, 3), (ms.jit(mapped), 3)):
        run(X)
        assert capfd.readouterr().out == want * times  # once for each example, as in a loop


@ways
def test_what_all_examples_share_is_printed_with_its_numbers_for_each(way, capfd):
    def fn(x, y):
        ops.print_("sum", y.sum(), [y], 3)
        return x * 2

    fn(X, X)
    want = capfd.readouterr().out
    ms.vmap(way(fn), (0, None))(X, X)
    assert capfd.readouterr().out == want * 3


def test_every_setting_of_several_processes_is_read_as_it_was_set():
    context = auto_parallel_context()
    for name, setting in SETTINGS.items():
        assert getattr(context, f"get_{name}")() == setting.first
    context.set_gradients_mean(True)
    context.set_parallel_mode("data_parallel")
    try:
        assert (context.get_gradients_mean(), context.get_parallel_mode()) == (True, "data_parallel")
    finally:
        reset_auto_parallel_context()
    assert context.get_gradients_mean() is False
    for name in ("get_nothing", "set_nothing", "nothing", "put_gradients_mean"):
        with pytest.raises(AttributeError, match="there is no setting"):
            getattr(context, name)


class Scaled(nn.Cell):
    def construct(self, x, y=2.0):
        return x * y


def test_a_described_cell_is_called_with_what_python_lets_it_be_called():
    net = Scaled()
    net.set_inputs(Tensor(shape=(None, 3), dtype=ms.float32))
    described = ms.jit(net)
    assert described(X[None]).shape == (1, 3)
    assert described(X[None], 3.0).tolist() == [(X * 3).tolist()]
    assert described(x=X[None], y=3.0).tolist() == [(X * 3).tolist()]
    for args, named in (((), {}), ((X, 1.0, 2.0), {}), ((X[None],), {"z": 1}), ((X[None],), {"x": X[None]})):
        with pytest.raises(TypeError):
            described(*args, **named)
    with pytest.raises(MyceliaError):
        described(X)


def test_a_fused_function_gives_what_it_gives_op_by_op_for_arguments_of_all_kinds():
    def norm(x, scale=1.0, *, axes=None, more=()):
        out = x / ((x * x).mean(axes) + 1e-3) ** 0.5 * scale
        for m in more:
            out = out + m
        return out

    quick = fused(norm)
    large = Tensor(np.random.default_rng(0).normal(size=(200, 200)).astype(np.float32))
    for args, named in (
        ((large,), {}), ((large, 2.0), {}), ((large, large), {}), ((large,), {"scale": 3}), ((large,), {"axes": 1}),
        ((large,), {"more": (1, 2.0)}), ((large,), {"more": [large]}), ((large,), {"scale": np.float32(2)}), ((X,), {}),
        ((large, -0.0), {}), ((large, 0.0), {}), ((large, True), {}), ((large, 1), {}),
    ):  # fmt: skip
        got, want = quick(*args, **named), norm(*args, **named)
        assert got.dtype is want.dtype
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-6)
        assert (np.signbit(got.asnumpy()) == np.signbit(want.asnumpy())).all()


def test_a_program_that_python_calls_from_within_it_leaves_what_the_outer_call_has_put_aside():
    """The gradient of a loop keeps its turns in memory of its own, and calls itself for other numbers of turns."""

    def loss(x, turns):
        y, i = x, Tensor(0)
        while i < turns:
            y = ops.sin(y) * 1.1
            i = i + 1

        def inner(y, turns):
            return slope(Tensor(y), Tensor(turns - 19)).numpy() if turns > 10 else np.ones_like(y)

        weight = pyfunc(inner, x, ops.stop_gradient(y), turns)
        return (y * ops.stop_gradient(weight)).sum()

    def plain(x, turns):
        turned = [np.array(x, "d")]
        for _ in range(turns):
            turned.append(np.sin(turned[-1]) * 1.1)
        weight = plain(turned[-1], turns - 19) if turns > 10 else np.ones(x.shape)
        for y in reversed(turned[:-1]):
            weight = weight * np.cos(y) * 1.1
        return weight

    slope = ms.jit(ms.grad(loss))
    x = np.linspace(-1, 2, 33, dtype="f")
    for turns in (3, 25, 40, 120, 25):
        np.testing.assert_allclose(slope(Tensor(x), Tensor(turns)).numpy(), plain(x, turns), rtol=2e-4, atol=1e-5)


@ways
def test_axes_of_a_dictionary_are_those_of_its_keys(way):
    nest = {k: np.arange(6, dtype=np.float32).reshape(2, 3) + i for i, k in enumerate("abc")}
    want = nest["a"] + nest["b"] * nest["c"] + [10, 20, 30]
    nest = {
        k: Tensor(v) for k, v in ({**nest, "b": nest["b"].T.copy(), "d": np.array([10, 20, 30], np.float32)}).items()
    }
    axes = {"a": 0, "b": 1, "c": 0, "d": None}
    for order in ("abcd", "dcba", "bdac"):
        some = {k: axes[k] for k in order}
        fn = way(lambda t, some=some: ms.vmap(lambda t: t["a"] + t["b"] * t["c"] + t["d"], in_axes=(some,))(t))
        assert np.array_equal(fn(nest).asnumpy(), want), order
    both = way(lambda t: ms.vmap(lambda x: {"a": x, "b": x + 1}, out_axes={"b": 1, "a": 0})(t))(nest["a"])
    assert told(both) == {"a": nest["a"].tolist(), "b": (nest["a"] + 1).T.tolist()}
    with pytest.raises(MyceliaError, match="in_axes does not look like"):
        way(lambda t: ms.vmap(lambda t: t["a"], in_axes=({"a": 0, "x": 0, "c": 0, "d": None},))(t))(nest)
