"""Branches one after another are captured once each: a program grows with its text, not with the ways through it."""

import pytest

from mycelia import Tensor, ops
from mycelia.capture.capturing import capture
from mycelia.capture.slots import CallRoot


def expression(x, n):
    for i in range(n):
        x = ops.sin(x) * i if x.sum() > i else x - 1.0
    return x


def statement(x, n):
    y = x
    for i in range(n):
        if y.sum() > i:
            x, y = x * 2.0, y - 1.0
        else:
            x, y = x + y, x * 0.5
    return x, y


def alias(x, n):
    y = x
    for i in range(n):
        if y.sum() > i:
            x, y = x * 2.0, y - 1.0
        else:
            x, y = x + y, x
    return x, y


class Box:
    pass


def attribute(x, n):
    box = Box()
    box.t = x * 2.0
    for i in range(n):
        if box.t.sum() > i:
            box.t = box.t * 0.5
        else:
            box.t = box.t + 1.0
    return box.t


def length(fn, n):
    """How much there is to read in the graph of a function."""
    return len(str(capture(CallRoot(fn, (Tensor([1.0, 2.0]), n), {}), frozenset()).ending.function))


@pytest.mark.parametrize("fn", [expression, statement, attribute])
def test_a_program_grows_with_the_number_of_its_branches(fn):
    four, eight, sixteen = (length(fn, n) for n in (4, 8, 16))
    assert sixteen - eight < 2.5 * (eight - four)


def test_where_a_branch_may_give_what_was_there_it_grows_with_the_square_at_most():
    four, eight, sixteen = (length(alias, n) for n in (4, 8, 16))
    assert sixteen - eight < 4.5 * (eight - four)


def twice(x):
    return ops.minimum(x + x * x, x)


def often(x):
    return twice(twice(twice(twice(x))))


def deep(x, n):
    if x.sum() > n:
        for _ in range(16):
            x = often(x)
    return x


def test_what_is_read_twice_at_each_of_sixty_levels_is_looked_at_once():
    assert length(deep, 0) > 100  # and 2**60 ways lead up
