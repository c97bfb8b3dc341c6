"""Units: what is printed can be read, what is pickled comes back, what is wrong is found, and what they mean is what
machine code computes.
"""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.driver import Emitted, emit_program
from mycelia.errors import ArgumentError, GradientError
from mycelia.ir import Function, interpret
from mycelia.loops import Place, Plan, Unit, equal, parse_binding, parse_unit, show_binding, show_unit
from mycelia.loops.interpret_unit import interpret_unit
from mycelia.loops.verify_unit import verify_binding, verify_unit
from mycelia.onednn import Refused
from mycelia.primitives import Callee
from mycelia.primitives.pairing import as_pairs, has_complex, in_pairs
from mycelia.runtime.bind import Bound
from mycelia.runtime.executable import Executable
from mycelia.runtime.layout import layout
from mycelia.runtime.link import machine_code
from mycelia.sizes import evaluated
from mycelia.testing import all_samples, function_of, lower, optimise
from mycelia.testing.laws import TOLERANCE, close
from mycelia.testing.samples import arrays
from mycelia.transforms import vjp
from mycelia.types import Array, TensorType, float32, float64, type_of
from tests.fuzz.coarseness import coarseness
from tests.fuzz.programs import Case, mapped, pulled_back, random_case
from tests.runtime.programs import chain, gradient, loop, tree
from tests.sizes.test_programs_of_symbolic_sizes import PROGRAMS, SCOPE

SAMPLES = list(all_samples())
PACK = 25  # fuzzed programs to a test


def written(fn: Function) -> tuple[Unit, Emitted]:
    """The unit of a function, with what the code wants to know, and the code."""
    try:
        unit = layout(lower(optimise(fn)), options())
    except Refused as reason:  # a compilation asks the library before; see `stages.written`
        pytest.skip(f"on this machine {str(reason).splitlines()[0]}")
    emitted = emit_program(unit, options(), "run")
    return replace(unit, binding=replace(unit.binding, numbers=emitted.numbers)), emitted


def unit_of(fn: Function) -> Unit:
    return written(in_pairs(fn) if has_complex(fn) else fn)[0]  # code meets no complex numbers


def check_data(unit: Unit) -> None:
    """A unit is data: right, printed and read, pickled."""
    verify_unit(unit)
    text = show_unit(unit)
    read = parse_unit(text, Callee.of)
    assert equal(read, unit), text
    assert show_unit(read) == text
    binding = parse_binding(show_binding(unit.binding))
    assert equal(binding, unit.binding), text
    assert show_binding(binding) == show_binding(unit.binding)
    verify_binding(binding)
    assert equal(pickle.loads(pickle.dumps(unit.binding)), unit.binding)


def run_native(unit: Unit, emitted: Emitted, *inputs: Array) -> tuple[Array, ...]:
    """By machine code, from what was written down and read again."""
    read = parse_binding(show_binding(unit.binding))
    return Executable(machine_code(emitted.modules, options()), Bound(read, {}))(*inputs)


def check_meaning(fn: Function, *inputs: Array) -> None:
    if has_complex(fn):
        fn, inputs = in_pairs(fn), tuple(as_pairs(x) if np.iscomplexobj(x) else x for x in inputs)
    unit, emitted = written(fn)
    check_data(unit)
    if unit.binding.callbacks or unit.binding.handles:
        return
    with np.errstate(all="ignore"):
        got, want = interpret_unit(unit, *inputs), run_native(unit, emitted, *inputs)
    coarse = coarseness(fn, lambda dtype: TOLERANCE.get(dtype, 0.0))  # of what flows to this result, and nothing else
    for a, b, tolerance in zip(got, want, coarse, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        close(a, b, 4 * tolerance, str(fn), scale=1.0)


@pytest.mark.many("sample", {s.op.name: s for s in SAMPLES}.values(), pack=25, ids=lambda s: s.op.name)
def test_a_sample_of_every_op_is_data(sample):
    check_data(unit_of(function_of(sample)))


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.op.name)
def test_every_op_means_what_machine_code_computes(sample):
    check_meaning(function_of(sample), *arrays(sample))


@pytest.mark.slow
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.smooth], ids=lambda s: s.op.name)
def test_gradients_of_every_op(sample):
    fn, inputs = function_of(sample), arrays(sample)
    results = [t for t in fn.result_types if t.differentiable]
    if results and any(t.differentiable for t in fn.types) and all(isinstance(t, TensorType) for t in results):
        rng = np.random.default_rng(0)
        cts = [np.asarray(rng.normal(size=t.shape)).astype(t.dtype.numpy) for t in results]
        try:
            back = vjp(fn)
        except GradientError:  # which says so, and why
            return
        check_meaning(back, *inputs, *cts)


def check_fuzzed(seed: int) -> None:
    for s in range(seed, seed + PACK):
        case: Case | None = random_case(s, steps=8)
        if s % 3:  # a third each: as they are, pulled back, mapped
            case = (pulled_back if s % 3 == 1 else mapped)(case, s)
        if case is not None:
            check_meaning(case.fn, *case.inputs)


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(seed):
    case = random_case(seed, steps=8)
    check_meaning(case.fn, *case.inputs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 6000, PACK))
def test_many_random_programs(seed):
    check_fuzzed(seed)


def drawn(t: TensorType, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if t.dtype.is_float:
        return rng.normal(size=t.shape).astype(t.dtype.numpy)
    return rng.integers(0, 2, t.shape).astype(t.dtype.numpy)


LAYERS = {
    "matmul": (p.matmul, [(64, 300), (300, 70)]),
    "bias": (lambda x, w, b: p.matmul(x, w) + b, [(64, 300), (300, 70), (70,)]),
    "batches": (p.matmul, [(5, 64, 96), (5, 96, 32)]),
    "convolution": (p.Conv((1, 2), ((1, 1), (0, 2)), (1, 1), 1), [(2, 8, 13, 12), (16, 8, 3, 3)]),
    "groups": (p.Conv((2, 1), ((2, 1), (1, 0)), (2, 1), 4), [(2, 8, 13, 12), (16, 2, 3, 3)]),
}


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_library_calls_and_their_gradients(name, dtype):
    python, shapes = LAYERS[name]
    fn = Function.build(python, *(TensorType(dtype, s) for s in shapes))
    inputs = [drawn(t, i) for i, t in enumerate(fn.types)]
    (ct,) = (drawn(t, 9) for t in fn.result_types)
    joint = vjp(fn)
    assert unit_of(joint).binding.recipes
    check_meaning(joint, *inputs, ct)


@pytest.mark.parametrize("fn", [loop(5), tree(), chain()], ids=["loop", "tree", "chain"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_loops_recursion_and_what_they_leave_behind(fn, order):
    inputs = [
        np.full(t.shape, 0.3, t.dtype.numpy) if t.dtype.is_float else np.asarray(4, t.dtype.numpy) for t in fn.types
    ]
    for _ in range(order):
        fn = gradient(fn)
        fn = fn.with_results(p.reduce_sum(r) for r in fn.results)
    assert "stack" in str(unit_of(fn)) or unit_of(fn).binding.loops
    check_meaning(fn, *inputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_symbolic_sizes(name):
    python, types = PROGRAMS[name]
    fn = Function.build(python, *types)
    for n, t in ((6, 9), (11, 4)):
        at = {SCOPE.names["n"]: n, SCOPE.names["t"]: t}
        if SCOPE.holds(at):
            check_meaning(fn, *[drawn(evaluated(x, at), i) for i, x in enumerate(types)])


@pytest.mark.parametrize("bound", [0, 2, 100])
def test_sizes_from_data(bound):
    def chosen(x):
        at = p.positions(p.greater(x, p.full(0.0, float32, x.shape)))
        return at, p.reduce_sum(p.cast(at, float32))

    x = np.random.default_rng(0).normal(size=40).astype("f") + bound - 2
    check_meaning(Function.build(chosen, type_of(x)), x)


# ------------------------------------------------------------------------------------------------ what is wrong


def broken_plan(unit: Unit) -> Unit:
    """Every buffer of the arena at its beginning."""
    places = {b: Place(q.slot, 0) for b, q in unit.plan.places.items()}
    return replace(unit, plan=Plan(places, unit.plan.rooms, unit.plan.arena))


def test_the_judge_sees_buffers_that_lie_at_one_place():
    def network(x, w):
        for _ in range(3):
            x = p.tanh(p.matmul(x, w)) + p.matmul(x, p.exp(w))
        return x

    x, w = drawn(TensorType(float32, (40, 50)), 0), drawn(TensorType(float32, (50, 50)), 1) / 10
    fn = Function.build(network, type_of(x), type_of(w))
    unit = unit_of(fn)
    want = interpret(fn, x, w)[0]
    close(interpret_unit(unit, x, w)[0], want, 1e-5, "right", scale=1.0)
    with pytest.raises(AssertionError):
        close(interpret_unit(broken_plan(unit), x, w)[0], want, 1e-2, "wrong", scale=1.0)


WRONG = {
    "table input 0": ("table input 1, input 0", "input 1, and there are 1"),
    "table input 0,": ("table input 0, input 0,", "twice"),
    "arena, heap": ("heap", "lacks"),
    "threads 2": ("threads 0", "one thread"),
    "(f32[3])": ("(f32[3] takes 4)", "takes over an input that is not there"),
}


@pytest.mark.parametrize("old", WRONG)
def test_bindings_that_make_no_sense_are_refused(old):
    text = show_binding(
        replace(unit_of(Function.build(lambda x: x * 2.0, TensorType(float32, (3,)))).binding, threads=2)
    )
    new, message = WRONG[old]
    changed = text.replace("-> " + old, "-> " + new) if old.startswith("(") else text.replace(old, new)
    assert changed != text
    with pytest.raises(AssertionError, match=re.escape(message)):
        verify_binding(parse_binding(changed))


@pytest.mark.parametrize("change", [("threads", "fibres"), ("table", "eval(1)"), ("binding", "unit"), ("arena 0", "")])
def test_texts_that_are_no_bindings_are_explained(change):
    text = show_binding(unit_of(Function.build(lambda x: x * 2.0, TensorType(float32, (3,)))).binding)
    with pytest.raises(ArgumentError, match="cannot read a unit"):
        parse_binding(text.replace(*change))


def test_places_outside_of_the_arena_are_refused():
    fn = Function.build(lambda x, w: p.tanh(p.matmul(p.matmul(x, w), w)), *[TensorType(float32, (50, 50))] * 2)
    unit = unit_of(fn)
    moved = {b: Place(q.slot, q.offset + 64 * 1024) for b, q in unit.plan.places.items()}
    with pytest.raises(AssertionError, match="outside of the arena"):
        verify_unit(replace(unit, plan=replace(unit.plan, places=moved)))
    with pytest.raises(AssertionError, match="has no place"):
        verify_unit(replace(unit, plan=replace(unit.plan, places={})))
    with pytest.raises(AssertionError, match="recipes"):
        verify_unit(replace(unit, binding=replace(unit.binding, recipes=unit.binding.recipes[1:])))
