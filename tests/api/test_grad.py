"""Gradients of eager functions, against finite differences and against what calculus says."""

import threading

import numpy as np
import pytest

import mycelia.ops as ops
from mycelia.api import GradOperation, get_grad, grad, jacfwd, jacrev, jit, jvp, value_and_grad, vjp, vmap
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, DTypeError, GradientError, ShapeError
from mycelia.types import float32, float64


def numeric(f, x, eps=1e-6):
    """The gradient of a number by central differences."""
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(up) - f(down)) / (2 * eps)
    return out


def check(f, *arrays, order=2, tolerance=1e-5):
    """Gradients to some order equal finite differences, at float64."""
    tensors = [Tensor(a.astype(np.float64)) for a in arrays]
    for k, a in enumerate(arrays):

        def value(z, k=k):
            return f(*[Tensor(z) if i == k else t for i, t in enumerate(tensors)]).item()

        got = grad(f, k)(*tensors).asnumpy()
        np.testing.assert_allclose(got, numeric(value, a.astype(np.float64)), rtol=tolerance, atol=tolerance)
    if order > 1:
        weights = [Tensor(np.random.default_rng(i).normal(size=a.shape)) for i, a in enumerate(arrays)]

        def slope(*xs):
            return sum((g * w).sum() for g, w in zip(grad(f, range(len(xs)))(*xs), weights, strict=True))

        check(slope, *arrays, order=order - 1, tolerance=10 * tolerance)


rng = np.random.default_rng(0)
A, B = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))


@pytest.mark.parametrize(
    ("f", "arrays"),
    [
        (lambda x: ops.tanh(x * x).sum(), [A]),
        (lambda x, y: ops.exp(x @ y).mean(), [A, B]),
        (lambda x: ops.softmax(x, -1)[:, 1].sum(), [A]),
        (lambda x: ops.logsumexp(x, 1).sum(), [A]),
        (lambda x: (x.max(axis=1) * x.min(axis=0).sum()).sum(), [A]),
        (lambda x: ops.layer_norm(x, (4,)).square().sum() + (x**3).sum(), [A]),
        (lambda x: ops.concat([x, x * x], 1)[:, 2:6].prod(), [A[:1]]),
        (lambda x: (x[[0, 2, 0]] * x[:, ::2].sum()).sum(), [A]),
        (lambda x, y: ops.einsum("ij,jk,ik->", x, y, x @ y), [A, B]),
        (lambda x: ops.conv2d(x.reshape(1, 1, 3, 4), ops.ones((1, 1, 2, 2), float64)).square().sum(), [A]),
        (lambda x: ops.gelu(x).sum() + ops.gelu(x, "tanh").sum(), [A]),
        (lambda x: ops.cumsum(x, 1).square().sum() + ops.cumprod(x, 1).sum(), [A]),
        (lambda x: ops.cross_entropy(x, Tensor([1, 0, 3])), [A]),
        (lambda x: ops.norm(x) * x.std() + x.var(axis=0).sum(), [A]),
        (lambda x: ops.where(x > 0, x * x, -x).sum() + ops.clamp(x, -0.5, 0.5).sum(), [A]),
        (lambda x: ops.scaled_dot_product_attention(x, x, x, is_causal=True).square().sum(), [A]),
        (lambda x: ops.sort(x, 1)[0][:, 0].square().sum(), [A]),
        (lambda x: ops.interpolate(x.reshape(1, 3, 4), 7, mode="linear").square().sum(), [A]),
        (lambda x: (x / (1.0 + x * x)).sum() ** 2, [A]),
    ],
)
def test_gradients_equal_finite_differences_to_second_order(f, arrays):
    check(f, *arrays)


def test_derivatives_of_a_power_to_fifth_order():
    f, x = (lambda x: x**5), Tensor(2.0)
    for wanted in (80.0, 160.0, 240.0, 240.0, 120.0):
        f = grad(f)
        assert f(x).item() == wanted


def test_nested_gradients_do_not_confuse_their_perturbations():
    assert grad(lambda x: x * grad(lambda y: x + y)(Tensor(1.0)))(Tensor(1.0)).item() == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y * y)(x))(Tensor(3.0)).item() == 54.0
    assert grad(lambda x: grad(lambda y: x * y)(x) * 1.0)(Tensor(5.0)).item() == 1.0
    x = Tensor(2.0)
    assert grad(lambda y: x * y)(x).item() == 2.0  # the closed-over x is not the argument


def test_a_jvp_inside_a_gradient_and_the_reverse():
    f = lambda x: (x * x * x).sum()  # noqa: E731
    x, v = Tensor([1.0, 2.0]), Tensor([1.0, -1.0])
    pushed = lambda x: jvp(f, x, v)[1]  # noqa: E731
    np.testing.assert_allclose(grad(pushed)(x).asnumpy(), 6 * x.asnumpy() * v.asnumpy())
    np.testing.assert_allclose(jvp(grad(f), x, v)[1].asnumpy(), 6 * x.asnumpy() * v.asnumpy())


def test_parameters_are_differentiated_where_they_are_read():
    w, b = Parameter([1.0, 2.0], name="w"), Parameter([3.0], name="b")
    f = lambda x: (x * w + b).sum()  # noqa: E731
    x = Tensor([0.0, 1.0])
    value, gw = value_and_grad(f, None, w)(x)
    assert value.item() == 8.0
    assert gw.tolist() == [0.0, 1.0]
    gx, (gw, gb) = grad(f, 0, [w, b])(x)
    assert (gx.tolist(), gw.tolist(), gb.tolist()) == ([1.0, 2.0], [0.0, 1.0], [2.0])
    assert w._tape is None
    named = grad(f, 0, [w, b], return_ids=True)(x)
    assert named[0][0] == 0
    assert get_grad(named, "b").tolist() == [2.0]
    assert get_grad(named, w).tolist() == [0.0, 1.0]


def test_the_gradient_of_a_gradient_by_parameters():
    w = Parameter([1.0, 2.0], name="w")

    def penalty():
        (g,) = grad(lambda: (w * w * w).sum(), None, [w])()
        return (g * g).sum()

    (got,) = grad(penalty, None, [w])()
    np.testing.assert_allclose(got.asnumpy(), 36 * np.array([1.0, 8.0]))


def test_results_beside_the_loss_come_back():
    x = Tensor([1.0, 2.0])
    f = lambda x: ((x * x).sum(), x + 1.0)  # noqa: E731
    gradient, (beside,) = grad(f, has_aux=True)(x)
    assert gradient.tolist() == [2.0, 4.0]
    assert beside.tolist() == [2.0, 3.0]
    (loss, beside), gradient = value_and_grad(f, has_aux=True)(x)
    assert (loss.item(), beside.tolist(), gradient.tolist()) == (5.0, [2.0, 3.0], [2.0, 4.0])


def test_several_results_are_added_and_sens_weights_them():
    x = Tensor([1.0, 2.0])
    assert grad(lambda x: ((x * x).sum(), (x + 1.0).sum()))(x).tolist() == [3.0, 5.0]
    assert grad(lambda x: x * 2.0, sens_param=True)(x, Tensor([3.0, 4.0])).tolist() == [6.0, 8.0]
    assert GradOperation(sens_param=True)(lambda x: x * 2.0)(x, Tensor([3.0, 4.0])).tolist() == [6.0, 8.0]
    with pytest.raises(ShapeError, match="has no cotangent of shape"):
        grad(lambda x: x * 2.0, sens_param=True)(x, Tensor([3.0]))


def test_a_result_that_is_returned_twice_counts_twice():
    x = Tensor([1.0, 2.0])
    assert grad(lambda x: [x * x] * 2)(x).tolist() == [4.0, 8.0]
    assert GradOperation(get_all=True)(lambda x, y: [x * y] * 2)(x, x)[1].tolist() == [2.0, 4.0]


def test_sens_is_no_argument_to_differentiate():
    x, y, sens = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([1.0, 10.0])
    every = GradOperation(get_all=True, sens_param=True)(lambda x, y: x * y)(x, y, sens)
    assert [g.tolist() for g in every] == [[3.0, 40.0], [1.0, 20.0]]


def test_a_number_is_differentiated_and_what_is_none_is_refused():
    assert grad(lambda x: x * x)(3.0).item() == 6.0
    assert grad(lambda nest: nest[0] * nest[1])([Tensor(2.0), 5.0])[1].item() == 2.0
    for wrong in ("3", 3j):
        with pytest.raises(ArgumentError, match=f"holds a {type(wrong).__name__}, not a tensor"):
            grad(lambda x: x)(wrong)


def test_a_pull_back_can_be_used_many_times_and_differentiated():
    y, back = vjp(lambda x: x * x, Tensor([1.0, 2.0]))
    assert y.tolist() == [1.0, 4.0]
    for _ in range(2):
        assert back(Tensor([1.0, 10.0]))[0].tolist() == [2.0, 40.0]
    assert grad(lambda v: (back(v)[0] * v).sum())(Tensor([1.0, 1.0])).tolist() == [4.0, 8.0]


def test_nested_arguments_have_nested_gradients():
    got = grad(lambda tree: (tree["a"] * tree["b"][0]).sum())({"a": Tensor([2.0]), "b": [Tensor([3.0])]})
    assert got["a"].tolist() == [3.0]
    assert got["b"][0].tolist() == [2.0]


def test_writing_into_a_tensor_is_differentiated():
    def f(x):
        y = x * 2.0
        y[0] = y[1] * 10.0
        y[1] *= 3.0
        return y.sum()

    assert grad(f)(Tensor([1.0, 1.0])).tolist() == [0.0, 26.0]


def test_nothing_is_recorded_outside_of_gradients_nor_for_what_does_not_depend_on_the_inputs():
    kept = []

    def f(x):
        aside = Tensor([1.0]) * 3.0
        kept.append((aside, x * 2.0))
        return (x * aside).sum()

    grad(f)(Tensor([1.0]))
    aside, stale = kept[0]
    assert aside._tape is None
    assert not stale._tape.open
    assert not stale._tape  # what the tape held is gone
    assert (stale * 2.0)._tape is None
    assert grad(lambda x: (x * stale).sum())(Tensor([1.0])).tolist() == [2.0]


def test_threads_take_gradients_at_once():
    results = {}

    def work(k):
        x = Tensor(np.full(50, float(k)))
        for _ in range(50):
            results[k] = grad(lambda x: (x * x * x).sum())(x).asnumpy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k, got in results.items():
        np.testing.assert_allclose(got, np.full(50, 3.0 * k * k))


def test_an_error_inside_a_gradient_leaves_no_tape_behind():
    w = Parameter([1.0], name="w")
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: x * (1 // 0), 0, [w])(Tensor([1.0]))
    assert w._tape is None
    assert grad(lambda x: x * w)(Tensor([1.0])).tolist() == [1.0]


def test_mistakes_say_what_to_do():
    with pytest.raises(ArgumentError, match="needs something to be taken with respect to"):
        grad(lambda x: x, None)
    with pytest.raises(DTypeError, match="forward mode moves floating numbers, not int64"):
        jvp(lambda x: x, (Tensor([1]),), (Tensor([1]),))
    with pytest.raises(ArgumentError, match="no argument 1"):
        grad(lambda x: x, 1)(Tensor([1.0]))
    with pytest.raises(ArgumentError, match="returned no tensor"):
        grad(lambda x: 3)(Tensor([1.0]))
    with pytest.raises(ArgumentError, match="weights are parameters"):
        grad(lambda x: x, 0, [Tensor([1.0])])(Tensor([1.0]))


def test_jacobians_by_both_modes_equal_finite_differences():
    f = lambda x: ops.tanh(x @ Tensor(B)).flatten() * x.sum()  # noqa: E731
    x = Tensor(A)
    wanted = np.stack([numeric(lambda z, k=k: f(Tensor(z))[k].item(), A) for k in range(6)])
    for jacobian in (jacfwd(f)(x), jacrev(f)(x)):
        assert jacobian.shape == (6, 3, 4)
        np.testing.assert_allclose(jacobian.asnumpy(), wanted, rtol=1e-6, atol=1e-8)


def test_hessians_by_all_pairs_of_modes_agree():
    f = lambda x: ops.exp(x * x).sum() * x.prod()  # noqa: E731
    x = Tensor(np.array([0.3, -0.5, 0.8]))
    wanted = [[numeric(lambda z, i=i: grad(f)(Tensor(z))[i].item(), x.asnumpy())] for i in range(3)]
    for outer in (jacfwd, jacrev):
        for inner in (jacfwd, jacrev, grad):
            got = outer(inner(f))(x).asnumpy()
            np.testing.assert_allclose(got, np.concatenate(wanted), rtol=1e-5, atol=1e-7)


def test_jacobians_by_position_and_with_results_beside():
    jx, jy = jacrev(lambda x, y: x * y, (0, 1))(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    assert jx.tolist() == [[3.0, 0.0], [0.0, 4.0]]
    assert jy.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    j, beside = jacfwd(lambda x: (x * x, x.sum()), has_aux=True)(Tensor([1.0, 2.0]))
    assert j.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert beside.item() == 3.0


def test_an_op_without_a_gradient_says_so():
    with pytest.raises(GradientError, match="host_call has no gradient: Python computes it"):
        grad(lambda x: ops.pyfunc(np.sin, x, x))(Tensor([1.0]))
    assert grad(lambda x: ops.argmax(x))(Tensor([1])).tolist() == [0]


def test_integers_computed_on_the_way_carry_no_gradient():
    assert grad(lambda x: x * x.argmax().astype("float32"))(Tensor([1.0, 2.0])).tolist() == [1.0, 1.0]


def test_per_example_gradients_by_vmap_equal_a_loop():
    w = Tensor(B)
    loss = lambda w, x: ops.tanh(x @ w).square().sum()  # noqa: E731
    many = vmap(grad(loss), in_axes=(None, 0))(w, Tensor(A))
    for got, x in zip(many, A, strict=True):
        np.testing.assert_allclose(got.asnumpy(), grad(loss)(w, Tensor(x)).asnumpy(), rtol=1e-10)


@pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "jit"])
def test_the_gradient_of_a_frozen_weight_is_zero_where_it_would_be_no_number(way):
    weight = Parameter(Tensor([0.0, 1.0]), name="weight", requires_grad=False)
    gradient = way(grad(lambda x: (x * ops.log(weight)).sum(), None, weight))
    assert gradient(Tensor([1.0, 2.0])).tolist() == [0.0, 0.0]


def test_a_result_that_nobody_uses_has_no_share_in_a_second_derivative():
    both = jit(lambda x: (x * x * x, ops.exp(x)))
    first = grad(lambda x: both(x)[0].sum())
    assert first(Tensor([1.0, 2.0])).tolist() == [3.0, 12.0]
    assert grad(lambda x: first(x).sum())(Tensor([1.0, 2.0])).tolist() == [6.0, 12.0]


@pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "jit"])
def test_what_a_differentiated_function_prints_is_printed_once_in_order(way, capfd):
    def f(x):
        print("first", x)
        y = x * x
        print("then", y)
        return y.sum()

    assert way(lambda x: grad(f)(x) + 1.0)(Tensor([2.0, 3.0])).tolist() == [5.0, 7.0]
    said = capfd.readouterr().out.split()
    assert [w for w in said if w.isalpha()] == ["first", "then"]


@pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "jit"])
def test_axes_of_nests_of_examples(way):
    run = lambda a, b: vmap(lambda t: t["a"] * t["b"] + t["c"], in_axes=({"a": 0, "b": None, "c": 1},))(  # noqa: E731
        {"a": a, "b": b, "c": a.T}
    )
    a = Tensor(np.arange(6.0, dtype="f").reshape(2, 3))
    got = way(run)(a, Tensor([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(got.asnumpy(), a.asnumpy() * [1, 10, 100] + a.asnumpy())


def test_all_arguments_are_those_that_hold_tensors_in_the_older_spelling():
    """As MindSpore 2.10 has it: numbers and None are no arguments to differentiate by."""

    def f(x, n, y=None):
        return x * n if y is None else x * n * y

    x, y = Tensor([1.0, 2.0]), Tensor([4.0, 5.0])
    older = GradOperation(get_all=True)
    for run in (lambda g: g, jit):
        assert [g.tolist() for g in run(lambda x: older(f)(x, 3))(x)] == [[3.0, 3.0]]
        assert [g.tolist() for g in run(lambda x: older(f)(x, 2.5, None))(x)] == [[2.5, 2.5]]
        assert [g.tolist() for g in run(lambda x, y: older(f)(x, 3, y))(x, y)] == [[12.0, 15.0], [3.0, 6.0]]


def test_grad_operation_leaves_out_arguments_without_tensors():
    """As MindSpore does: shapes and axes among the arguments have no gradient, and no arguments have none."""
    older = GradOperation(get_all=True)
    x, w = Tensor([1.0, 2.0]), Parameter([3.0], name="w")
    for shape in ((2, 1), [2, 1]):
        (found,) = older(lambda x, shape: x.reshape(shape) * 3)(x, shape)
        assert found.tolist() == [3.0, 3.0]
    assert older(lambda: w * 2)() == ()
    assert older(lambda a, b: a * b)(2, 3) == ()
    arguments, weights = GradOperation(get_all=True, get_by_list=True)(lambda: w * 2, [w])()
    assert (arguments, weights[0].tolist()) == ((), [2.0])


def test_a_function_may_say_its_gradient():
    @ops.custom_vjp
    def mixed(x, y):
        return 2 * x + y

    assert [g.item() for g in grad(mixed, (0, 1))(Tensor(1.0), Tensor(2.0))] == [2.0, 1.0]
    mixed.defbwd(lambda x, y, out, dout: (dout * out, 2 * y))
    assert [g.item() for g in grad(mixed, (0, 1))(Tensor(1.0), Tensor(2.0))] == [4.0, 4.0]
    assert [g.item() for g in jit(grad(mixed, (0, 1)))(Tensor(1.0), Tensor(2.0))] == [4.0, 4.0]


@pytest.mark.parametrize("make", [Tensor, lambda x: Tensor(x, float64), lambda x: Parameter(x, name="p") * 1.0])
@pytest.mark.parametrize(
    "wrap",
    [lambda f: f, jit, lambda f: lambda x: vmap(f)(x[None])[0], lambda f: jit(lambda x: vmap(f)(x[None])[0])],
    ids=["eager", "jit", "vmap", "jit of vmap"],
)
def test_a_tensor_made_of_a_tensor_is_a_new_beginning(wrap, make):
    slope = wrap(grad(lambda x: (make(x) * x).sum().astype(float32)))
    assert slope(Tensor([1.0, 2.0])).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("how", [lambda fn: fn, jit, lambda fn: jit(jit(fn))], ids=["eager", "jit", "twice"])
def test_a_weight_that_is_named_twice_has_its_gradient_twice(how):
    w, v = Parameter(Tensor([1.0, 2.0])), Parameter(Tensor([3.0, -1.0]))
    fn = how(grad(lambda x: (x * w * w * v).sum(), None, (p for p in (w, v, w))))
    for _ in range(2):
        for x in (Tensor([3.0, 4.0]), Tensor([1.0, -2.0])):
            of_w, of_v = (2 * x * w * v).tolist(), (x * w * w).tolist()
            assert [g.tolist() for g in fn(x)] == [of_w, of_v, of_w]
    _, back = vjp(lambda x: (x * w).sum(), Tensor([3.0, 4.0]), weights=[w, w])
    assert [g.tolist() for g in back()[1]] == [[3.0, 4.0]] * 2


@pytest.mark.parametrize(
    "made", [lambda a, b: (a, b), lambda a, b: [a, b], lambda a, b: {"a": a, "b": b}, lambda a, b: (a, {"b": [b]})]
)
def test_cotangents_are_given_one_by_one_or_as_the_result_is_made(made):
    def fn(x, y):
        return made(x * y, ops.sin(x))

    x, y, first, second = (Tensor(np.arange(3, dtype=np.float32) + n) for n in range(4))
    _, pull = vjp(fn, x, y)
    want = (first * y + second * ops.cos(x)).asnumpy(), (first * x).asnumpy()
    for given in ((first, second), (made(first, second),)):
        for mine, theirs in zip(pull(*given), want, strict=True):
            np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-6)
    with pytest.raises(ArgumentError, match="1 cotangents"):
        pull(first)
