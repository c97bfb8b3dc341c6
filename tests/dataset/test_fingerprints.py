"""A fingerprint tells functions apart by all that they use, and is the same for those that use the same."""

from __future__ import annotations

import enum
import itertools
import json
import math
import random
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np
import pytest

import mycelia.dataset.vision as V
from mycelia.dataset.caches.fingerprints import fingerprint_of
from mycelia.errors import ArgumentError
from tests.each import each


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Scale:
    by: float

    def times(self, x):
        return x * self.by

    def plus(self, x):
        return x + self.by

    @staticmethod
    def half(x):
        return x / 2


def defined(text, **names):
    """A function named f of a text, with globals of its own."""
    space = dict(names)
    exec(text, space)
    return space["f"]


def closed(value):
    return lambda x: x + value


def nested(value):
    def outer(x):
        def inner(y):
            return y + value

        return inner(x)

    return outer


F = "def f(x): return"
# each makes a value anew; the values of a line are all different from one another
DIFFERENT = {
    "numbers": [lambda: 1, lambda: 1.0, lambda: True, lambda: "1", lambda: b"1", lambda: 1j, lambda: None, lambda: ...],
    "zeros": [lambda: 0.0, lambda: -0.0, lambda: math.nan, lambda: math.inf],
    "lists": [
        lambda: [1, 2],
        lambda: (1, 2),
        lambda: [2, 1],
        lambda: [[1, 2]],
        lambda: [1, [2]],
        lambda: [[1], 2],
        lambda: [],
    ],
    "mappings": [lambda: {"a": 1}, lambda: {"a": 2}, lambda: {"b": 1}, lambda: {"a": 1, "b": 2}, lambda: [("a", 1)]],
    "sets": [lambda: {1, 2}, lambda: {1, 3}, lambda: frozenset({1, 2}), lambda: {"1", "2"}],
    "arrays": [
        lambda: np.arange(3),
        lambda: np.arange(3.0),
        lambda: np.arange(3, dtype=">i8"),
        lambda: np.arange(3)[None],
        lambda: np.array([0, 1, 3]),
        lambda: np.array([0, 1, 2], object),
        lambda: np.array([0, 1, None], object),
        lambda: np.array([[0], [1], [2]], object),
        lambda: np.array(["0", "1"]),
        lambda: np.int64(3),
        lambda: np.int32(3),
    ],
    "element types": [lambda: np.dtype("i4"), lambda: np.dtype(">i4"), lambda: np.dtype("u4"), lambda: np.dtype("f4")],
    "parts": [lambda: slice(1), lambda: slice(0, 1), lambda: slice(0, 1, 2), lambda: range(1), lambda: range(0, 1, 2)],
    "members": [lambda: Colour.RED, lambda: Colour.BLUE, lambda: V.Inter.AREA, lambda: V.Border.EDGE],
    "what they compute": [
        lambda: lambda x: x + 1,
        lambda: lambda x: x - 1,
        lambda: lambda x: x + 2,
        lambda: lambda y: y + 1,
    ],
    "defaults": [
        lambda: defined("def f(x, y=1): return x"),
        lambda: defined("def f(x, y=2): return x"),
        lambda: defined("def f(x, *, y=1): return x"),
        lambda: defined("def f(x, *, y=2): return x"),
    ],
    "what they close over": [
        lambda: closed(1),
        lambda: closed(2),
        lambda: closed("1"),
        lambda: nested(1),
        lambda: nested(2),
    ],
    "globals": [
        lambda: defined(f"{F} x + g", g=1),
        lambda: defined(f"{F} x + g", g=2),
        lambda: defined(f"{F} x + g"),
        lambda: defined(f"{F} x + h"),
        lambda: defined(f"{F} x + g", g=len),
        lambda: defined(f"{F} x + g", g=abs),
    ],
    "globals of inner functions": [
        lambda: defined(f"{F} [g + y for y in x]", g=1),
        lambda: defined(f"{F} [g + y for y in x]", g=2),
    ],
    "functions that they call": [
        lambda: defined(f"{F} g(x)", g=lambda x: x + 1),
        lambda: defined(f"{F} g(x)", g=lambda x: x + 2),
    ],
    "texts": [
        lambda: defined(f"{F} x + 'a'"),
        lambda: defined(f"{F} x + 'b'"),
        lambda: defined("def f(x):\n 'a'\n return x + 'a'"),
        lambda: defined("def f(x):\n 'b'\n return x + 'b'"),
    ],
    "methods": [
        lambda: Scale(2.0).times,
        lambda: Scale(3.0).times,
        lambda: Scale(2.0).plus,
        lambda: Scale(2.0),
        lambda: Scale(3.0),
        lambda: Scale.half,
        lambda: Scale,
    ],
    "parts of functions": [
        lambda: partial(max, 1),
        lambda: partial(max, 2),
        lambda: partial(min, 1),
        lambda: partial(max, key=1),
    ],
    "functions of C": [lambda: len, lambda: abs, lambda: math.sin, lambda: math.cos, lambda: np.sin, lambda: np.cos],
    "modules": [lambda: math, lambda: json, lambda: np, lambda: np.random],
    "transforms": [
        lambda: V.Resize(3),
        lambda: V.Resize(4),
        lambda: V.CenterCrop(3),
        lambda: V.Resize(3, V.Inter.AREA),
    ],
}


def test_what_differs_has_another_fingerprint_and_what_is_made_anew_the_same():
    def check(line):
        for make in line:
            assert fingerprint_of(make()) == fingerprint_of(make())
        for one, other in itertools.combinations(line, 2):
            assert fingerprint_of(one()) != fingerprint_of(other())
            assert fingerprint_of([one()]) != fingerprint_of([other()])
            assert fingerprint_of(partial(max, one())) != fingerprint_of(partial(max, other()))

    each(check, ((name, (line,)) for name, line in DIFFERENT.items()))


def test_words_about_a_function_do_not_change_it():
    plain = fingerprint_of(defined("def f(x):\n 'one thing'\n return x + 'a'"))
    assert plain == fingerprint_of(defined("def f(x):\n 'another'\n return x + 'a'"))
    assert plain == fingerprint_of(defined("\n\n\ndef f(x):\n '...'\n  \n return x + 'a'  # not said before"))
    assert fingerprint_of({2, 1, 3}) == fingerprint_of({3, 2, 1})


def test_a_function_that_calls_itself_has_a_fingerprint():
    def make(step):
        space = {"step": step}
        exec("def f(x): return 0 if x <= 0 else f(x - step)", space)
        return space["f"]

    assert fingerprint_of(make(1)) == fingerprint_of(make(1)) != fingerprint_of(make(2))


def test_what_may_change_unseen_is_refused():
    mine = ModuleType("settings_of_mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "settings_of_mine", mine)
        for value, words in (
            (mine, "a module without a version"),
            (random.Random(1), "it uses a Random"),
            (iter([1]), "it uses a list_iterator"),
            (object(), "it uses a object"),
            (defined(f"{F} g.x", g=mine), "a module without"),
            ([1, {"a": open}], ""),
        ):
            if words:
                with pytest.raises(ArgumentError, match=words):
                    fingerprint_of(value)
            else:
                assert fingerprint_of(value) == fingerprint_of([1, {"a": open}])
