"""Options are made in one place and passed down; each of them changes what it says."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mycelia
from mycelia import doctor
from mycelia import primitives as p
from mycelia.api.options import cache_folder, options
from mycelia.codegen.driver import emit_program
from mycelia.errors import ArgumentError
from mycelia.ir import Function, Value
from mycelia.options import FastMath
from mycelia.passes import NEEDED, PIPELINE
from mycelia.runtime.layout import layout
from mycelia.runtime.stages import text_of
from mycelia.testing import compile, lower, optimise
from mycelia.threads.openmp import load_openmp
from mycelia.types import TensorType, float32

V = TensorType(float32, (8,))
ROOT = Path(mycelia.__file__).parent
ABOVE = {"api", "communication", "dataset", "mindrecord", "nn", "ops", "train", "common", "testing"}
ABOVE |= {"doctor.py", "log.py", "profiler"}


def looks_outside(tree: ast.AST) -> list[str]:
    """Where a file asks the environment or the machine."""
    asked = {"environ", "getenv", "sched_getaffinity", "cpu_count", "get_host_cpu_features", "get_context"}
    return [f"line {n.lineno}" for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in asked]


def test_nothing_below_the_api_looks_at_the_environment_or_the_machine():
    found = {
        str(path.relative_to(ROOT)): lines
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] not in ABOVE and (lines := looks_outside(ast.parse(path.read_text())))
    }
    # `host` describes the machine, and only the api calls it; `threads` tells OpenMP something before it is loaded;
    # `platform_check` asks whether there is a back end at all, `tracebacks` how much of an error to show, and oneDNN
    # whether its user has told it already which instructions it may use; `streams` ties the process to processors when
    # the user asks for it; `threads/apart` says where threads of a team run, of which nothing that is computed depends
    theirs = {"codegen/processor.py", "onednn/library.py", "platform_check.py", "threads/openmp.py", "tracebacks.py"}
    theirs |= {"streams.py", "threads/apart.py"}
    assert set(found) == theirs
    calls = [path for path in ROOT.rglob("*.py") if "processor.host" in path.read_text()]
    assert [str(path.relative_to(ROOT)) for path in calls] == ["api/options.py"]


def test_a_pass_is_switched_off_by_its_name():
    fn = Function.build(lambda x: x * 1.0, V)
    assert optimise(fn) == Function.build(lambda x: x, V)
    assert optimise(fn, without=frozenset({"simplify"})) == fn


@pytest.mark.parametrize("name", [run.__name__ for run in PIPELINE[len(NEEDED) :]])
def test_without_any_one_pass_the_numbers_are_the_same(name):
    def fn(x, w, b):
        y = p.tanh(p.matmul(x, w) + b) * 1.0 + p.full(1.0, float32, ()) * 2.0
        return p.reduce_sum(y), y

    types = [TensorType(float32, s) for s in ((64, 32), (32, 64), (64,))]
    function = Function.build(fn, *types)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(t.shape).astype("f") for t in types]
    usual = compile(function)(*arrays)
    for got, want in zip(compile(function, without=frozenset({name}))(*arrays), usual, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_pass_that_does_not_exist_or_must_run_cannot_be_switched_off():
    fn = Function.build(lambda x: x + x, V)
    with pytest.raises(ArgumentError, match="there is no pass 'simplfy'"):
        optimise(fn, without=frozenset({"simplfy"}))
    with pytest.raises(ArgumentError, match="expand cannot be switched off"):
        optimise(fn, without=frozenset({"expand"}))


def test_verification_between_passes_names_the_pass_that_is_wrong(monkeypatch):
    def broken(fn):
        other = Function.build(lambda x, y: y, V, V)
        return Function(fn.params, other.results)  # a parameter of another function

    monkeypatch.setattr("mycelia.passes.NATIVE", (broken,))
    fn = Function.build(lambda x: x + x, V)
    assert isinstance(optimise(fn).results[0], Value)
    with pytest.raises(AssertionError, match=r"after the pass broken: .* belongs to another function"):
        optimise(fn, verify=True)


def test_stages_are_shown_on_request(capfd):
    fn = Function.build(lambda x: x * 1.0 + x, V)
    compile(fn)
    assert capfd.readouterr().err == ""
    stages = ("graph", "passes", "program", "kernels", "llvm", "memory")
    compile(fn, show=frozenset(stages))
    shown = capfd.readouterr().err
    for stage in stages:
        assert f"{stage} of eager operations:\n{text_of(stage, fn, {}, options())}\n" in shown
    for text in (
        "simplify: 4 values before, 2 after\nfn(",
        "launch",
        "\nkernel(",
        "arena: 0 bytes planned",
        "define i32",
    ):
        assert text in shown


def test_the_environment_says_what_is_shown(monkeypatch):
    monkeypatch.setenv("MYCELIA_SHOW", "graph, llvm,")
    assert options().show == {"graph", "llvm"}
    monkeypatch.setenv("MYCELIA_SHOW", "grahp")
    with pytest.raises(ArgumentError, match="there is no stage 'grahp'"):
        options()


def test_products_are_fused_into_sums_only_where_that_is_allowed():
    fn = Function.build(lambda x, y, z: x * y + z, V, V, V)
    x, y = (np.full(8, 1 + 2.0**-12, "f") for _ in "xy")
    z = np.full(8, -(1 + 2.0**-11), "f")  # minus x * y as it is rounded
    assert (compile(fn)(x, y, z)[0] == np.float32(2.0**-24)).all()
    assert (compile(fn, fast_math=FastMath(fuse=False))(x, y, z)[0] == 0).all()


def test_subnormal_numbers_are_kept_where_that_is_asked_for():
    fn = Function.build(lambda x: x * 0.5, V)
    tiny = np.full(8, 2.0**-126, "f")
    assert (compile(fn)(tiny)[0] == 0).all()
    assert (compile(fn, fast_math=FastMath(flush=False))(tiny)[0] == np.float32(2.0**-127)).all()


def test_one_thread_means_one_thread():
    fn = optimise(Function.build(lambda x: p.sin(x), TensorType(float32, (1 << 20,))))

    def driver(threads):
        chosen = replace(options(), threads=threads)
        return emit_program(layout(lower(fn), chosen), chosen, "run").modules[0]

    assert "GOMP_parallel" in driver(2)
    assert "GOMP_parallel" not in driver(1)


def test_a_program_leaves_the_number_of_threads_as_it_was():
    before = load_openmp().omp_get_max_threads()
    matmul = Function.build(p.matmul, TensorType(float32, (64, 64)), TensorType(float32, (64, 64)))
    ones = np.ones((64, 64), "f")
    assert (compile(matmul, threads=1)(ones, ones)[0] == 64).all()
    assert load_openmp().omp_get_max_threads() == before


def test_without_a_cache_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path))
    fn = Function.build(lambda x: x * 3.25, V)
    assert (compile(fn, cache=None)(np.ones(8, "f"))[0] == 3.25).all()
    assert not list(tmp_path.iterdir())


def test_machine_code_is_kept_where_the_user_keeps_such_things(monkeypatch, tmp_path):
    """The nearest wish counts: our own variable, that of the system, the home of the user."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path / "ours"))
    assert cache_folder() == tmp_path / "ours"
    monkeypatch.delenv("MYCELIA_CACHE")
    assert cache_folder() == tmp_path / "system" / "mycelia"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == tmp_path / "home" / ".cache" / "mycelia"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / "home" / ".cache" / "mycelia"
    monkeypatch.setenv("XDG_CACHE_HOME", "system")  # which its specification calls invalid
    assert cache_folder() == tmp_path / "home" / ".cache" / "mycelia"


def test_the_folder_of_machine_code_is_written_as_in_a_shell_and_stays_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MYCELIA_CACHE", "~/kept")
    assert cache_folder() == tmp_path / "home" / "kept"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYCELIA_CACHE", f"near-{tmp_path.name}")
    here = cache_folder()
    monkeypatch.chdir("/")
    assert cache_folder() == here == tmp_path / f"near-{tmp_path.name}"


def test_machine_code_is_kept_nowhere_where_that_is_wanted_or_there_is_no_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYCELIA_CACHE", "off")
    fn = Function.build(lambda x: x * 3.75, V)
    assert (compile(fn)(np.ones(8, "f"))[0] == 3.75).all()
    assert not list(tmp_path.iterdir())
    assert list(doctor.cache()) == ["nowhere: each process compiles anew"]
    monkeypatch.setenv("MYCELIA_CACHE", "~nobody-of-this-name/kept")
    with pytest.warns(RuntimeWarning, match="nothing is kept: .* MYCELIA_CACHE names a folder, or is off"):
        assert cache_folder() is None
