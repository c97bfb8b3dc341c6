"""Values, functions, rewriting and interpretation: what the graph promises."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.errors import DTypeError, Location, ShapeError
from mycelia.ir import (
    Function,
    Param,
    Value,
    asking,
    constant,
    interpret,
    located,
    rewrite,
    rule,
    rule_for,
    substitute,
    toposort,
    users,
    verify,
)
from mycelia.testing import check_pass
from mycelia.types import TensorType, float32, int32

f32, f32_3, f32_23 = (TensorType(float32, s) for s in ((), (3,), (2, 3)))


def test_the_same_expression_is_the_same_object():
    x = Value(Param(0, f32_3))
    assert p.exp(x) + 1.0 is p.exp(x) + 1.0
    assert p.exp(x) is not p.log(x)


def test_equal_ops_are_one_where_their_attributes_are_of_one_class():
    x = Value(Param(0, f32_3))
    kept = p.Sum((0,))(x)
    assert p.Sum((0,))(x) is kept
    assert p.Sum((False,)) == p.Sum((0,))
    assert p.Sum((False,))(x) is not kept
    assert p.Sum((0,))(x) is kept


def test_whoever_asks_last_for_equal_values_is_told_of_his_own_line():
    x = Value(Param(0, TensorType(float32, (5, 1, 7))))  # of which no other test keeps a value
    kept = p.exp(x)
    first, second = Location("a.py", 1), Location("b.py", 2)
    assert kept.location is None
    for here in (first, second):
        with located(here):
            assert p.exp(x) is kept
        assert kept.location == here
    with located(None):
        assert p.exp(x).location == second
    with asking():
        assert p.exp(x * 2.0).location.file == __file__


def test_unused_values_vanish():
    before = len(toposort([Value(Param(0, f32_3))]))
    fn = Function.build(lambda x: (p.exp(x), x)[1], f32_3)
    assert len(fn.values()) == before


def test_types_are_known_from_birth():
    fn = Function.build(lambda x, y: p.matmul(x, y), f32_23, f32_3)
    assert fn.result_types == (TensorType(float32, (2,)),)


def test_equal_programs_are_equal():
    one = Function.build(lambda x, y: x * y, f32_3, f32_3)
    assert one == Function.build(lambda a, b: a * b, f32_3, f32_3)
    assert one != Function.build(lambda a, b: b * a, f32_3, f32_3)


def test_python_numbers_take_the_element_type_of_the_other_side():
    i = Value(Param(0, TensorType(int32, (3,))))
    assert (i * 2).dtype is int32
    assert (2 * i).inputs[0].op.number == 2
    with pytest.raises(DTypeError, match=r"0.5 is not a number of type int32"):
        i * 0.5


def test_element_types_are_not_mixed_silently():
    x, i = Value(Param(0, f32_3)), Value(Param(1, TensorType(int32, (3,))))
    with pytest.raises(DTypeError, match="cast one of them, for example to float32"):
        x + i


def test_shapes_that_do_not_fit_are_explained_at_the_users_line():
    x, y = Value(Param(0, f32_3)), Value(Param(1, TensorType(float32, (2,))))
    with pytest.raises(ShapeError) as found:
        x + y
    message = str(found.value)
    assert "add cannot broadcast shapes (3,) and (2,) together" in message
    assert "at test_value.py:" in message
    assert "x + y" in message


def test_values_without_parameters_are_numbers():
    assert constant(p.full(2, float32, ()) * 3.0) == 6.0
    assert not Value(Param(0, f32)).closed


def test_a_function_can_be_inlined():
    square = Function.build(lambda x: x * x, f32_3)
    fn = Function.build(lambda x: square(x + 1.0)[0], f32_3)
    np.testing.assert_array_equal(interpret(fn, np.array([0, 1, 2], "f"))[0], [1, 4, 9])


def test_values_from_outside_become_parameters():
    outside = Value(Param(0, f32, 99))
    fn, captured = Function.build_open(lambda x: x * outside, f32_3)
    assert captured == (outside,)
    assert fn.types == (f32_3, f32)
    verify(fn)


def test_users_and_substitution():
    x, y = (Value(Param(i, f32_3)) for i in range(2))
    out = p.exp(x) * x
    assert users([out])[x] == [p.exp(x), out]
    assert substitute([out], {x: y}) == (p.exp(y) * y,)


def test_rules_rewrite_by_pattern_and_by_class():
    @rule(lambda x: p.log(p.exp(x)))
    def log_of_exp(x):
        return x

    @rule(lambda x: x * 1)
    def times_one(x):
        return x

    @rule_for(p.Reshape)
    def reshape_of_reshape(v):
        inner = v.inputs[0]
        return p.reshape(inner.inputs[0], v.shape) if isinstance(inner.op, p.Reshape) else None

    def run(fn):
        return rewrite(fn, [log_of_exp, times_one, reshape_of_reshape])

    check_pass(run, lambda x: p.log(p.exp(x * 1.0)) * 2.0, lambda x: x * 2.0, f32_3)
    check_pass(run, lambda x: 1.0 * x, lambda x: x, f32_3)  # multiplication commutes
    check_pass(run, lambda x: p.reshape(p.reshape(x, (3, 2)), (6,)), lambda x: p.reshape(x, (6,)), f32_23)


def test_numbers_that_are_equal_but_not_the_same_stay_apart():
    assert p.full(True, int32, ()) is p.full(1, int32, ())
    assert p.full(1, float32, ()) is not p.full(1, int32, ())
    assert p.full(float("nan"), float32, ()) is p.full(float("nan"), float32, ())


def test_data_is_copied_into_the_program():
    data = np.zeros(3)
    value = p.constant(data)
    data[0] = 7
    assert constant(value)[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        constant(value)[0] = 7
