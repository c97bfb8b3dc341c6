"""A program that is found again computes what the one computes that is compiled: the same bits, for all its sizes, with
the same guards, notes and errors.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.degradations import RECORD, Instead
from mycelia.errors import Location
from mycelia.ir import Function, digest, registry
from mycelia.ir.value import located
from mycelia.passes import PassCount
from mycelia.primitives import Callee, HostCall
from mycelia.runtime import stages
from mycelia.runtime.cache import cache_in
from mycelia.runtime.resizable import Resizable
from mycelia.runtime.warm import key_of
from mycelia.sizes import Scope
from mycelia.testing import compile
from mycelia.types import TensorType, float16, float32, float64, int64
from tests.fuzz.programs import pulled_back, random_case
from tests.runtime.programs import chain, gradient, loop, tree

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MYCELIA_WARM", "1")
    return tmp_path / "cache"


def f32(*shape: int) -> TensorType:
    return TensorType(float32, shape)


def again(fn: Function, donated=None):
    """The program of a function that was compiled before."""
    cache_in.cache_clear()
    before = PassCount.count
    run = compile(fn, donated)
    assert PassCount.count == before, "a pass has run"
    return run


def check(fn: Function, *inputs, donated=None) -> None:
    first = compile(fn, donated)(*map(np.array, inputs))
    second = again(fn, donated)(*map(np.array, inputs))
    for a, b in zip(first, second, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_give_the_same_bits(seed):
    case = random_case(seed, steps=10)
    for derived in (case, pulled_back(case, seed)):
        if derived is not None:
            with np.errstate(all="ignore"):
                check(derived.fn, *derived.inputs)


@pytest.mark.parametrize("fn", [loop(5), tree(), gradient(chain())], ids=["loop", "tree", "chain"])
def test_loops_and_recursion(fn):
    check(fn, *[np.full(t.shape, 0.3 if t.dtype.is_float else 4, t.dtype.numpy) for t in fn.types])


def test_library_calls_constants_and_donated_memory():
    data = np.arange(300, dtype="f").reshape(3, 100)

    def step(w, x):
        return w - p.matmul(p.transpose(x, (1, 0)), p.matmul(x, w)) * 0.1, p.matmul(p.constant(data), w)

    fn = Function.build(step, f32(100, 70), f32(64, 100))
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(100, 70)).astype("f"), rng.normal(size=(64, 100)).astype("f")
    check(fn, w, x, donated={0: 0})
    kept = w.copy()
    new, _ = again(fn, {0: 0})(kept, x)
    assert new is kept
    check(Function.build(p.Conv((1, 2), ((1, 1), (0, 2)), (1, 1), 1), f32(2, 8, 13, 12), f32(16, 8, 3, 3)),
          rng.normal(size=(2, 8, 13, 12)).astype("f"), rng.normal(size=(16, 8, 3, 3)).astype("f"))  # fmt: skip


# ------------------------------------------------------------------------------------------------ sizes


def of_rows(scope: Scope, limit: int = 8) -> Function:
    n = scope.name("n", hint=6)
    return Function.build(lambda x, w: p.tanh(p.matmul(x, w)) * float(n < limit), f32(n, 100), f32(100, 70))


def test_one_program_serves_all_sizes_that_keep_its_guards():
    first = compile(of_rows(Scope()))
    fresh = of_rows(Scope())  # captured again: names of its own
    second = again(fresh)
    assert isinstance(second, Resizable)
    assert [str(g) for g in second.scope.guards] == [str(g) for g in first.scope.guards]
    assert second.scope.guards
    rng = np.random.default_rng(0)
    w = rng.normal(size=(100, 70)).astype("f")
    for n in (6, 3, 7, 20):
        x = rng.normal(size=(n, 100)).astype("f")
        np.testing.assert_array_equal(second(x, w)[0], first(x, w)[0])
    assert second.programs == first.programs == 2  # the last size breaks the guard


def test_guards_that_only_the_compiler_has_asked_for_hold_after_a_warm_start():
    """A slice that is too long at some sizes: lowering decides it, capture did not."""
    scopes = Scope(), Scope()
    fns = []
    for scope in scopes:
        n = scope.name("n", hint=6)
        fns.append(Function.build(lambda x: p.reduce_sum(p.cumsum(x, 0), (1,)), f32(n, 5)))
    first, second = compile(fns[0]), again(fns[1])
    assert {str(g) for g in scopes[0].guards} == {str(g) for g in scopes[1].guards}
    for n in (6, 2, 40):
        x = np.random.default_rng(n).normal(size=(n, 5)).astype("f")
        np.testing.assert_array_equal(second(x)[0], first(x)[0])


def test_a_size_that_comes_out_of_data():
    fn = Function.build(lambda x: p.positions(p.greater(x, p.zeros(float32, ()))), f32(40))
    run, found = compile(fn), again(fn)
    for shift in (-9.0, 0.0, 9.0):
        x = np.random.default_rng(0).normal(size=40).astype("f") + np.float32(shift)
        np.testing.assert_array_equal(found(x)[0], run(x)[0])
        np.testing.assert_array_equal(found(x)[0], np.flatnonzero(x > 0))


# ------------------------------------------------------------------------------------------------ keys


def key(python, *types, donated=(), **changes):
    return key_of(Function.build(python, *types), dict(donated), replace(options(), **changes))


def test_the_key_is_one_for_equal_functions_and_no_others():
    keys = [
        key(lambda x: x * 2.0, f32(3)),
        key(lambda x: x * 3.0, f32(3)),
        key(lambda x: x * -0.0, f32(3)),
        key(lambda x: x * 0.0, f32(3)),
        key(lambda x: x * 2.0, f32(4)),
        key(lambda x: x * 2.0, TensorType(float64, (3,))),
        key(lambda x: (x * 2.0, x), f32(3)),
        key(lambda x: x + 2.0, f32(3)),
        key(lambda x: x * 2.0, f32(3), donated=[(0, 0)]),
        key(lambda x: x * 2.0, f32(3), threads=options().threads + 1),
        key(lambda x: x * 2.0, f32(3), without=frozenset({"simplify"})),
        key(lambda x: x * 2.0, f32(3), clocked=True),
        key(lambda x, y: x * 2.0, f32(3), f32(3)),
        key(lambda x: p.constant(np.arange(3, dtype="f")) * x, f32(3)),
        key(lambda x: p.constant(np.arange(3, dtype="f")[::-1].copy()) * x, f32(3)),
        key(lambda x: p.cast(x, int64), f32(3)),
    ]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert key(lambda y: y * 2.0, f32(3)) == keys[0]


def test_sizes_are_known_by_their_order_bounds_and_hints():
    def of(name="n", hint=6, low=2, ask=False):
        scope = Scope()
        n = scope.name(name, hint=hint, low=low)
        if ask:
            assert n < 100
        return digest(Function.build(lambda x: x * 2.0, f32(n, n * 2)))

    assert of() == of("m")
    assert len({of(), of(hint=7), of(low=1), of(ask=True)}) == 4


def test_what_is_not_ours_or_lives_in_this_process_is_not_kept(cache):
    host = Function.build(lambda x: HostCall(Callee(lambda a: a + 1), (f32(3),))(x), f32(3))
    assert digest(host) is None

    class Doubled(p.Unary):
        """Twice the number; somebody else may mean something else by it tomorrow."""

        oracle = staticmethod(lambda x: x + x)
        name = "doubled_for_a_test"

        @staticmethod
        def scalar(x):
            return x + x

        def vjp(self, ct, out, x):
            return (ct + ct,)

    try:
        assert digest(Function.build(Doubled(), f32(3))) is None
    finally:
        del registry["doubled_for_a_test"]


def test_options_that_show_or_verify_compile():
    for changes in ({"show": frozenset({"graph"})}, {"verify": True}, {"warm": False}, {"cache": None}):
        assert key(lambda x: x * 2.0, f32(3), **changes) is None


# ------------------------------------------------------------------------------------------------ lines and processes


def test_a_note_is_about_the_line_where_the_code_stands_now():
    """Products of short numbers that no pass has made longer are computed by loops: a note, with the line of each."""
    plain, short = replace(options().target, short_units=frozenset()), TensorType(float16, (300, 300))
    times = p.Contract("ab", "bc", "ac", float16)

    def told(first: int, second: int) -> list[tuple[str, int]]:
        def squares(x, y):
            with located(Location("program.py", first)):
                once = times(x, y)
            with located(Location("program.py", second)):
                return p.tanh(once), times(y, y)

        cache_in.cache_clear()
        RECORD.times.clear()
        compile(Function.build(squares, short, short), target=plain, without=frozenset({"shape_products"}))
        return sorted((d.why, d.at.line) for d in RECORD.times if d.kind is Instead.SLOW)

    before = told(2, 3)
    assert [line for _, line in before] == [2, 3]
    assert all(why.startswith("plain loops compute") for why, _ in before)
    passes = PassCount.count
    assert [line for _, line in told(50, 40)] == [40, 50]
    assert PassCount.count == passes, "a pass has run"


def test_a_train_step_of_another_process_runs_no_pass(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import numpy as np, mycelia as ms\n"
        "from mycelia import nn\n"
        "from mycelia.passes import PassCount\n"
        "ms.set_seed(0)\n"
        "net = nn.SequentialCell(nn.Dense(20, 30), nn.ReLU(), nn.Dense(30, 5))\n"
        "opt = nn.Adam(net.trainable_params(), 1e-2)\n"
        "loss = nn.CrossEntropyLoss()\n"
        "grads = ms.value_and_grad(lambda x, y: loss(net(x), y), None, opt.parameters)\n"
        "@ms.jit\n"
        "def step(x, y):\n"
        "    value, g = grads(x, y)\n"
        "    opt(g)\n"
        "    return value\n"
        "rng = np.random.default_rng(0)\n"
        "for n in (8, 8, 16, 24, 7):\n"
        "    x, y = rng.normal(size=(n, 20)).astype('f'), rng.integers(0, 5, n).astype('int32')\n"
        "    print(float(step(ms.Tensor(x), ms.Tensor(y))).hex())\n"
        "print(PassCount.count)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    outs = [
        subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert outs[0][:-1] == outs[1][:-1]
    assert int(outs[0][-1]) > 0
    assert int(outs[1][-1]) == 0


def test_what_the_library_refused_is_said_after_a_warm_start_too(monkeypatch):
    written = stages.written
    monkeypatch.setattr(stages, "written", lambda *given: (written(*given)[0], frozenset({"a call"})))
    fn = Function.build(lambda x: x * 5.0, f32(3))
    compile(fn)
    RECORD.times.clear()
    again(fn)
    assert [d.why for d in RECORD.times if d.kind is Instead.LIBRARY] == ["a call"]
