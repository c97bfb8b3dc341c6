"""jit: what it accepts, what a call does, gradients, state."""

import copy
import functools
import gc
import pickle
import sys

import numpy as np
import pytest

from mycelia import nn, ops
from mycelia.api.context import GRAPH_MODE, PYNATIVE_MODE, set_context, set_seed
from mycelia.api.grad import grad, value_and_grad, vjp
from mycelia.api.jacobian import jacfwd, jacrev, jvp
from mycelia.api.jit import jit
from mycelia.api.vectorize import vmap
from mycelia.eager import Parameter, Tensor, assign
from mycelia.errors import ArgumentError, CaptureError
from mycelia.runtime.executable import Calls

X = Tensor([1.0, 2.0])


def numbers(x):
    return np.array(x.asnumpy() if isinstance(x, Tensor) else x, "float64")


def slope(f, x, step=1e-3):
    """The gradient of a function of one tensor, by differences."""
    at = numbers(x)
    found = np.zeros_like(at)
    for i in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[i], down[i] = at[i] + step, at[i] - step
        found[i] = (numbers(f(Tensor(up))) - numbers(f(Tensor(down)))) / (2 * step)
    return found


# ------------------------------------------------------------------------------------------------- what it can compile


def test_a_decorator_with_and_without_settings():
    @jit
    def f(x):
        "Twice as much."
        return x * 2

    @jit(jit_level="O0", fullgraph=True)
    def g(x):
        return x * 3

    assert f.__name__ == "f"
    assert f.__doc__ == "Twice as much."
    assert (f(X) + g(X)).tolist() == [5.0, 10.0]
    assert "jit_level='O0'" in g.explain()


def test_lambdas_on_one_line():
    f, g = jit(lambda x: x + 1), jit(lambda x: x - 1 if x.sum() > 0 else x)
    assert f(X).tolist() == [2.0, 3.0]
    assert g(X).tolist() == [0.0, 1.0]


def test_a_method():
    class Model:
        def __init__(self, k):
            self.k = k

        @jit
        def forward(self, x):
            if x.sum() > 0:
                return x * self.k
            return x

    two, three = Model(2.0), Model(3.0)
    assert two.forward(X).tolist() == [2.0, 4.0]
    assert three.forward(X).tolist() == [3.0, 6.0]
    two.k = 5.0
    assert two.forward(X).tolist() == [5.0, 10.0]
    assert "native" in Model.forward.explain()


class Gated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones"), Clip())
        self.k = 2

    @property
    def scale(self):
        return self.k * 0.5

    def construct(self, x):
        return self.inner(x) * self.scale


class Clip(nn.Cell):
    def construct(self, x):
        if x.sum() > 5.0:
            return x * 0 + 5.0
        return x


def test_a_cell_with_cells_inside_that_branch():
    net = Gated()
    compiled = jit(net, fallback=False)
    x, y = Tensor([[1.0, 2.0]]), Tensor([[0.1, 0.2]])
    assert np.allclose(compiled(x).asnumpy(), net(x).asnumpy())
    assert np.allclose(compiled(y).asnumpy(), net(y).asnumpy())
    assert len(compiled.trainable_params()) == 2
    net.k = 10
    assert np.allclose(compiled(x).asnumpy(), net(x).asnumpy())


def test_a_cell_in_graph_mode():
    net = Gated()
    x = Tensor([[1.0, 2.0]])
    expected = net(x).asnumpy()
    set_context(mode=GRAPH_MODE)
    try:
        before = Calls.count
        assert np.allclose(net(x).asnumpy(), expected)
        assert Calls.count > before
    finally:
        set_context(mode=PYNATIVE_MODE)


def test_a_setting_that_does_not_exist():
    with pytest.raises(ArgumentError, match="capture_mode cannot be 'magic'"):
        jit(lambda x: x, capture_mode="magic")
    with pytest.raises(ArgumentError, match="not int"):
        jit(3)


def test_a_function_without_source_runs_as_it_is():
    space = {}
    exec("def f(x):\n    return x * 2", space)
    with pytest.warns(RuntimeWarning, match="f has no source that could be read"):
        assert jit(space["f"])(X).tolist() == [2.0, 4.0]


def test_jit_inside_jit_is_one_program():
    inner = jit(lambda x: x * 2 if x.sum() > 0 else x)
    outer = jit(lambda x: inner(x) + inner(-x))
    before = Calls.count
    assert outer(X).tolist() == [1.0, 2.0]
    assert Calls.count == before + 1
    assert not inner._interpreted.ways


# -------------------------------------------------------------------------------------------------- what comes back


def test_the_very_tensors_that_went_in_come_out():
    w = Parameter([1.0, 2.0], name="w")
    f = jit(lambda x: (x, w, x + w))
    a, b, c = f(X)
    assert a is X
    assert b is w
    assert c.tolist() == [2.0, 4.0]


def test_an_argument_that_is_written_to_is_changed_for_the_caller():
    @jit
    def f(x):
        x[0] = 10.0
        return x.sum()

    x = Tensor([1.0, 2.0])
    for _ in range(2):
        assert f(x).item() == 12.0
        assert x.tolist() == [10.0, 2.0]


# ------------------------------------------------------------------------------------------------------------ gradients


def through_while(x):
    while (x * x).sum() < 50.0:
        x = x * x * 0.3 + x
    return (x * x).sum()


def through_for(x):
    h = x[0] * 0
    for row in x:
        h = (h * row).sin() + row
    return (h * h).sum()


def through_if(x):
    if x.sum() > 0:
        return (x * x * x).sum()
    return x.sum()


def through_recursion(x, n=None):
    n = Tensor(3) if n is None else n
    if n == 0:
        return (x * x).sum()
    return through_recursion(x.sin() + x, n - 1) * 1.5


def through_break(x):
    for k in range(1, 6):
        x = x * k
        if x.sum() > 20:
            break
    return (x * x).sum()


POINT = Tensor(np.array([0.7, 1.3]))
FLOWS = [through_while, through_for, through_if, through_recursion, through_break]


@pytest.mark.parametrize("f", FLOWS, ids=lambda f: f.__name__)
def test_gradients_through_control_flow_equal_differences(f):
    expected = slope(f, POINT)
    assert np.allclose(grad(jit(f))(POINT).asnumpy(), expected, rtol=1e-4)
    assert np.allclose(jit(grad(f), fallback=False)(POINT).asnumpy(), expected, rtol=1e-4)


@pytest.mark.parametrize("f", FLOWS, ids=lambda f: f.__name__)
def test_second_derivatives_through_control_flow_equal_differences(f):
    def first(x):
        return grad(f)(x).sum()

    expected = slope(first, POINT)
    assert np.allclose(jit(grad(lambda x: grad(f)(x).sum()), fallback=False)(POINT).asnumpy(), expected, rtol=1e-3)
    assert np.allclose(grad(lambda x: grad(jit(f))(x).sum())(POINT).asnumpy(), expected, rtol=1e-3)


def test_what_python_runs_has_the_gradient_of_python():
    f = jit(lambda x: (x * x).sum() + Tensor(np.tanh(x.asnumpy())).sum())
    assert grad(f)(X).tolist() == [2.0, 4.0]
    assert "asnumpy" in f.explain()


def test_a_jitted_call_is_one_node_of_the_tape():
    f = jit(lambda x, y: (x * y, x + y))
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])

    def loss(x, y):
        a, b = f(x, y)
        return (a * b).sum()

    assert [g.tolist() for g in grad(loss, (0, 1))(x, y)] == [[15.0, 32.0], [7.0, 20.0]]


def test_vjp_jvp_and_jacobians_inside_jit():
    def f(x):
        return x * x * x.sum() if x.sum() > 0 else x

    def everything(x):
        y, back = vjp(f, x)
        _, tangent = jvp(f, x, x * 2)
        return y, back(x)[0], tangent, jacrev(f)(x), jacfwd(f)(x)

    for a, b in zip(everything(X), jit(everything, fallback=False)(X), strict=True):
        assert np.allclose(a.asnumpy(), b.asnumpy())


def test_vmap_inside_jit():
    w = Parameter([2.0, 3.0], name="w")
    f = jit(lambda x: vmap(lambda row: (row * w).sum())(x), fallback=False)
    assert f(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [8.0, 18.0]


def test_gradients_with_auxiliary_results_and_cotangents():
    def f(x, y):
        return (x * y).sum(), x + y

    for both in (value_and_grad(f, (0, 1), has_aux=True), jit(value_and_grad(f, (0, 1), has_aux=True))):
        (value, aux), (dx, dy) = both(X, X * 3)
        assert value.item() == 15.0
        assert aux.tolist() == [4.0, 8.0]
        assert (dx.tolist(), dy.tolist()) == ([3.0, 6.0], [1.0, 2.0])
    seeded = grad(lambda x: x * x, sens_param=True)
    assert jit(seeded)(X, Tensor([1.0, 10.0])).tolist() == [2.0, 40.0]


# ---------------------------------------------------------------------------------------------------------------- state


def test_parameters_are_read_afresh_and_written_in_place():
    w = Parameter([1.0, 2.0], name="w")

    @jit
    def step(x):
        assign(w, w - x * 0.5)
        return w.sum()

    step(X)
    place = w._data.ctypes.data
    assert step(X).item() == 0.0
    assert w.tolist() == [0.0, 0.0]
    assert w._data.ctypes.data == place  # the buffer was donated


def test_data_that_someone_else_holds_is_not_overwritten():
    w = Parameter([1.0, 2.0], name="w")

    @jit
    def step():
        w.set_data(w * 2)

    before = w.value()
    step()
    step()
    assert before.tolist() == [1.0, 2.0]
    assert w.tolist() == [4.0, 8.0]


def test_state_in_branches_and_loops():
    w, n = Parameter([1.0, 2.0], name="w"), Parameter(0.0, name="n")

    def step(x):
        if x.sum() > 0:
            w.set_data(w + x)
        while w.sum() < 30:
            w.set_data(w * 2)
            n.set_data(n + 1)
        return w * 1

    def fresh(f):
        w.set_data([1.0, 2.0])
        n.set_data(0.0)
        return f(X).tolist(), f(-X).tolist(), w.tolist(), n.item()

    assert fresh(jit(step, fallback=False)) == fresh(step)


def test_random_numbers_are_those_of_eager_mode():
    def f(x):
        return x + ops.rand(2), ops.rand(3) if x.sum() > 0 else ops.rand(3) * 2

    def three(f):
        set_seed(7)
        return [t.asnumpy() for _ in range(3) for t in f(X)]

    for a, b in zip(three(f), three(jit(f, fallback=False)), strict=True):
        assert np.allclose(a, b)


def network():
    set_seed(1)
    return nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 3))


def losses(compiled, make, data, labels):
    net = network()
    loss_fn, optimizer = nn.CrossEntropyLoss(), make(net.trainable_params())
    both = value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, gradients = both(x, y)
        optimizer(gradients)
        return loss

    step = jit(step, fallback=False) if compiled else step
    found = [step(data, labels).item() for _ in range(5)]
    before = Calls.count
    found.append(step(data, labels).item())
    assert not compiled or Calls.count == before + 1
    return found


@pytest.mark.parametrize("make", [nn.SGD, nn.Adam, nn.AdamWeightDecay, lambda p: nn.Momentum(p, 0.1, 0.9)])
def test_a_train_step_is_one_native_call_and_equals_eager(make):
    rng = np.random.default_rng(0)
    data, labels = Tensor(rng.standard_normal((16, 4)).astype("f")), Tensor(rng.integers(0, 3, 16).astype("int32"))
    assert np.allclose(losses(True, make, data, labels), losses(False, make, data, labels), rtol=1e-4)


def test_capturing_leaves_nothing_behind():
    w = Parameter([1.0, 2.0], name="w")
    f = jit(lambda x: [1][int((w * x).sum())])
    g = jit(lambda x: (w * x).reshape((5,)))
    with pytest.raises(IndexError):
        f(X)
    with pytest.raises(ValueError, match="reshape"):
        g(X)
    assert w.tolist() == [1.0, 2.0]
    assert gc.isenabled()
    assert (Tensor([1.0]) + 1).asnumpy().tolist() == [2.0]


# ------------------------------------------------------------------------------------------------------------- numbers


def test_a_number_that_changes_becomes_an_input_of_the_program():
    def step(x, rate, n):
        return x * rate + n

    compiled = jit(step)
    for i in range(50):
        assert np.allclose(compiled(X, 0.1 * i, i).asnumpy(), step(X, 0.1 * i, i).asnumpy())
    assert compiled.explain().count("native") == 2


def test_a_number_that_must_be_known_stays_a_constant():
    def f(x, n):
        return x.reshape((n, 2)) + n, n + 1

    compiled = jit(f)
    for i in (1, 2, 3, 4, 2, 1):
        x = Tensor(np.ones(2 * i, "f"))
        (y, n), (z, m) = f(x, i), compiled(x, i)
        assert np.allclose(y.asnumpy(), z.asnumpy())
        assert (n, type(n)) == (m, type(m))


@pytest.mark.filterwarnings("ignore:.*given up")  # `n in (3, 5)` is asked of a number that is known
def test_numbers_that_change_are_computed_by_python_at_every_call():
    compiled = jit(lambda x, n: (x * n, n + 1, 2**-n, n // 3, n in (3, 5)))
    for i in range(40):
        got = compiled(X, i)
        assert got[1:] == (i + 1, 2**-i, i // 3, i in (3, 5))
        assert [type(v) for v in got[1:]] == [int, float if i else int, int, bool] or i == 0


def test_programs_that_need_their_sizes_as_numbers_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(sys.modules["mycelia.api.ways"], "KEPT", 8)
    compiled = jit(lambda x, n: x.reshape((n, -1)))
    for i in range(1, 30):
        assert compiled(Tensor(np.zeros(i, "f")), i).shape == (i, 1)
    assert sum(len(ways.ways) for ways in compiled._interpreted.ways.values()) <= 8


def test_vmap_captures_what_it_cannot_call():
    def f(x):
        while x < 10:
            x = x * 2
        return x if x < 12 else -x

    for mapped in (vmap(f), vmap(jit(f)), jit(vmap(f))):
        assert mapped(Tensor([1.0, 3.0, 5.5, 20.0])).tolist() == [-16.0, -12.0, 11.0, -20.0]
    slopes = grad(lambda x: vmap(f)(x).sum())(Tensor([1.0, 3.0, 5.5, 20.0]))
    assert slopes.tolist() == [-16.0, -4.0, 2.0, -1.0]


@pytest.mark.parametrize(
    ("wrong", "right"), [("fulgraph", "fullgraph"), ("jitlevel", "jit_level"), ("backnd", "backend")]
)
def test_a_misspelled_setting_is_an_error_that_names_the_right_one(wrong, right):
    with pytest.raises(ArgumentError, match=rf"no setting {wrong}[\s\S]*did you mean {right}\?"):
        jit(lambda x: x, **{wrong: True})
    with pytest.raises(ArgumentError, match="there are capture_mode"):
        jit(colour="blue")


def test_settings_of_mindspore_that_act_are_accepted_and_shown():
    settings = {"capture_mode": "ast", "jit_level": "O0", "dynamic": 1, "fullgraph": True, "backend": "ms_backend"}
    f = jit(lambda x: x * 2, **settings)
    assert f(X).tolist() == [2.0, 4.0]
    assert all(f"{name}={value!r}" in f.explain() for name, value in settings.items())


IDLE = {
    "capture_mode": "bytecode", "jit_level": "O1", "infer_boost": "on", "exec_order": "dfs", "ge_options": {},
    "exc_mode": "sink", "debug_level": "DEBUG", "disable_format_transform": True,
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), IDLE.items(), ids=IDLE)
def test_settings_that_would_change_nothing_are_refused(name, value):
    with pytest.raises(ArgumentError, match=rf"{name} cannot be|has no {name}[\s\S]*leave it out"):
        jit(lambda x: x, **{name: value})


def test_a_strict_syntax_level_is_an_error_where_python_would_run():
    def f(x):
        return x * float(x.sum())

    assert jit(f, jit_syntax_level="LAX")(X).tolist() == f(X).tolist()
    with pytest.raises(CaptureError):
        jit(f, jit_syntax_level="STRICT")(X)


def test_a_copy_of_a_jitted_cell_has_settings_and_programs_of_its_own():
    net = jit(nn.Dense(2, 1), fullgraph=True)
    again = copy.deepcopy(net)
    again.weight = Parameter(net.weight * 3.0, name="weight")
    again.bias = Parameter(net.bias * 3.0, name="bias")
    np.testing.assert_allclose(again(X).asnumpy(), 3.0 * net(X).asnumpy(), rtol=1e-6)
    assert net.explain() == again.explain()
    assert "fullgraph=True" in pickle.loads(pickle.dumps(net)).explain()


def test_what_wraps_a_jitted_function_is_not_taken_for_it():
    inner = jit(lambda x: x * 2)
    inner.note = "kept"

    @functools.wraps(inner)
    def outer(x):
        return inner(x) + 1

    assert vars(outer) == {"note": "kept", "__wrapped__": inner}
    assert jit(outer)(X).tolist() == [3.0, 5.0]


def test_a_jitted_cell_inside_another_is_trained_with_it_in_one_native_call():
    class Whole(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = jit(nn.Dense(2, 2))
            self.layers = nn.SequentialCell(jit(nn.ReLU()), jit(nn.Dense(2, 1)))

        def construct(self, x):
            return self.layers(self.body(x))

    net = Whole()
    names = ["body.weight", "body.bias", "layers.1.weight", "layers.1.bias"]
    assert [p.name for p in net.trainable_params()] == names
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradients = value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    @jit
    def step(x):
        loss, found = gradients(x)
        optimizer(found)
        return loss

    step(X)
    before, held = Calls.count, [numbers(p) for p in net.trainable_params()]
    step(X)
    assert Calls.count == before + 1
    assert not np.array_equal(held[-1], numbers(net.trainable_params()[-1]))
