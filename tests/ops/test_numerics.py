"""Numbers at the edges: huge, tiny, infinite, signed zeros, out of range. Eager and compiled give what NumPy gives."""

import warnings

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.primitives import ArgMax, ArgMin
from mycelia.types import TensorType, int8, int32, int64

WAYS = {"eager": lambda f: f, "jit": ms.jit}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
every_float = pytest.mark.parametrize("dtype", ["float32", "float64"])
INF, NAN = np.inf, np.nan


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def agree(got, want, **tolerance):
    assert got.asnumpy().dtype == want.dtype
    np.testing.assert_allclose(got.asnumpy(), want, **tolerance)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got.asnumpy())[numbers], np.signbit(want)[numbers])


@every_way
@every_float
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles(way, dtype, name):
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(0, 80 if dtype == "float32" else 709, 500)) * rng.choice([-1, 1], 500)
    x = np.concatenate([x, [1e15, -1e16, 1e22, 2.0**49, 2.0**49 + 1, 0.5, 0.0, INF, NAN]]).astype(dtype)
    wide = getattr(np, name)(x.astype(np.longdouble))
    agree(way(getattr(ops, name))(Tensor(x)), wide.astype(dtype), rtol=1e-6 if dtype == "float32" else 2e-15)


def floored(x, y):
    """NumPy's, but for infinities: there the quotient is rounded down, as MindSpore and the array API standard do."""
    with np.errstate(all="ignore"):
        return np.where(np.isinf(x) | np.isinf(y), np.floor(x / y), np.floor_divide(x, y))


@every_way
@every_float
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders(way, dtype, name):
    some = [-1, 5, -5, 1, 0.0, -0.0, INF, -INF, NAN, 7.5, -7.5, 0.1, -0.1, 1e30, 3]
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(some, some))
    expected = floored if name == "floor_divide" else getattr(np, name)
    agree(way(getattr(ops, name))(Tensor(x), Tensor(y)), expected(x, y), rtol=0)


@every_way
@every_float
def test_sums_of_exponentials_of_infinities(way, dtype):
    some = [0.0, 1.0, -3.0, 1e4, -1e4, INF, -INF, NAN]
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(some, some))
    agree(way(ops.logaddexp)(Tensor(x), Tensor(y)), np.logaddexp(x, y), rtol=1e-6)
    gradient = way(ms.grad(lambda x, y: ops.logaddexp(x, y).sum(), (0, 1)))
    a, b = gradient(Tensor([3.0, 0.0, 700.0]), Tensor([3.0, 1.0, -700.0]))
    np.testing.assert_allclose(a.asnumpy() + b.asnumpy(), 1.0, 1e-6)


@every_way
@every_float
def test_the_complement_of_the_error_function(way, dtype):
    x = np.concatenate([np.linspace(-7, 9, 401), [INF, -INF, NAN, 0.0, 26.0]]).astype(dtype)
    agree(way(ops.erfc)(Tensor(x)), special.erfc(x.astype("float64")).astype(dtype), rtol=1e-6, atol=1e-37)
    slope = way(ms.grad(lambda x: ops.erfc(x).sum()))(Tensor(np.array([0.0, 1.0, -2.0], dtype))).asnumpy()
    np.testing.assert_allclose(slope, -2 / np.sqrt(np.pi) * np.exp(-np.array([0.0, 1.0, 4.0])), 1e-5)


POLES = np.array(
    [0.0, -0.0, INF, NAN, -1.0, -2.0, 1e-30, -1e-30, -1e-5, -0.3, -1.5, -100.5, 0.3, 1.5, 170.0, 1e30, 3e38]
)


@every_way
@every_float
@pytest.mark.parametrize(("name", "oracle"), [("lgamma", special.gammaln), ("digamma", special.digamma)])
def test_the_gamma_function_beside_its_poles(way, dtype, name, oracle):
    x = POLES.astype(dtype)
    got, want = way(getattr(ops, name))(Tensor(x)).asnumpy(), oracle(x.astype("float64"))
    np.testing.assert_allclose(got, want.astype(dtype), rtol=1e-6 if dtype == "float32" else 1e-13)
    slope = ms.grad(lambda v: ops.lgamma(v).sum())(Tensor(x)).asnumpy()[6:]
    np.testing.assert_allclose(slope, special.digamma(x[6:].astype("float64")), rtol=1e-6)


@every_way
def test_what_error_function_gives_numbers_beside_one(way):
    y = np.array(
        [0.0, -0.0, 1e-300, 0.3, 0.499, -0.5, 0.501, 0.9999, 1 - 1e-12, 1e-15 - 1, 1 - 2.0**-53, 1.0, -1.0, NAN, 2.0]
    )
    agree(way(ops.erfinv)(Tensor(y)), special.erfinv(y), rtol=1e-14)
    near = y[np.abs(y) < 1]
    slope = ms.grad(lambda v: ops.erfinv(v).sum())(Tensor(near)).asnumpy()
    np.testing.assert_allclose(slope, np.sqrt(np.pi) / 2 * np.exp(special.erfinv(near) ** 2), rtol=1e-12)


@every_way
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_powers_of_two_are_exact(way, dtype):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    x = np.arange(-14 if dtype == "float16" else -125, 16 if dtype == "float16" else 128).astype(kind)
    np.testing.assert_array_equal(way(ops.exp2)(Tensor(x)).asnumpy(), np.exp2(x.astype("float64")).astype(kind))


@every_way
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
def test_the_sign_of_zero_is_seen(way, dtype):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    whole = dtype in ("int32", "uint8")
    x = np.array([0, 1, 3] if dtype == "uint8" else [0, -1, 1] if whole else [-0.0, 0.0, -1, 1, INF, -INF]).astype(kind)
    got = way(ops.signbit)(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(got, x < 0 if whole else np.signbit(x.astype("f")))


@every_way
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_what_is_shifted_out_is_gone(way, dtype):
    bits = np.dtype(dtype).itemsize * 8
    amounts = [0, 1, bits - 1, bits, bits + 3, 100] + ([-1] if dtype[0] == "i" else [])
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid([0, 1, 5, 100] + [-1, -128] * (dtype[0] == "i"), amounts))
    np.testing.assert_array_equal(way(lambda x, y: x << y)(Tensor(x), Tensor(y)).asnumpy(), x << y)
    np.testing.assert_array_equal(way(lambda x, y: x >> y)(Tensor(x), Tensor(y)).asnumpy(), x >> y)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_a_float_that_does_not_fit_becomes_the_same_integer_everywhere(source, dtype):
    kind = ml_dtypes.bfloat16 if source == "bfloat16" else np.dtype(source)
    few = np.array([-1, -1.9, 1.9, 255, 256, 7e4, 2.0**31, -(2.0**31), 3e9, -3e9, 2.0**63, 1e19, 1e20, -1e20, NAN, INF])
    x = np.concatenate([few, -few]).astype(kind)
    small, compiled = Tensor(x).astype(dtype).asnumpy(), ms.jit(lambda x: x.astype(dtype))(Tensor(x)).asnumpy()
    large = Tensor(np.tile(x, 4096))
    np.testing.assert_array_equal(small, compiled)
    for _ in range(5):
        np.testing.assert_array_equal(large.astype(dtype).asnumpy(), np.tile(small, 4096))
    if dtype != "bool":
        limits = np.iinfo(dtype)
        wide = x.astype("float64")
        fits = (wide > float(limits.min) - 1) & (wide < float(limits.max) + 1) & (wide != 2.0**63)
        np.testing.assert_array_equal(small[fits], wide[fits].astype(dtype))


@pytest.mark.parametrize("op", [ArgMax, ArgMin])
def test_places_on_a_long_axis_are_counted_in_64_bits(op):
    assert op(0).infer(TensorType(int8, ((1 << 31) - 1,))).dtype is int32
    assert op(0).infer(TensorType(int8, (1 << 31,))).dtype is int64


@pytest.mark.slow
def test_the_largest_of_more_than_2_to_the_31_elements_is_found():
    x = np.zeros((1 << 31) + 3, np.int8)
    x[-2] = 1
    assert ops.argmax(Tensor(x)).item() == len(x) - 2


@pytest.mark.parametrize("function", [ops.cross_entropy, ops.nll_loss])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("label", [-1, -2, 5, 100])
def test_a_label_that_is_no_class_is_a_mistake(function, dtype, label):
    scores, labels = Tensor(np.zeros((3, 5), "f")), Tensor(np.array([0, label, 4], dtype))
    with pytest.raises(IndexError, match=f"target {label} is none of 5 classes"):
        function(scores, labels)
    with pytest.raises(IndexError, match=f"target {label} is none of 5 classes"):
        ms.jit(function)(scores, labels)
    assert np.isfinite(function(scores, labels, ignore_index=label).asnumpy())
    assert np.isfinite(ms.jit(lambda x, y: function(x, y, ignore_index=label))(scores, labels).asnumpy())


EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.5,
    0.1,
    3.0,
    10.0,
    -10.0,
    26.0,
    88.0,
    89.0,
    -88.0,
    -104.0,
    128.0,
    700.0,
    -745.0,
]
EDGES += [
    1e-3,
    1e-8,
    -1e-8,
    1e-20,
    1e-30,
    1e-300,
    1e4,
    65504.0,
    1e5,
    1e7,
    1e15,
    -1e16,
    1e22,
    1e30,
    1e38,
    1e100,
    1e300,
    -1e300,
]
EDGES += [INF, -INF, NAN, np.pi, np.pi / 2, 0.9999999, 1.0000001, 1.5, 8388609.0, 4503599627370497.5]
UNARY = {
    "exp": np.exp, "expm1": np.expm1, "exp2": np.exp2, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "abs": np.abs, "neg": np.negative, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "round": np.round,
    "trunc": np.trunc, "square": np.square, "reciprocal": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": special.expit, "erf": special.erf, "erfc": special.erfc, "logit": special.logit,
}  # fmt: skip
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floor_divide": floored,
    "remainder": np.remainder, "fmod": np.fmod, "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot,
    "logaddexp": np.logaddexp, "maximum": np.maximum, "minimum": np.minimum, "xlogy": special.xlogy,
}  # fmt: skip
CLOSE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 4e-15}


def edges(dtype, numbers):
    """The numbers that a type holds, without those that compiled code takes for zero."""
    given = Tensor(np.array(numbers)).astype(getattr(ms, dtype))
    held = given.astype(ms.float64).asnumpy()
    normal = (held == 0) | ~(np.abs(held) < (1e-300 if dtype == "float64" else 1e-4 if dtype == "float16" else 1e-37))
    return Tensor(held[normal]).astype(getattr(ms, dtype)), held[normal]


def as_rounded(got, want, dtype):
    """Equal up to rounding, in what the type can hold; with the sign of zero."""
    got = got.astype(ms.float64).asnumpy()
    want = Tensor(want).astype(getattr(ms, dtype)).astype(ms.float64).asnumpy()
    tiny = {"float16": 1e-4, "float64": 1e-300}.get(dtype, 1e-37)
    largest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234e38, "float64": 1.797e308}[
        dtype
    ]
    beyond = (np.abs(want) >= largest * 0.99) & (np.abs(got) >= largest * 0.99) & (np.sign(got) == np.sign(want))
    small = (np.abs(want) < tiny) & (np.abs(got) < tiny)
    close = np.isclose(got, want, rtol=CLOSE[dtype], atol=0, equal_nan=True)
    signs = (np.signbit(got) == np.signbit(want)) | (got != 0) | (want != 0)
    wrong = np.flatnonzero(~((close | beyond | small) & signs))
    assert not len(wrong), [(got[i], want[i]) for i in wrong[:5]]


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.many("name", UNARY, pack=25)
def test_functions_at_the_edges(name, dtype):
    x, held = edges(dtype, EDGES)
    want = UNARY[name](held)
    for way in WAYS.values():
        as_rounded(way(getattr(ops, name))(x), want, dtype)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.many("name", BINARY, pack=20)
def test_functions_of_two_numbers_at_the_edges(name, dtype):
    few = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        -0.1,
        0.5,
        2.0,
        -2.0,
        3.0,
        7.5,
        100.0,
        1e5,
        1e15,
        1e30,
        1e-30,
        1e300,
        INF,
        -INF,
        NAN,
    ]
    _, held = edges(dtype, few)
    a, b = (m.ravel() for m in np.meshgrid(held, held))
    want = BINARY[name](a, b)
    x, y = (Tensor(v).astype(getattr(ms, dtype)) for v in (a, b))
    for way in WAYS.values():
        as_rounded(way(getattr(ops, name))(x, y), want, dtype)


@pytest.mark.parametrize("wrong", [1.5, -0.25, INF, -INF, 1.0000001])
def test_what_is_no_probability_is_a_mistake(wrong):
    loss = ms.jit(ops.binary_cross_entropy)
    for run in (
        ops.binary_cross_entropy,
        loss,
        ms.vmap(ops.binary_cross_entropy),
        ms.jit(ms.vmap(ops.binary_cross_entropy)),
    ):
        with pytest.raises(ValueError, match="no probability"):
            run(Tensor([0.5, wrong]), Tensor([1.0, 0.0]))
    assert np.isnan(loss(Tensor([0.5, NAN]), Tensor([1.0, 0.0])).item())
    assert loss(Tensor([0.0, 1.0]), Tensor([0.0, 1.0])).item() == 0.0


WHOLE = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "floor_divide": np.floor_divide,
    "remainder": np.remainder, "fmod": np.fmod, "maximum": np.maximum, "minimum": np.minimum,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "equal": np.equal, "less": np.less, "less_equal": np.less_equal, "logical_xor": np.logical_xor,
    "gcd": np.gcd, "lcm": np.lcm,
}  # fmt: skip
OF_ONE = {"abs": np.abs, "neg": np.negative, "sign": np.sign, "square": np.square, "logical_not": np.logical_not}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_at_the_edges_of_their_type(dtype):
    """Overflow wraps around and what is divided by zero is zero, eagerly and in one program, as in NumPy."""
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    few = {0, 1, 2, 3, 7, high, high - 1, low, low + 1, high // 2, high // 2 + 1, *((-1, -2, -7) if low else ())}
    a, b = (m.ravel() for m in np.meshgrid(*[np.array(sorted(few), dtype)] * 2))

    def every(x, y):
        return [getattr(ops, n)(x, y) for n in WHOLE] + [getattr(ops, n)(x) for n in OF_ONE]

    want = [f(a, b) for f in WHOLE.values()] + [f(a) for f in OF_ONE.values()]
    for way in WAYS.values():
        for name, got, expected in zip([*WHOLE, *OF_ONE], way(every)(Tensor(a), Tensor(b)), want, strict=True):
            np.testing.assert_array_equal(got.asnumpy(), expected, name, strict=True)


@every_way
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_nan_is_put_behind_all_numbers(way, dtype):
    numbers = [3.0, NAN, 1.0, -INF, 2.0, NAN, 0.0, -0.0, 5.0]
    x = Tensor(numbers).astype(getattr(ms, dtype))

    def every(x):
        return *ops.sort(x), ops.topk(x, 3)[0], ops.unique(x)[0]

    values, places, largest, different = (t.astype(ms.float32).asnumpy() for t in way(every)(x))
    np.testing.assert_array_equal(places, np.argsort(numbers, kind="stable"))
    np.testing.assert_array_equal(values, np.sort(numbers))
    np.testing.assert_array_equal(largest, [NAN, NAN, 5.0])
    np.testing.assert_array_equal(different, [3.0, NAN, 1.0, -INF, 2.0, 0.0, 5.0])


@every_way
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_factor_beyond_the_range_of_the_type_does_no_harm(way, dtype):
    powers = [-140, -128, 0, 3, 128, 200] if dtype != "float16" else [-20, -3, 0, 15, 20]
    x, e = (m.ravel() for m in np.meshgrid(np.array([64, -128, 2.0**-10, 0, INF, 1], dtype), powers))
    want = np.ldexp(x.astype("float64"), e).astype(dtype)
    kept = (want == 0) | (np.abs(want) >= np.finfo(dtype).tiny)
    got = way(ops.ldexp)(Tensor(x), Tensor(e.astype(dtype))).asnumpy()
    np.testing.assert_array_equal(got[kept], want[kept])
