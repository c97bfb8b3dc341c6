"""Everything that can go another way does so in the tests, and leaves a record: with the right result, in the words of
`explain()` and of `ms.report()`, with one warning where it costs; and is an error where that way is not wanted.
"""

import ctypes
import itertools
import re
import warnings

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, degradations, nn, onednn, ops
from mycelia.api.options import options
from mycelia.degradations import RECORD, Instead
from mycelia.errors import CompileError, LibraryFailed
from mycelia.onednn import library
from mycelia.runtime import stages, workers

sizes = itertools.count(37)  # each program is compiled here for the first time


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """An empty record, a cache that holds nothing, and faults as a user has them."""
    monkeypatch.setattr(RECORD, "times", {})
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path))
    monkeypatch.setitem(degradations._settings, "faults", "")


def told(fn, kind, text):
    """What `explain` and `report` say of a function, which is the same."""
    found = [d for d in RECORD.about(fn._interpreted.subject) if d.kind is kind]
    assert found, ms.report()
    assert any(re.search(text, str(d)) for d in found), found
    for d in found:
        for line in str(d).splitlines():
            assert line in fn.explain()
            assert line in ms.report()
    return found


def vector():
    return Tensor(np.linspace(-1, 1, next(sizes)).astype("f"))


def with_warnings(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = [call() for _ in range(3)][-1]
    return out, [str(w.message) for w in caught]


def refuses(self, text):
    raise CompileError("LLVM refuses generated code: expected type", hint="please report this")


def test_llvm_that_refuses_is_interpreted_and_warned_about_once(monkeypatch):
    monkeypatch.setattr(workers.Worker, "compile", refuses)
    f, x = ms.jit(lambda x: ops.tanh(x) * 2), vector()
    out, said = with_warnings(lambda: f(x))
    np.testing.assert_allclose(out.asnumpy(), np.tanh(x.asnumpy()) * 2, rtol=1e-6)
    assert len([s for s in said if "LLVM refuses generated code" in s]) == 1
    told(f, Instead.INTERPRETED, "it runs without machine code, which is slow: LLVM refuses")


def dying(times):
    usual, left = workers.Worker.compile, itertools.count()

    def compile(self, text):
        if next(left) < times:
            self.process.kill()
            self.process.wait()
        return usual(self, text)

    return compile


def test_a_compiler_that_dies_every_time_is_replaced_by_the_interpreter(monkeypatch):
    monkeypatch.setattr(workers.Worker, "compile", dying(10**6))
    f, x = ms.jit(lambda x: ops.sin(x) + 1), vector()
    out, said = with_warnings(lambda: f(x))
    np.testing.assert_allclose(out.asnumpy(), np.sin(x.asnumpy()) + 1, rtol=1e-6)
    assert len(said) == 1
    told(f, Instead.INTERPRETED, "the compiler process died with status -9")


def test_a_compiler_that_dies_once_is_asked_again_and_nothing_is_lost(monkeypatch):
    monkeypatch.setattr(workers.Worker, "compile", dying(1))
    f, x = ms.jit(lambda x: ops.sin(x) + 2), vector()
    out, said = with_warnings(lambda: f(x))
    np.testing.assert_allclose(out.asnumpy(), np.sin(x.asnumpy()) + 2, rtol=1e-6)
    assert said == []
    assert ms.report().startswith("nothing")


def test_vmap_of_control_flow_needs_no_machine_code(monkeypatch):
    def folded(x):
        return x * 2 if x.sum() > 0 else x - 1

    monkeypatch.setattr(workers.Worker, "compile", refuses)
    x, mapped = np.float32([[1, 2], [-3, 1]]), ms.vmap(folded)
    out, said = with_warnings(lambda: mapped(Tensor(x)))
    np.testing.assert_array_equal(out.asnumpy(), [[2, 4], [-4, 0]])
    assert len([s for s in said if "one_by_one, is interpreted" in s]) == 1


def newton(a):
    x = a
    while ops.abs(x * x - a) > 1e-3:
        print("a turn")
        x = 0.5 * (x + a / x)
    return x


def nested(a):
    return a if a < 0.1 else ops.sin(nested(a / 2)) + a


@pytest.mark.parametrize("fails", [(0,), (1,), (0, 1)], ids=["forward", "backward", "both"])
@pytest.mark.parametrize("fn", [newton, nested])
def test_a_gradient_of_which_one_half_is_interpreted_is_right(monkeypatch, capsys, fn, fails):
    """What turns leave behind is a list to the interpreter, and memory of its own kind to machine code."""
    want, usual, asked = ms.grad(fn)(Tensor(3.0)).item(), stages.machine_code, itertools.count()
    printed = capsys.readouterr().out

    def machine_code(*given):
        if next(asked) in fails:
            raise CompileError("the compiler process died with status -6")
        return usual(*given)

    monkeypatch.setattr(stages, "machine_code", machine_code)
    compiled = ms.jit(fn)
    got, _ = with_warnings(lambda: ms.grad(compiled)(Tensor(3.0)).item())  # three times
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert capsys.readouterr().out == 3 * printed


@pytest.mark.parametrize("strict", [{"fullgraph": True}, {"fallback": False}])
def test_where_one_native_program_was_asked_for_it_is_an_error(monkeypatch, strict):
    monkeypatch.setattr(workers.Worker, "compile", refuses)
    f = ms.jit(lambda x: ops.tanh(x) * 3, **strict)
    with pytest.raises(CompileError, match="cannot be one native program: it runs without machine code"):
        f(vector())


def test_a_fault_of_ours_is_an_error_where_one_native_program_was_asked_for(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("in lowering")

    monkeypatch.setattr(stages, "lower", broken)
    f, x = ms.jit(lambda x: ops.tanh(x) * 4), vector()
    with pytest.warns(RuntimeWarning, match="in lowering"):
        np.testing.assert_allclose(f(x).asnumpy(), np.tanh(x.asnumpy()) * 4, rtol=1e-6)
    told(
        f, Instead.FAULT, "a function is interpreted, because it could not be compiled: ZeroDivisionError: in lowering"
    )
    with pytest.raises(ZeroDivisionError, match="in lowering"):
        ms.jit(lambda x: ops.tanh(x) * 5, fullgraph=True)(vector())


def test_a_call_that_the_library_refuses_is_computed_by_ours(monkeypatch):
    monkeypatch.setattr(stages, "refused", lambda call, threads: True)
    f, n = ms.jit(lambda x, y: x @ y), next(sizes)
    x, y = (np.random.default_rng(0).standard_normal((n, n)).astype("f") for _ in "xy")
    out, said = with_warnings(lambda: f(Tensor(x), Tensor(y)))
    np.testing.assert_allclose(out.asnumpy(), x @ y, rtol=1e-4, atol=1e-4)
    assert said == []
    told(f, Instead.LIBRARY, r"refused by the library: Matmul\(")


def test_a_product_in_plain_loops_is_noted_with_the_line(monkeypatch):
    monkeypatch.setattr("mycelia.lowering.contraction.tile_kind", lambda *_: None)  # as for types without tiles
    x = np.ones((128, 128), "int32")

    @ms.jit
    def product(x, y):
        return x @ y

    np.testing.assert_array_equal(product(Tensor(x), Tensor(x)).asnumpy(), x @ x)
    (found,) = told(product, Instead.SLOW, "plain loops compute i32")
    assert found.at.source == "return x @ y"


EXECUTE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


@pytest.fixture
def failing(monkeypatch):
    """A library whose calls do nothing and fail, while a program runs."""
    entry = EXECUTE(lambda *_: 3)
    usual = type(library()).address

    def address(self, name):
        return ctypes.cast(entry, ctypes.c_void_p).value if name == "dnnl_primitive_execute" else usual(self, name)

    monkeypatch.setattr(type(library()), "address", address)
    return entry


def test_a_library_call_that_fails_while_a_program_runs_is_a_fault_and_python_runs_the_call(failing):
    f, n = ms.jit(lambda x, y: (x @ y).sum()), next(sizes) + 64
    x = np.random.default_rng(0).standard_normal((n, n)).astype("f")
    assert "invoke Matmul" in f.show("program") or f.show("program").startswith("test_")
    with pytest.warns(RuntimeWarning, match="a library call failed with status 3"):
        out = f(Tensor(x), Tensor(x))
    np.testing.assert_allclose(out.asnumpy(), (x @ x).sum(), rtol=1e-3)
    assert "invoke Matmul" in f.show("program")
    told(f, Instead.FAULT, "Python runs a call, because its program has failed: LibraryFailed")


def test_a_library_call_that_cannot_be_prepared_is_computed_by_ours_and_that_is_not_kept(monkeypatch, tmp_path):
    def short(*_, **__):
        raise onednn.OneDnnError("oneDNN: dnnl_primitive_create failed: out of memory")

    monkeypatch.setenv("MYCELIA_WARM", "1")
    n = next(sizes) + 64
    x = np.random.default_rng(0).standard_normal((n, n)).astype("f")

    def product(x, y):
        return x @ y + 1

    with monkeypatch.context() as patch:
        patch.setattr(onednn, "matmul", short)
        patch.setattr(onednn, "matmul_of_any_size", short)
        f = ms.jit(product)
        out, said = with_warnings(lambda: f(Tensor(x), Tensor(x)))
    np.testing.assert_allclose(out.asnumpy(), x @ x + 1, rtol=1e-3, atol=1e-3)
    assert len([s for s in said if "out of memory" in s]) == 1
    told(f, Instead.FAULT, "a Matmul is computed by code of ours, because the library could not prepare it")
    assert not list(tmp_path.glob("*.unit"))
    again = ms.jit(product)
    again(Tensor(x), Tensor(x))
    assert not RECORD.about(again._interpreted.subject)


def test_parameters_that_a_failed_step_may_have_overwritten_are_not_used_again(failing):
    n = next(sizes) + 64
    net = nn.Dense(n, n)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    step = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    @ms.jit
    def train(x):
        loss, gradients = step(x)
        optimizer(gradients)
        return loss

    with pytest.raises(LibraryFailed, match="parameters that the program updates may be wrong now"):
        train(Tensor(np.ones((n, n), "f")))


def test_a_cache_that_cannot_be_used_is_said_once_and_does_no_harm(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv("MYCELIA_CACHE", str(file))
    f, x = ms.jit(lambda x: ops.cos(x) * 7), vector()
    out, _ = with_warnings(lambda: f(x))
    np.testing.assert_allclose(out.asnumpy(), np.cos(x.asnumpy()) * 7, rtol=1e-5)
    assert options().cache == file


def test_too_many_shapes_are_told_with_the_reason():
    f = ms.jit(lambda x: x * float(x.shape[0]) ** 0.5)
    _, said = with_warnings(lambda: [f(Tensor(np.ones(n, "f"))) for n in range(2, 40)])
    assert len([s for s in said if "different shapes, because" in s]) == 1
    told(f, Instead.AGAIN, "it has been compiled for .* different shapes, because")
