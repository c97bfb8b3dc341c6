"""Operators of the user: compiled they are what Python computes, and their gradients are those of differences."""

# ruff: noqa: E501, F821, SIM108  # the words of the language are no names of Python; plain loops are what is tested

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import ArgumentError, DTypeError, GradientError, MyceliaError, ShapeError
from mycelia.ops.custom import kernel
from tests.ops.judged import check_gradient, check_values


@kernel
def softplus(x):
    return max(x, 0.0) + log1p(exp(-abs(x)))


@kernel
def two_results(x, y):
    big = x if x > y else y
    return big * x, sqrt(y * y + 1.0) - big


@kernel
def root_or_less(x):
    if x > 0.0 and log(x) > -3.0:
        y = sqrt(x)
    else:
        y = -x * x
    return y


@kernel
def everywhere(x):
    y = output_tensor(x.shape, x.dtype)
    for i in grid(x.shape):
        y[i] = tanh(x[i]) * 2.0
    return y


@kernel
def rms_norm(x, weight):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        scale = rsqrt(total / x.shape[1] + 1e-6)
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * scale * weight[j]
    return y


@kernel
def product(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    with block_realize(c):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] = 0.0
                for k in reduce(a.shape[1]):
                    c[i, j] = c[i, j] + a[i, k] * b[k, j]
    return c


@kernel
def lower_triangle(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        for j in range(i + 1):
            y[i, j] = x[i, j] * i + j
    return y


@kernel
def logs_where_possible(x):
    y = output_tensor(x.shape, x.dtype)
    for i, j in grid(x.shape):
        if x[i, j] > 0.0:
            y[i, j] = log(x[i, j])
        elif x[i, j] < -1.0:
            y[i, j] = 1.0 / x[i, j]
    return y


@kernel
def neighbours(x):
    y = output_tensor(x.shape, x.dtype)
    n = x.shape[1]
    for i in range(x.shape[0]):
        for j in range(n):
            left = x[i, j - 1] if j > 0 else 0.0
            right = 0.0
            if j + 1 < n:
                right = x[i, j + 1]
            y[i, j] = left - 2.0 * x[i, j] + right
    return y


@kernel
def turned(x):
    y = output_tensor((x.shape[1], x.shape[0]), x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[j, x.shape[0] - 1 - i] = x[i, j] + y[j, x.shape[0] - 1 - i]
    return y


@kernel
def diagonal(x):
    y = output_tensor((x.shape[0],), x.dtype)
    for i in range(x.shape[0]):
        y[i] = x[i, i] * x[-1, 0]
    return y


@kernel
def every_second(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1], 2):
            y[i, j] = x[i, j] * 3.0
        for j in range(x.shape[1] - 1, -1, -2):
            y[i, j] = y[i, j] + x[i, x.shape[1] - 1 - j]
    return y


@kernel
def largest_and_product(x):
    top = output_tensor((x.shape[0],), x.dtype)
    all_of = output_tensor((x.shape[0],), x.dtype)
    for i in range(x.shape[0]):
        top[i] = -100.0
        all_of[i] = 1.0
        for j in range(x.shape[1]):
            top[i] = max(x[i, j], top[i])
            if x[i, j] > 0.0:
                all_of[i] *= x[i, j]
    return top, all_of


@kernel
def less(x):
    y = output_tensor((1,), x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[0] -= x[i, j] * x[j, i]
    return y


@kernel
def decay(x, rate):
    y = output_tensor(x.shape, x.dtype)
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[t, j] = x[t, j]
            if t > 0:
                y[t, j] += rate[j] * y[t - 1, j]
    return y


@kernel
def running(x):
    y = output_tensor(x.shape, x.dtype)
    s = 0.5
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = s * 0.5 + x[i, j]
            y[i, j] = s
    return y


@kernel
def running_grid(x):
    y = output_tensor(x.shape, x.dtype)
    s = 0.0
    for i, j in grid(x.shape):
        s += x[i, j] * (i + 1)
        y[i, j] = s - j
    return y


@kernel
def triangle_solve(a, b):
    x = output_tensor(b.shape, b.dtype)
    for i in range(b.shape[0]):
        total = b[i]
        for j in range(i):
            total -= a[i, j] * x[j]
        x[i] = total / (a[i, i] * a[i, i] + 1.0)
    return x


@kernel
def chosen(x, places):
    y = output_tensor((places.shape[0], x.shape[1]), x.dtype)
    for i in range(places.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[places[i], j]
    return y


@kernel
def counted(x):
    y = output_tensor((x.shape[0],), "int32")
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.0:
                y[i] += 1
    return y


@kernel
def scratch(x):
    means = allocate((x.shape[1],), x.dtype)
    y = output_tensor(x.shape, x.dtype)
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            means[j] += x[i, j] / float64(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t = x[i, j] - means[j]
            y[i, j] = t * t
    return y


RNG = np.random.default_rng(7)
X, SQUARE, ROW, COLUMN = (RNG.normal(size=s) for s in ((3, 4), (3, 3), (4,), (3,)))
PLACES = np.array([2, 0, 2, -1])
CASES = {
    k.__name__: (k, inputs)
    for k, *inputs in [
        (softplus, X), (two_results, X, ROW), (root_or_less, X), (everywhere, X), (rms_norm, X, ROW),
        (product, X, RNG.normal(size=(4, 2))), (lower_triangle, SQUARE), (logs_where_possible, X), (neighbours, X),
        (turned, X), (diagonal, SQUARE), (every_second, X), (largest_and_product, X), (less, SQUARE), (decay, X, ROW),
        (running, X), (running_grid, X), (triangle_solve, SQUARE, COLUMN), (chosen, X, PLACES), (counted, X),
        (scratch, X),
    ]
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request):
    function, inputs = CASES[request.param]
    return ops.Custom(function, func_type="hybrid"), function, *inputs


def test_the_operator_is_what_python_computes(case):
    check_values(case, lambda f: f, 1e-12)
    assert "one native call" in case[0]._compiled.explain()


def test_the_operator_inside_a_program_is_the_same():
    a, b = (ops.Custom(f, func_type="hybrid") for f in (rms_norm, decay))
    got = ms.jit(lambda x, w: b(a(x, w), w) * 2)(Tensor(X), Tensor(ROW))
    np.testing.assert_allclose(got.asnumpy(), decay(rms_norm(X, ROW), ROW) * 2, rtol=1e-12)


def test_the_gradient_is_that_of_differences(case):
    op, function = case[:2]
    if function is chosen:
        check_gradient((lambda x: op(x, Tensor(PLACES)), None, X))
    elif function is not counted:
        check_gradient(case)


@pytest.mark.parametrize("function", [softplus, rms_norm, decay, logs_where_possible, triangle_solve])
def test_the_gradient_of_the_gradient_is_that_of_differences(function):
    op, inputs = ops.Custom(function, func_type="hybrid"), CASES[function.__name__][1]

    def slope(*xs):
        return ms.grad(lambda *ys: (op(*ys) * op(*ys)).sum())(*xs)

    check_gradient((slope, None, *inputs))


def test_a_batch_is_a_loop():
    op = ops.Custom(rms_norm, func_type="hybrid")
    batch = np.stack([X, -X, X + 1])
    got = ms.vmap(op, (0, None))(Tensor(batch), Tensor(ROW)).asnumpy()
    np.testing.assert_allclose(got, [rms_norm(x, ROW) for x in batch], rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (1, 1)])
def test_arrays_may_be_empty(shape):
    x = np.ones(shape)
    for function in (everywhere, decay, running, largest_and_product):
        inputs = (x, np.ones(shape[1])) if function is decay else (x,)
        check_values((ops.Custom(function, func_type="hybrid"), function, *inputs), ms.jit)


def test_what_is_not_asked_for_gives_no_gradient():
    op = ops.Custom(logs_where_possible, func_type="hybrid")
    got = ms.grad(lambda x: op(x).sum())(Tensor([[0.0, 2.0, -1.0, -4.0]]))
    assert got.tolist() == [[0.0, 0.5, 0.0, -0.0625]]


def _wrong(body, *arrays, params="x"):
    """What is said of a function whose source is this."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"def wrong({params}):\n{lines}\n"
    import linecache  # the text is given to Python as if it were a file

    name = f"<wrong {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict = {}
    exec(compile(text, name, "exec"), names)
    return ops.Custom(kernel(names["wrong"]), func_type="hybrid")(*map(Tensor, arrays or (X,)))


NEW = "y = output_tensor(x.shape, x.dtype)\n"
MISTAKES = {
    "an argument is written to": ("for i, j in grid(x.shape):\n  x[i, j] = 0.0\nreturn x", "read only"),
    "a place too far": (NEW + "for i, j in grid(x.shape):\n  y[i, j] = x[i, j + 1]\nreturn y", "4 elements, and place 4"),
    "a variable from outside": (NEW + "for i, j in grid(x.shape):\n  y[i, j] = outside\nreturn y", "outside is not known"),
    "a variable of a branch": (
        NEW + "for i, j in grid(x.shape):\n  if x[i, j] > 0:\n    t = 1.0\n  y[i, j] = t\nreturn y", "t is not known",
    ),
    "data decides about a loop": (NEW + "for i in range(x[0, 0]):\n  y[0, i] = 1.0\nreturn y", "how often a loop runs"),
    "while": (NEW + "while True:\n  pass\nreturn y", "no while statement"),
    "an unknown function": (NEW + "for i, j in grid(x.shape):\n  y[i, j] = gamma(x[i, j])\nreturn y", "no function gamma"),
    "too few places": (NEW + "for i in range(3):\n  y[i] = 1.0\nreturn y", "2 axes, and 1 places"),
    "a fraction as a place": (NEW + "for i in range(3):\n  y[i / 2, 0] = 1.0\nreturn y", "is a whole number"),
    "an array as a number": (NEW + "for i in range(3):\n  y[i, 0] = x\nreturn y", "x is an array here"),
    "a slice": (NEW + "for i in range(3):\n  y[i, 0:2] = 1.0\nreturn y", "not by slices"),
    "nothing is returned": (NEW + "for i in range(3):\n  y[i, 0] = 1.0", "returns nothing"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told(name):
    body, words = MISTAKES[name]
    with pytest.raises((ArgumentError, ShapeError), match=words):
        _wrong(body)


def test_a_wrong_number_of_arrays_is_told():
    with pytest.raises(ArgumentError, match="takes 2 arrays, and got 1"):
        ops.Custom(rms_norm, func_type="hybrid")(Tensor(X))


def test_places_that_data_gives_are_checked():
    with pytest.raises((IndexError, MyceliaError)):
        ops.Custom(chosen, func_type="hybrid")(Tensor(X), Tensor([5]))


# ----------------------------------------------------------------------------------------------- Python and libraries


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_a_python_function_is_called_once_and_gives_what_it_says(run):
    calls = []

    def sums(x, y):
        calls.append(x.shape)
        return x + y, x.sum(1)

    op = ops.Custom(sums, lambda x, y: (x, x[:1]), lambda x, y: (x, x), "pyfunc")
    both, rows = run(lambda x, y: op(x, y))(Tensor(X), Tensor(ROW))
    np.testing.assert_array_equal(both.asnumpy(), X + ROW)
    np.testing.assert_allclose(rows.asnumpy(), X.sum(1))
    assert calls == [(3, 4)]


def test_a_number_stands_for_one_element():
    """As in MindSpore: a shape () is one axis of one element, [] is none."""
    assert ops.Custom(lambda x: x.sum(), (), ms.float32)(Tensor([1.0, 2.0])).tolist() == [3.0]
    assert ops.Custom(lambda x: x.sum(), [], ms.float32)(Tensor([1.0, 2.0])).item() == 3.0


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_the_given_gradient_is_used(run):
    op = ops.Custom(np.square, lambda s: s, lambda d: d, "pyfunc", bprop=lambda x, out, dout: (x * 3 * dout,))
    assert run(ms.grad(lambda x: (op(x) * 2).sum()))(Tensor([1.0, 2.0])).tolist() == [6.0, 12.0]
    nest = ops.Custom(softplus, func_type="hybrid", bprop=lambda x, out, dout: (dout * 7,))
    assert run(ms.grad(nest))(Tensor([1.0, 2.0])).tolist() == [7.0, 7.0]


def test_without_a_given_gradient_there_is_none():
    op = ops.Custom(np.square, lambda s: s, lambda d: d)
    with pytest.raises(GradientError, match="Python computes it"):
        ms.grad(op)(Tensor([1.0]))


def test_element_types_that_were_not_told_are_refused():
    info = ops.CustomRegOp().input(0, "x").output(0, "y").dtype_format(ops.DataType.F32_None, ops.DataType.F32_None)
    told = ops.custom_info_register(info.target("CPU").get_op_info())(lambda x: x * 2)
    op = ops.Custom(told, lambda s: s, lambda d: d)
    assert op(Tensor([1.0])).tolist() == [2.0]
    with pytest.raises(DTypeError, match="does not take int64"):
        op(Tensor([1]))
    with pytest.raises(ArgumentError, match="1 inputs and results, and 2 element types"):
        ops.CustomRegOp().input(0, "x").dtype_format(ops.DataType.F32_None, ops.DataType.F32_None)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ops.Custom(abs, func_type="tbe"), "func_type"),
        (lambda: ops.Custom(abs), "needs out_shape and out_dtype"),
        (lambda: ops.Custom(softplus.fn, func_type="hybrid"), "decorated with ops.kernel"),
        (lambda: ops.Custom("nowhere.so:f", (1,), ms.float32, "aot"), "no file"),
        (lambda: ops.Custom("f", (1,), ms.float32, "aot"), "a file and a function of it"),
        (lambda: kernel(abs), "takes a function"),
        (lambda: kernel(lambda *xs: xs), "plain parameter"),
    ],
)
def test_wrong_operators_are_told(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()
