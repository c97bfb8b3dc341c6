"""Transforms with the arguments that few give: results beside, odd axes, single gradients, settings."""

import datetime
import decimal
import functools
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.api.fused import fused
from mycelia.api.parallel_context import SETTINGS, auto_parallel_context, reset_auto_parallel_context
from mycelia.api.profile_page import timeline
from mycelia.api.seeming import must_run_once
from mycelia.eager.views import shares
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
def test_what_flows_has_the_type_of_what_it_flows_to(way):
    fn = way(lambda x: x * x)
    _, pull = ms.vjp(fn, X)
    for kind in (np.float64, np.float16, np.int32, np.int8, np.float32):
        given = Tensor(np.array([1, 3, 2], kind))
        for found in (pull(given)[0], ms.jvp(fn, X, given)[1]):
            assert (found.dtype, found.tolist()) == (ms.float32, [2.0, -12.0, 12.0])


@ways
def test_written_data_loses_axes_of_one_element_in_front_and_no_others(way):
    def written(x, at, new):
        x = x.copy()
        x[at] = new
        return x

    rows, fn = np.zeros((4, 3), np.float32), written if way is not ms.jit else ms.jit(written, fallback=False)
    for at in (np.array([0, 2]), np.array(1)):
        for shape in (
            (3,),
            (1, 3),
            (1, 1, 3),
            (1, 2, 3),
            (2, 3),
            (2, 1),
            (1, 1, 1),
            (2, 2, 3),
            (1, 2, 2, 3),
            (2, 1, 3),
        ):
            new, want = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1, rows.copy()
            try:
                want[at] = new
            except ValueError:
                with pytest.raises(MyceliaError, match=r"cannot be written|cannot broadcast"):
                    fn(Tensor(rows), Tensor(at), Tensor(new))
            else:
                assert np.array_equal(fn(Tensor(rows), Tensor(at), Tensor(new)).asnumpy(), want), (at, shape)


@pytest.mark.parametrize("step", [-1, -2, -3])
def test_a_slice_goes_back_at_sizes_that_change(step):
    for part in (slice(None, None, step), slice(5, None, step), slice(None, 1, step), slice(-2, -6, step)):
        fn = ms.jit(lambda x, part=part: x[part] * 1)
        for size in (3, 4, 7, 9, 10, 6, 8):
            numbers = np.arange(size, dtype=np.float32)
            assert fn(Tensor(numbers)).tolist() == numbers[part].tolist(), (part, size)


@pytest.mark.parametrize("nest", [lambda t: (t,), lambda t: [t], lambda t: {"a": t}, lambda t: t, lambda t: (t, t)])
def test_a_fused_function_gives_the_nest_that_it_made(nest):
    def fn(x):
        return nest(x * 2 + 1)

    compiled = fused(fn)
    for x in (X, Tensor(np.arange(1 << 17, dtype=np.float32)), X):
        found, want = compiled(x), fn(x)
        assert (type(found), told(found)) == (type(want), told(want))


def test_what_is_not_known_may_change_and_decide():
    for fn in (lambda x: decimal.Decimal(x), lambda x: datetime.date, open, datetime.datetime, iter([])):
        assert must_run_once(fn)
    assert not must_run_once(lambda x: np.float32(x) + len([x]))


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
    if way is ms.jit:  # the whole is one program

        def given(x, y, z):
            return ms.vmap(lambda t: t["x"] * t["y"] + t["z"], in_axes=[{"x": 0, "z": None, "y": 1}])(
                {"x": x, "y": y, "z": z}
            )

        found = ms.jit(given, fallback=False)(nest["a"], nest["b"], nest["d"])
        assert np.array_equal(found.asnumpy(), (nest["a"] * nest["b"].T + nest["d"]).asnumpy())
    with pytest.raises(MyceliaError, match="in_axes does not look like"):
        way(lambda t: ms.vmap(lambda t: t["a"], in_axes=({"a": 0, "x": 0, "c": 0, "d": None},))(t))(nest)


def test_what_flows_to_a_part_is_added_to_the_whole_and_to_nothing_else():
    size = 1 << 18
    a, b, w = np.random.default_rng(0).standard_normal((3, size)).astype(np.float32)

    def loss(x, y):
        part = x[5 : size - 3]
        return ((x + y) * Tensor(w)).sum() + (part * 3).sum()

    of_x, of_y = ms.grad(loss, (0, 1))(Tensor(a), Tensor(b))
    assert np.array_equal(of_y.asnumpy(), w)
    w[5 : size - 3] += 3
    assert np.array_equal(of_x.asnumpy(), w)


def test_a_tensor_is_no_part_of_itself():
    x = Tensor([1.0, 2.0])
    assert x.T is x
    assert not shares(x)
    y = x.reshape(2)
    assert y._kin.base is x


@ways
def test_a_wrapper_has_what_the_wrapped_function_knows(way):
    def tagged(x):
        return x * 2

    tagged.factor = 3.0

    def fn(x):
        @functools.wraps(tagged)
        def around(x):
            return tagged(x) + 1

        return around(x) * getattr(around, "factor", 100.0), around.__name__

    found, name = way(fn)(X)
    assert (found.tolist(), name) == (((X * 2 + 1) * 3).tolist(), "tagged")


def test_a_picture_says_names_as_they_are():
    class Reading(HTMLParser):
        told = None

        def handle_starttag(self, tag, attrs):
            self.told = dict(attrs)["data-told"] if tag == "rect" else self.told

    name = 'it\'s <x> & "y"'
    page = Reading()
    page.feed(timeline([{"name": name, "cat": "call", "ts": 0.0, "dur": 2e3, "tid": 0, "args": {"lines": ["a'b"]}}]))
    assert page.told == f"{name}\n2.000 ms\na'b"


def test_what_a_dictionary_holds_is_found_by_numbers_that_are_computed():
    held, state = {1: 10.0, 2: 20.0, 3: 30.0}, SimpleNamespace(n=0)

    def given(x, k):
        own = dict(held)
        return x * held.get(k, 5.0) + own.pop(k + 1, 3.0) + own.setdefault(k, 1.0) + held.get(k * 2, 0.5)

    def counted(x):
        state.n += 1
        return x * held.get(state.n % 4, 5.0) + held.get(state.n % 4 + 1, 2.0)

    compiled = ms.jit(given, fallback=False)
    for k in (1, 2, 3, 4, 5, 1, 2):
        assert compiled(Tensor(2.0), k).item() == given(Tensor(2.0), k).item(), k
    compiled = ms.jit(counted, fallback=False)
    for n in range(8):
        state.n = n
        want = counted(Tensor(2.0)).item()
        state.n = n
        assert (compiled(Tensor(2.0)).item(), state.n) == (want, n + 1)
