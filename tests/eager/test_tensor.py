"""Tensors: element types, operators, conversion, text, copies, and what they tell people who make mistakes."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import mycelia.ops  # noqa: F401  # methods
from mycelia import types
from mycelia.eager import Generator, Parameter, ParameterTuple, Tensor, as_dtype, assign
from mycelia.errors import ArgumentError, DTypeError, ShapeError

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
# recorded from MindSpore 2.10: the element type of a product, row times column
PRODUCTS = """
bool     uint8    int8     int16    int32    int64    float16  bfloat16 float32 float64
uint8    uint8    int16    int16    int32    int64    float16  bfloat16 float32 float64
int8     int16    int8     int16    int32    int64    float16  bfloat16 float32 float64
int16    int16    int16    int16    int32    int64    float16  bfloat16 float32 float64
int32    int32    int32    int32    int32    int64    float16  bfloat16 float32 float64
int64    int64    int64    int64    int64    int64    float16  bfloat16 float32 float64
float16  float16  float16  float16  float16  float16  float16  float32  float32 float64
bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float32  bfloat16 float32 float64
float32  float32  float32  float32  float32  float32  float32  float32  float32 float64
float64  float64  float64  float64  float64  float64  float64  float64  float64 float64
"""
# of a product with True, 2 and 2.5; of a quotient by itself; of a sum of all elements
WITH_NUMBERS = {
    "bool": ("bool", "int64", "float32", "float32", "int64"),
    "uint8": ("uint8", "uint8", "float32", "float32", "int64"),
    "int32": ("int32", "int32", "float32", "float32", "int64"),
    "int64": ("int64", "int64", "float32", "float32", "int64"),
    "float16": ("float16", "float16", "float16", "float16", "float16"),
    "bfloat16": ("bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16"),
    "float32": ("float32", "float32", "float32", "float32", "float32"),
    "float64": ("float64", "float64", "float64", "float64", "float64"),
}


def ones(name):
    return Tensor(np.ones(2), name)


def test_element_types_meet_as_in_mindspore():
    for a, row in zip(NAMES, PRODUCTS.split("\n")[1:], strict=False):
        for b, wanted in zip(NAMES, row.split(), strict=True):
            assert repr((ones(a) * ones(b)).dtype) == wanted, (a, b)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_numbers_of_two_types_are_compared_in_the_type_of_their_sum(name):
    x, y = Tensor(np.array([2**24 + 1], np.int32)), Tensor(np.array([2**24], np.float32))  # as float32 they are equal
    compare = getattr(Tensor, f"__{name}__")
    assert (x + y).dtype is types.float32
    assert compare(x, y).item() is compare(y, x).item() is (name in ("eq", "le", "ge"))


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_python_numbers_adapt_to_tensors(name):
    x = ones(name)
    got = [(x * number).dtype for number in (True, 2, 2.5)] + [(x / x).dtype, x.sum().dtype]
    assert tuple(map(repr, got)) == WITH_NUMBERS[name]
    assert repr((2 * x).dtype) == WITH_NUMBERS[name][1]


def test_numpy_numbers_adapt_as_python_s_do():
    assert (Tensor([1.0]) + np.float64(2)).dtype is types.float32
    assert (np.float64(2) * Tensor([1.0])).dtype is types.float32


def test_unsigned_and_signed_64_bits_have_no_common_type():
    with pytest.raises(DTypeError, match="uint64 and int64 have no common integer type"):
        Tensor([1], "uint64") + Tensor([1])


OPERATORS = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, lambda x, y: x // y,
    lambda x, y: x % y, lambda x, y: x**y, lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x > y,
    lambda x, y: x >= y, lambda x, y: x == y, lambda x, y: x != y,
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 1), (3,)), ((), (3,)), ((), ()), ((0, 3), (3,))], ids=str)
def test_operators_equal_numpy(dtype, shapes):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(1, 9, s).astype(dtype) for s in shapes)
    for operator in OPERATORS:
        with np.errstate(over="ignore"):
            wanted = np.asarray(operator(a, b))
        for x, y in ((Tensor(a), Tensor(b)), (Tensor(a), b), (a, Tensor(b)), (Parameter(a, name="a"), Tensor(b))):
            got = operator(x, y)
            assert isinstance(got, Tensor)
            np.testing.assert_allclose(
                got.asnumpy().astype("d"), wanted.astype("d"), rtol=2e-3 if dtype == "float16" else 1e-6
            )


def test_bits_and_shifts():
    x, y = Tensor([6, 5]), Tensor([3, 1])
    assert [(x & y).tolist(), (x | y).tolist(), (x ^ y).tolist()] == [[2, 1], [7, 5], [5, 4]]
    assert [(x << 1).tolist(), (x >> y).tolist(), (~x).tolist()] == [[12, 10], [0, 2], [-7, -6]]
    assert (~Tensor([True, False])).tolist() == [False, True]
    assert (-Tensor([1, 2])).tolist() == [-1, -2]
    assert abs(Tensor([-1.5])).tolist() == [1.5]


def test_integer_powers_are_exact():
    assert (Tensor([3, -2]) ** 3).tolist() == [27, -8]
    assert (Tensor([3]) ** Tensor([4])).tolist() == [81]
    assert (2 ** Tensor([1.0, 3.0])).tolist() == [2.0, 8.0]
    assert (Tensor([4.0]) ** 0.5).tolist() == [2.0]
    assert (Tensor([4.0]) ** -1).tolist() == [0.25]


def test_what_cannot_be_compared_is_different():
    x = Tensor([1.0])
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
    with pytest.raises(TypeError):
        x < "a"  # noqa: B015


def test_division_by_zero_is_infinite_and_silent():
    x = Tensor([1.0, -1.0, 0.0])
    np.testing.assert_array_equal((x / 0).asnumpy(), [np.inf, -np.inf, np.nan])
    assert (Tensor([3e38]) * 10.0).item() == np.inf
    assert (Tensor([7]) // 0).item() == 0


def test_negative_zero_keeps_its_sign():
    assert np.signbit((Tensor([1.0]) * -0.0).asnumpy()).all()
    assert not np.signbit((Tensor([1.0]) * 0.0).asnumpy()).any()


def test_data_becomes_tensors():
    assert Tensor([1.0, 2]).dtype is types.float32
    assert Tensor(1).dtype is types.int64
    assert Tensor(True).dtype is types.bool_
    assert Tensor(np.zeros(2)).dtype is types.float64
    assert Tensor(np.float64(1)).dtype is types.float64
    assert Tensor([Tensor(1.0), Tensor(2.0)]).tolist() == [1.0, 2.0]
    assert Tensor([[1, 2]], "float16").dtype is types.float16
    assert Tensor(np.ones(2, ml_dtypes.bfloat16)).dtype is types.bfloat16
    assert Tensor(Tensor([1.5]), types.int32).tolist() == [1]
    assert Tensor(shape=(2,), dtype="float32", init=lambda array: array.fill(3.0)).tolist() == [3.0, 3.0]
    data = np.zeros(2, "f")
    own, shared = Tensor(data), Tensor.from_numpy(data)
    data[0] = 5.0
    assert (own.tolist(), shared.tolist()) == ([0.0, 0.0], [5.0, 0.0])


def test_data_that_is_no_tensor_says_why():
    for data, error, words in [
        ("text", DTypeError, "cannot hold"),
        ([[1], [2, 3]], ShapeError, "rows of equal length"),
        (object(), DTypeError, "cannot be made from object"),
        (np.zeros(2, "datetime64[s]"), DTypeError, "cannot hold dates"),
    ]:
        with pytest.raises(error, match=words):
            Tensor(data)
    with pytest.raises(ArgumentError, match="needs data, or a shape"):
        Tensor(shape=(2,))
    with pytest.raises(DTypeError, match="is not an element type"):
        Tensor([1], "float3")


def test_element_types_are_named_in_many_ways():
    for name in (types.float32, "float32", "f32", np.float32, np.dtype("float32"), "Float32"):
        assert as_dtype(name) is types.float32
    assert as_dtype(int) is types.int64
    assert as_dtype(float) is types.float64


def test_attributes():
    x = Tensor(np.zeros((2, 3), "f"))
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == ((2, 3), 2, 6, 4, 24, (12, 4))
    assert (x.dim(), x.numel(), len(x), x.T.shape) == (2, 6, 2, (3, 2))
    assert Tensor(1.0).strides == ()
    assert {type(n) for n in x.strides} == {int}


def test_numbers_out_of_tensors():
    assert (float(Tensor([1.5])), int(Tensor(3)), bool(Tensor([True])), [5, 6, 7][Tensor(1)]) == (1.5, 3, True, 6)
    assert f"{Tensor(1.25):.1f} {Tensor([1, 2])}" == "1.2 [1 2]"
    assert 2.0 in Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="only a tensor of one element is a number"):
        bool(Tensor([1, 2]))
    with pytest.raises(TypeError, match="no length"):
        len(Tensor(1.0))
    with pytest.raises(TypeError, match="is not an index"):
        [1][Tensor(0.0)]
    x = Tensor([1.0])
    x.asnumpy()[0] = 7.0
    assert x.item() == 1.0


def test_numpy_takes_tensors_and_arrays_meet_tensors_as_tensors():
    x = Tensor([0.0, 1.0])
    np.testing.assert_array_equal(np.sin(x), np.sin(np.array([0.0, 1.0], "f")))
    assert isinstance(np.ones(2, "f") + x, Tensor)
    assert np.asarray(x, dtype="d").dtype == np.float64


def test_text_is_that_of_mindspore():
    assert repr(Tensor(np.arange(6, dtype="f").reshape(2, 3))) == (
        "Tensor(shape=[2, 3], dtype=Float32, value=\n"
        "[[ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00],\n"
        " [ 3.00000000e+00,  4.00000000e+00,  5.00000000e+00]])"
    )
    assert repr(Tensor(3)) == "Tensor(shape=[], dtype=Int64, value= 3)"
    assert repr(Tensor([True, False])) == "Tensor(shape=[2], dtype=Bool, value= [ True, False])"
    assert repr(Tensor(2.5)) == "Tensor(shape=[], dtype=Float32, value= 2.5)"
    assert str(Tensor([1.0])) == "[1.]"
    assert str(Parameter([1.0], name="w")) == "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)"


def test_copies_and_pickles():
    x, w = Tensor([1.0]), Parameter([2.0], name="w", requires_grad=False)
    w.extra = "kept"
    for again in (copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        assert (again.name, again.requires_grad, again.extra, again.tolist()) == ("w", False, "kept", [2.0])
    assert pickle.loads(pickle.dumps(x)).tolist() == copy.deepcopy(x).tolist() == copy.copy(x).tolist() == [1.0]
    assert len({x, x, w}) == 2


def test_methods_named_in_place_change_this_tensor_only():
    x = Tensor([1.0, 2.0])
    y = x.copy()
    assert x.add_(1.0) is x
    x.mul_(Tensor([2.0, 3.0])).clamp_(0, 8)
    assert (x.tolist(), y.tolist()) == ([4.0, 8.0], [1.0, 2.0])
    assert x.zero_().tolist() == [0.0, 0.0]
    assert x.fill_(3.0).tolist() == [3.0, 3.0]
    assert x.reshape(2) is not x


def test_augmented_assignment_gives_names_another_tensor():
    """As MindSpore does, also for parameters."""
    x = y = Tensor([1.0])
    x += 1.0
    assert (x.item(), y.item()) == (2.0, 1.0)
    w = v = Parameter([1.0], name="w")
    w += 1.0
    w *= 3.0
    assert (type(w), w.item(), v.item()) == (Tensor, 6.0, 1.0)


def test_parameters_hold_other_data_of_the_same_type():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    before = w.value()
    assert w.set_data(Tensor([3, 4])).dtype is types.float32
    assert (w.tolist(), before.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    w.data = [5.0, 6.0]
    assert w.data is w
    assert assign(w, Tensor([7.0, 8.0])) is w
    assert w.clone().tolist() == [7.0, 8.0]
    assert w.clone("ones").tolist() == [1.0, 1.0]
    assert w.clone(0.5).name == "w"
    assert ParameterTuple([w]).clone("moment", "zeros")[0].name == "moment.w"
    with pytest.raises(ShapeError, match=r"parameter w has shape \(2,\) and cannot hold data of shape \(3,\)"):
        w.set_data([1.0, 2.0, 3.0])
    with pytest.raises(DTypeError, match="cannot hold float32 without loss"):
        Parameter([1], name="i").set_data([1.5])
    with pytest.raises(ArgumentError, match="holds parameters"):
        ParameterTuple([Tensor([1.0])])


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("value", [5, np.array([5.0]), Tensor([[5.0]])], ids=["a number", "an array", "a tensor"])
def test_one_number_is_assigned_whatever_axes_it_has(shape, value):
    w = Parameter(np.zeros(shape, "f"))
    assert assign(w, value) is w
    assert (w.shape, w.asnumpy().item()) == (shape, 5.0)


def test_mistakes_show_the_line_the_caret_and_the_shapes():
    x, y = Tensor(np.zeros((2, 3), "f")), Tensor(np.zeros((4,), "f"))
    with pytest.raises(ShapeError) as caught:
        z = 1.0 + (x * y)  # noqa: F841
    what, first, second, line, caret, hint = str(caught.value).split("\n")
    assert what == "multiply cannot broadcast shapes (2, 3) and (4,) together"
    assert (first, second) == ("  operand 0: f32[2, 3]", "  operand 1: f32[4]")
    assert line.startswith("  at test_tensor.py:")
    shown = line.index("x * y")
    assert caret[shown : shown + 5] == "^^^^^"
    assert hint.startswith("hint: aligned at the right")
    with pytest.raises(ShapeError, match="the inner axes differ"):
        x @ y
    with pytest.raises(DTypeError, match="needs a bool or integer element type, not float32"):
        x & x
    with pytest.raises(DTypeError, match="300 does not fit int8"):
        Tensor([1], "int8") + 300


@pytest.mark.parametrize("value", [3, 2.5, True, np.float16(0.5), np.uint8(7)])
def test_a_tensor_of_one_element_becomes_a_number_of_python(value):
    for kind in (int, float, bool, complex):
        got = kind(Tensor(value))
        assert (type(got), got) == (kind, kind(value))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_numpys_reductions_take_tensors(name):
    array = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    for axis in (None, 0, 1):
        got = getattr(np, name)(Tensor(array), axis=axis)
        np.testing.assert_allclose(np.asarray(got), getattr(np, name)(array, axis=axis), rtol=1e-5)


def test_a_seed_is_a_whole_number_of_64_bits_and_a_state_may_lie_anywhere():
    g = Generator()
    for seed in (-1, 2**64, 1.0, "1"):
        with pytest.raises(ArgumentError, match="a seed is a whole number"):
            g.manual_seed(seed)
    assert g.manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    state = g.get_state().asnumpy().view(np.uint8)
    other = Generator()
    other.set_state(Tensor(np.repeat(state, 2))[::2])
    assert other.get_state().tolist() == g.get_state().tolist()
    for number in (-1, 1.5):
        with pytest.raises(ArgumentError, match="whole number of streams"):
            g.split(number)


def test_what_is_asked_for_as_an_array_or_a_power_is_ones_own():
    x = Tensor([1.0, 2.0])
    array, power = x.asnumpy(), x**1
    array[0] = 5.0
    power[1] = 7.0
    assert (x.tolist(), array.tolist(), power.tolist()) == ([1.0, 2.0], [5.0, 2.0], [1.0, 7.0])


def test_transposes_are_those_of_numpy():
    for shape in ((2, 3), (2, 3, 4), (5, 2, 3, 4)):
        x = np.arange(np.prod(shape)).reshape(shape)
        np.testing.assert_array_equal(Tensor(x).mT.asnumpy(), np.swapaxes(x, -1, -2))
        np.testing.assert_array_equal(Tensor(x).T.asnumpy(), x.T)


KINDS = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("wanted", KINDS)
@pytest.mark.parametrize("given", KINDS)
@pytest.mark.filterwarnings("ignore")  # of parts that are cut off
def test_tensors_of_arrays_of_another_type_are_what_numpy_makes(given, wanted):
    array = np.array([0, 1, 3, 100]).astype(given)
    if given.startswith("complex"):
        array = array + np.array([2j, 0, -1j, 0], given)
    want = (array.real if given[0] == "c" and wanted[0] not in "cb" else array).astype(wanted)
    kind = getattr(types, wanted + "_" * (wanted == "bool"))
    for made in (Tensor(array, kind), Tensor(array).astype(kind), Tensor(array.tolist(), kind)):
        assert made.asnumpy().dtype == want.dtype
        np.testing.assert_array_equal(made.asnumpy(), want)
