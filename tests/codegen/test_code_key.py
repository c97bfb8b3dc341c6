"""Equal kernels are one piece of code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen import driver, written
from mycelia.codegen.code_key import code_key
from mycelia.codegen.driver import emit_program
from mycelia.codegen.vecmath.accuracy import BY_NAME
from mycelia.codegen.written import Written
from mycelia.loops import Buffer, Kernel, Store, Sweep, Update, Variable, index, load
from mycelia.options import FastMath
from mycelia.runtime.layout import layout
from mycelia.types import float64
from tests.lowering.programs import check, f32, launches, lowered, softmax, typed

X = f32(40, 33)


def signatures(fn, *types):
    return [code_key(s.kernel) for s in launches(lowered(fn, *types))]


def test_kernels_that_differ_in_names_only_are_equal():
    assert signatures(softmax, X) == signatures(softmax, X)


@pytest.mark.parametrize(
    ("fn", "types"),
    [
        (lambda x: softmax(x) * 2.0, [X]),
        (softmax, [f32(40, 34)]),
        (softmax, [typed(float64, 40, 33)]),
        (lambda x: softmax(x, 0), [X]),
        (lambda x: softmax(p.transpose(x, (1, 0))), [f32(33, 40)]),
    ],
)
def test_kernels_that_differ_are_not(fn, types):
    assert signatures(softmax, X) != signatures(fn, *types)


def test_negative_zero_is_another_constant_than_zero():
    assert signatures(lambda x: x + 0.0, X) != signatures(lambda x: x + -0.0, X)


def layers(x, *weights):
    for w in weights:
        x = softmax(p.matmul(x, w))
    return x


def test_layers_of_one_kind_are_emitted_once():
    square = f32(33, 33)
    one, six = (
        len(emit_program(layout(lowered(layers, X, *[square] * n), options()), options(), "run").modules)
        for n in (1, 6)
    )
    # the last layer writes a result, but that is the same code
    assert one == six == 2  # the driver and the kernel
    check(layers, X, *[square] * 6, tolerance=1e-5)


def emitted(fn, *types, fuse=True):
    given = replace(options(), fast_math=FastMath(fuse=fuse))
    return emit_program(layout(lowered(fn, *types), given), given, "run").modules


@pytest.fixture
def anew(monkeypatch):
    """As a process that wrote nothing yet."""
    return lambda: monkeypatch.setattr(driver, "_written", Written())


def dozen(x):
    return p.tanh(x) * 2.0 + 1.0


def test_a_kernel_that_was_written_before_is_the_text_that_would_be_written(anew, monkeypatch):
    anew()
    first = emitted(dozen, X)
    anew()
    assert emitted(dozen, X) == first
    monkeypatch.setattr(driver, "emit_kernel", None)  # nobody writes it again
    assert emitted(dozen, X) == first


def test_what_is_not_in_the_key_is_seen_all_the_same(anew, monkeypatch):
    """Other freedoms of arithmetic, and another formula for a function, are other code."""
    anew()
    fused = emitted(dozen, X)
    plain = emitted(dozen, X, fuse=False)
    anew()
    assert plain == emitted(dozen, X, fuse=False) != fused
    monkeypatch.setitem(BY_NAME, "tanh", BY_NAME["exp"])
    assert emitted(dozen, X, fuse=False) != plain
    monkeypatch.undo()
    assert emitted(dozen, X, fuse=False) == plain


def test_no_more_is_remembered_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(written, "MOST", 10)
    texts = Written()
    for key, text in (("a", "12345"), ("b", "6789")):
        assert texts.find(key, lambda text=text: text) == text
    assert [texts.find(key, lambda: "") for key in "ab"] == ["12345", "6789"]
    assert texts.find("c", lambda: "01") == "01"
    assert [texts.find(key, lambda: "") for key in "cab"] == ["01", "", ""]


@pytest.mark.parametrize("place", ["actions", "after"])
def test_what_is_done_with_a_number_is_part_of_the_key(place):
    x, out, i = Buffer.dense("x", f32(5)), Buffer.dense("out", f32(5)), Variable(5)
    at, value = index(i), load(x, (index(i),))
    done = [Store(out, at, value), *(Update(out, at, how, value) for how in ("add", "mul", "max", "min", "set"))]
    keys = {code_key(Kernel((i,), (Sweep((), (), **{place: (action,)}),))) for action in done}
    assert len(keys) == len(done)
