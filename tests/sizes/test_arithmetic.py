"""Laws of symbolic sizes: whatever numbers the names stand for, a size is what its formula is in integers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycelia.sizes import (
    Name,
    NeedsSize,
    Scope,
    Sym,
    divided,
    evaluated,
    evaluator,
    high,
    hint,
    known_equal,
    known_less,
    least,
    low,
    names,
    positive,
    same,
    solver,
    text,
    value,
)

few = settings(max_examples=60)
LETTERS = "nmt"
numbers = st.integers(2, 40)
places = st.fixed_dictionaries(dict.fromkeys(LETTERS, numbers))
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}

# a formula is a letter, a number or (operation, formula, formula)
leaves = st.one_of(st.sampled_from(LETTERS), st.integers(-6, 9))


def nested(inner: Any) -> Any:
    return st.tuples(st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner)


formulas = st.recursive(leaves, nested, max_leaves=5)
short = st.recursive(leaves, nested, max_leaves=2)


def built(formula: Any, of: Callable[[str], Any]) -> Any:
    """A formula in sizes or in numbers. Divisors are made positive, as those of sizes are."""
    if isinstance(formula, str):
        return of(formula)
    if isinstance(formula, int):
        return formula
    operation, a, b = formula
    x, y = built(a, of), built(b, of)
    if operation in OPERATIONS:
        return OPERATIONS[operation](x, y)
    y = y * y + 1
    return x // y if operation == "//" else x % y


def scope_at(hints: dict[str, int]) -> Scope:
    scope = Scope()
    for letter, number in hints.items():
        scope.name(letter, hint=number)
    return scope


def at(scope: Scope, numbers: dict[str, int]) -> dict[Name, int]:
    return {scope.names[letter]: number for letter, number in numbers.items()}


@few
@given(formulas, places, places)
def test_arithmetic_is_that_of_integers_at_all_sizes(formula: Any, hints: Any, sizes: Any) -> None:
    scope = scope_at(hints)
    size = built(formula, scope.name)
    if scope.holds(at(scope, sizes)):  # a quotient may have asked for a sign
        assert value(size, at(scope, sizes)) == built(formula, sizes.__getitem__)


@few
@given(formulas, places)
def test_a_hint_is_the_number_at_the_sizes_of_the_call(formula: Any, hints: Any) -> None:
    scope = scope_at(hints)
    assert hint(built(formula, scope.name)) == built(formula, hints.__getitem__)


@few
@given(formulas, places, places)
def test_bounds_contain_all_values(formula: Any, hints: Any, sizes: Any) -> None:
    scope = scope_at(hints)
    size = built(formula, scope.name)
    if not scope.holds(at(scope, sizes)):
        return
    number = value(size, at(scope, sizes))
    assert low(size) <= number <= high(size)
    assert least(size) <= number


@few
@given(formulas, formulas, places, places)
def test_comparisons_answer_by_the_hints_and_guards_hold_where_the_answers_agree(
    a: Any, b: Any, hints: Any, sizes: Any
) -> None:
    scope = scope_at(hints)
    x, y = built(a, scope.name), built(b, scope.name)
    before = len(scope.guards)
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        here, there = scope_at(hints), at(scope, sizes)
        u, v = built(a, here.name), built(b, here.name)
        made = len(here.guards)
        answer = compare(u, v)
        assert answer == compare(built(a, hints.__getitem__), built(b, hints.__getitem__))
        asked = list(here.guards)[made:]
        assert len(asked) <= 1
        if scope.holds(there):
            agrees = answer == compare(built(a, sizes.__getitem__), built(b, sizes.__getitem__))
            there = at(here, sizes)
            if asked:
                assert asked[0].holds(there) == agrees
            else:  # decided for all sizes
                assert agrees or not here.holds(there)
    assert len(scope.guards) == before
    assert (x, y) is not None


@few
@given(formulas, formulas, places, places)
def test_what_is_known_is_so_at_all_sizes_and_asks_nothing(a: Any, b: Any, hints: Any, sizes: Any) -> None:
    scope = scope_at(hints)
    x, y = built(a, scope.name), built(b, scope.name)
    before = len(scope.guards)
    equal, less, alike = known_equal(x, y), known_less(x, y), same((x, 3), (y, 3))
    assert len(scope.guards) == before
    if scope.holds(at(scope, sizes)):
        u, v = (built(f, sizes.__getitem__) for f in (a, b))
        assert not equal or u == v
        assert not less or u < v
        assert alike == equal


@few
@given(formulas, formulas, formulas, places, places)
def test_facts_that_guards_imply_are_so_where_the_guards_hold(a: Any, b: Any, c: Any, hints: Any, sizes: Any) -> None:
    scope = scope_at(hints)
    x, y, z = (built(f, scope.name) for f in (a, b, c))
    asked = [bool(x < y), bool(y == z), bool(x > z), bool(positive(x) == 0)]
    assert len(asked) == 4
    if scope.holds(at(scope, sizes)):
        u, v, w = (built(f, sizes.__getitem__) for f in (a, b, c))
        assert asked == [u < v, v == w, u > w, max(u, 0) == 0]
        assert least(x - y) <= u - v
        assert not known_equal(y, z) or v == w
        assert not known_less(z, x) or w < u


@few
@given(formulas, short, places, places)
def test_a_quotient_and_a_rest_make_up_the_whole(a: Any, b: Any, hints: Any, sizes: Any) -> None:
    scope = scope_at(hints)
    over, under = built(a, scope.name), built(b, scope.name)
    under = under * under + 1
    whole, rest = divided(over, under)
    back = whole * under + rest - over
    assert known_equal(back, 0)
    if scope.holds(at(scope, sizes)):
        u, v = built(a, sizes.__getitem__), built(b, sizes.__getitem__) ** 2 + 1
        assert (value(whole, at(scope, sizes)), value(rest, at(scope, sizes))) == divmod(u, v)


@few
@given(st.lists(formulas, min_size=1, max_size=4), places, places)
def test_an_evaluator_is_the_formula(many: list[Any], hints: Any, sizes: Any) -> None:
    scope = scope_at(hints)
    wanted = [built(f, scope.name) for f in many]
    given_names = [scope.names[letter] for letter in LETTERS]
    if scope.holds(at(scope, sizes)):
        found = evaluator(wanted, given_names)(*[sizes[letter] for letter in LETTERS])
        assert list(found) == [built(f, sizes.__getitem__) for f in many]
        assert evaluated(tuple(wanted), at(scope, sizes)) == found


@few
@given(st.integers(1, 5), st.integers(-2, 5), places)
def test_a_solver_finds_the_names_in_shapes(factor: int, more: int, sizes: Any) -> None:
    scope = scope_at(sizes)
    n, m, t = (scope.name(letter) for letter in LETTERS)
    shapes = [(n * factor + more, 3), (m * n, t), (m + more,)]
    wanted = [scope.names[letter] for letter in LETTERS]
    actual = [tuple(value(d, at(scope, sizes)) for d in shape) for shape in shapes]
    assert solver(shapes, wanted)(*actual) == tuple(sizes[letter] for letter in LETTERS)


def test_a_solver_says_which_size_it_cannot_find() -> None:
    scope = Scope()
    n, m = scope.name("n"), scope.name("m")
    with pytest.raises(NeedsSize):
        solver([(n * m,)], [scope.names["n"], scope.names["m"]])


@few
@given(formulas, places)
def test_equal_sizes_have_one_hash_and_one_text(formula: Any, hints: Any) -> None:
    scope = scope_at(hints)
    x, y = built(formula, scope.name), built(formula, scope.name)
    assert text(x) == text(y)
    assert known_equal(x, y)
    assert names(x) == names(y)
    if isinstance(x, Sym):
        assert x._hash == y._hash


def test_a_size_that_comes_out_of_data_has_bounds_and_no_hint() -> None:
    scope = Scope()
    n = scope.name("n", hint=8)
    k = scope.name("k", low=0, high=100)
    assert (low(k), high(k)) == (0, 100)
    assert high(n) == inf
    assert k >= 0
    assert not k > 100
    with pytest.raises(NeedsSize):
        bool(k > n)


# ---------------------------------------------------------------------------------------------- as users see a size


USES: dict[str, Callable[[Any], Any]] = {
    "range": lambda n: list(range(n)),
    "hash": hash,
    "a set": lambda n: {n},
    "str": str,
    "repr": repr,
    "format": lambda n: f"{n:04d}",
    "an f-string": lambda n: f"{n}",
    "float": float,
    "int": int,
    "/": lambda n: n / 2,
    "1 /": lambda n: 1 / n,
    "round": round,
    "indexing": lambda n: [1, 2, 3][n],
    "a product of a list": lambda n: [0] * n,
    "bits": lambda n: n & 1,
    "shifts": lambda n: n << 1,
    "a power": lambda n: 2**n,
}


@pytest.mark.parametrize("use", USES)
def test_a_use_that_needs_a_number_says_so(use: str) -> None:
    with pytest.raises(NeedsSize) as caught:
        USES[use](Scope().name("n", hint=8))
    assert not isinstance(caught.value, Exception)  # the user's `except Exception` does not see it


def test_a_size_is_an_int_to_the_user() -> None:
    n = Scope().name("n", hint=8)
    assert isinstance(n, int)
    assert n.__class__ is int


def test_a_size_is_no_string_and_not_none() -> None:
    n = Scope().name("n", hint=8)
    assert n != "n"
    assert n is not None
    assert n != None  # noqa: E711  # as user's code has it


def test_truth_powers_and_signs_are_those_of_a_number() -> None:
    scope = Scope()
    n = scope.name("n", hint=8)
    assert bool(n)
    assert +n == n
    assert abs(-n) == n
    assert n**2 == n * n
    assert divmod(n * 2 + 1, 2) == (n, 1)
    assert min(n, 1) == 1
    assert max(n, 0) == n
    assert sum([n, n]) == 2 * n
    assert not scope.guards
