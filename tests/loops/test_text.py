"""What is printed of kernels and programs can be read, and means the same."""

import re

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.codegen.code_key import code_key
from mycelia.errors import ArgumentError, GradientError
from mycelia.ir import Function
from mycelia.ir import text as functions
from mycelia.loops import (
    Buffer,
    Index,
    Kernel,
    Launch,
    Store,
    Sweep,
    Variable,
    datum,
    equal,
    index,
    load,
    parse_kernel,
    parse_program,
    show,
)
from mycelia.primitives import Callee
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.sizes import names
from mycelia.testing import all_samples, function_of
from mycelia.testing.native import lower, optimise
from mycelia.testing.samples import names_of
from mycelia.transforms import vjp
from mycelia.types import TensorType, float32, int32
from tests.each import each
from tests.fuzz.programs import mapped, pulled_back, random_case
from tests.sizes.test_programs_of_symbolic_sizes import PROGRAMS, SCOPE

SAMPLES = list(all_samples())
PACK = 50  # fuzzed programs to a test


def kernels(program):
    blocks = [program.block, *(r.block for r in program.procedures)]
    return [s.kernel for b in blocks for s in b.walk() if isinstance(s, Launch)]


def check(fn, donated=None, names=None):
    """The texts of a function, of its program and of each of its kernels can be read."""
    assert functions.parse(functions.show(fn), names) == fn
    optimised = optimise(in_pairs(fn) if has_complex(fn) else fn)  # kernels meet no complex numbers
    assert functions.parse(functions.show(optimised), names) == optimised
    program = lower(optimised, donated)
    text = show(program)
    read = parse_program(text, Callee.of)
    assert equal(read, program), text
    assert show(read) == text
    for kernel in kernels(program):
        text = show(kernel)
        read = parse_kernel(text)
        assert equal(read, kernel), text
        assert show(read) == text
    return program


@pytest.mark.parametrize("start", range(8))
def test_every_op(start):
    some = SAMPLES[start::8]
    each(lambda sample: check(function_of(sample)), zip(names_of(some), [(s,) for s in some], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.op.name)
def test_gradients_of_every_op(sample):
    fn = function_of(sample)
    if any(t.differentiable for t in fn.types) and any(t.differentiable for t in fn.result_types):
        try:
            back = vjp(fn)
        except GradientError:  # which says so, and why
            return
        check(back)


def check_fuzzed(seed):
    for s in range(seed, seed + PACK):
        case = random_case(s)
        check(case.fn)
        if s % 3 == 1 and (gradient := pulled_back(random_case(s, steps=7), s)) is not None:
            check(gradient.fn)
        if s % 3 == 2:
            check(mapped(random_case(s, steps=7), s).fn)


@pytest.mark.parametrize("seed", range(0, 200, PACK))
def test_random_programs(seed):
    check_fuzzed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 5200, PACK))
def test_many_random_programs(seed):
    check_fuzzed(seed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_symbolic_sizes(name):
    python, types = PROGRAMS[name]
    fn = Function.build(python, *types)
    program = check(fn, names=SCOPE.names)
    (scope,) = {n.scope for b in parse_program(show(program)).inputs for d in b.type.shape for n in names(d)}
    assert {n.text: at for n, at in scope.hints.items()}.items() <= {"n": 6, "t": 9}.items()
    assert [str(g) for g in scope.guards] == [str(g) for g in SCOPE.guards]
    assert functions.show(functions.parse(functions.show(fn))) == functions.show(fn)


def test_a_program_reads_as_what_happens():
    f32 = TensorType(float32, (8, 16))

    def softmax(x):
        e = p.exp(x - p.reduce_max(x, (1,), keepdims=True))
        return e / p.reduce_sum(e, (1,), keepdims=True)

    assert show(check(Function.build(softmax, f32))).splitlines() == [
        "program(in1: f32[8, 16]) {",
        "  buffer b5: f32[8, 16]",
        "",
        "  launch 2176 kernel(i0 < 8) {",
        "    scratch scratch0: f32[16]",
        "    for (i1 < 16) {",
        "      %0: f32 = fold max in1[16*i0 + i1]",
        "    }",
        "    for (i1 < 16) {",
        "      %1 = exp(sub(in1[16*i0 + i1], %0))",
        "      %2: f32 = fold add %1",
        "      scratch0[i1] = %1",
        "    }",
        "    for (i1 < 16) {",
        "      b5[16*i0 + i1] = div(scratch0[i1], %2)",
        "    }",
        "  }",
        "  return b5",
        "}",
    ]


def test_what_memory_is_shared_and_constant_is_written():
    table = np.arange(40, dtype="f")
    fn = Function.build(lambda x: p.sin(x) + p.constant(table), TensorType(float32, (40,)))
    program = check(fn, donated={0: 0})
    assert program.outputs == program.inputs
    assert program.constants
    read = parse_program(show(program))
    assert read.outputs == read.inputs
    (data,) = read.constants.values()
    assert data.tobytes() == table.tobytes()


def test_different_programs_are_not_equal():
    f32 = TensorType(float32, (8,))
    ways = (p.sin, p.cos, lambda x: x + 0.5, lambda x: x + 0.25, lambda x: p.flip(x, (0,)))
    programs = [lower(optimise(Function.build(way, f32))) for way in ways]
    for i, a in enumerate(programs):
        for j, b in enumerate(programs):
            assert equal(a, b) == (i == j)
    swapped = [lower(Function.build(way, f32, f32)) for way in (lambda x, y: x - y, lambda x, y: y - x)]
    assert not equal(*swapped)


def in_order(turn):
    """A kernel whose indices are sums, with terms that are made from the first to the last, or the other way round."""
    x, y, out = (Buffer.dense(name, TensorType(int32, (60,))) for name in ("x", "y", "out"))
    made = {}
    for name in turn(["i", "j"]):
        made[name] = Variable({"i": 5, "j": 4}[name])
    i, j = index(made["i"]), index(made["j"])
    atoms = {
        "quotient": lambda: (i + j * 5) // 3,
        "remainder": lambda: (i + j * 5) % 7,
        "another": lambda: (i * 3 + j) % 7,
        "x": lambda: datum(load(x, (i,)), 0, 3),
        "y": lambda: datum(load(y, (j,)), 0, 3),
        "sum": lambda: datum(load(x, (i,)) * load(x, (j,)) + load(x, (i,)) * load(y, (j,)), 0, 3),
    }
    for name in turn(list(atoms)):
        made[name] = atoms[name]()
    at = Index(0)
    for name in turn(list(made)):
        at = at + (made[name] if isinstance(made[name], Index) else index(made[name]))
    store = Store(out, i * 4 + j, load(y, (at,)) + load(x, (at + 1,)))
    return Kernel((made["i"],), (Sweep((made["j"],), actions=(store,)),))


def test_equal_kernels_have_equal_texts():
    kernels = [in_order(turn) for turn in (lambda x: x, lambda x: x[::-1], lambda x: x[1::2] + x[::2])]
    assert all(equal(kernels[0], k) for k in kernels)
    assert len({show(k) for k in kernels}) == 1
    assert len({code_key(k) for k in kernels}) == 1
    assert "// 3) + (i0 + 5*i1 % 7) + (3*i0 + i1 % 7) + datum(" in show(kernels[0])


KERNEL = """buffer x: i32[3]
kernel(i0 < 3) {
  for () {
    %0 = add(x[i0], i32(1))
    x[i0] = %0
  }
}"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("i32[3]", "i32[3", "line 2 has 'kernel' where ] should be"),
        ("x[i0] = %0", "x[i0] = %1", "line 5 mentions %1, which nothing above it makes"),
        ("x[i0] = %0", "y[i0] = %0", "line 5 mentions y, which nothing above it makes"),
        ("x[i0] = %0", "x[i1] = %0", "line 5 mentions i1"),
        ("\n}", "\n} {", "has '{' where end should be"),
    ],
)
def test_what_cannot_be_read_is_explained(old, new, message):
    assert parse_kernel(KERNEL)
    with pytest.raises(ArgumentError, match=re.escape(message)):
        parse_kernel(KERNEL.replace(old, new))


def test_python_that_a_program_calls_is_found_by_its_name():
    callee = Callee(np.sin, "sine")
    f32 = TensorType(float32, (3,))
    program = check(Function.build(lambda x: p.HostCall(callee, (f32,))(x), f32))
    assert f'host "{callee.name}"(in1) -> (' in show(program)
    with pytest.raises(ArgumentError, match="was not told how to find Python functions"):
        parse_program(show(program))
