"""One record of what runs slower than it could: `explain()` shows a part of it, `ms.report()` shows all."""

import threading
import warnings

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, degradations
from mycelia.api import native
from mycelia.api.ways import Ways
from mycelia.degradations import KEPT, RECORD, Degradation, Instead, Record, Subject


@pytest.fixture(autouse=True)
def record(monkeypatch):
    """An empty record for each test."""
    monkeypatch.setattr(RECORD, "times", {})


@pytest.fixture
def faults_are_hidden(monkeypatch):
    """As for a user, who did not ask to see our faults."""
    monkeypatch.setitem(degradations._settings, "faults", "")


def broken(*_):
    raise RuntimeError("the compiler stumbled")


def test_a_program_that_is_all_native_reports_nothing():
    f = ms.jit(lambda x: (x * 2).sum())
    f(Tensor([1.0, 2.0]))
    assert ms.report() == "nothing: all that was compiled runs as compiled"


def test_a_statement_that_python_runs_is_reported_with_its_line_and_explained_in_the_same_words():
    def f(x):
        y = x * 2
        return Tensor(np.tanh(y.asnumpy())) + y

    compiled = ms.jit(f)
    compiled(Tensor([1.0]))
    (found,) = RECORD.about(compiled._interpreted.subject)
    assert found.kind is Instead.PYTHON
    assert found.at.source == "return Tensor(np.tanh(y.asnumpy())) + y"
    for line in str(found).splitlines():
        assert line in compiled.explain()
        assert line in ms.report()


def test_a_compiler_that_fails_is_reported_and_the_result_is_right(monkeypatch, faults_are_hidden):
    f = ms.jit(lambda x: x + 1)
    monkeypatch.setattr(type(native.current()), "compile", broken)
    with pytest.warns(RuntimeWarning, match="the compiler stumbled"):
        assert f(Tensor([1.0])).tolist() == [2.0]
    assert f(Tensor([2.0])).tolist() == [3.0]
    assert "a fault of ours: a function is interpreted" in ms.report()
    assert "the compiler stumbled" in f.explain()


def test_a_compiler_that_fails_is_an_error_where_faults_are_to_be_seen(monkeypatch):
    f = ms.jit(lambda x: x + 1)
    monkeypatch.setattr(type(native.current()), "compile", broken)
    with pytest.raises(RuntimeError, match="the compiler stumbled"):
        f(Tensor([1.0]))


def test_a_fault_at_symbolic_sizes_is_not_hidden_by_success_at_actual_ones(monkeypatch, faults_are_hidden):
    def stumble(self, capture, asked):
        self.sizes.failure = RuntimeError("no such size")

    monkeypatch.setattr(Ways, "for_all_sizes", stumble)
    f = ms.jit(lambda x: x * 2)
    with pytest.warns(RuntimeWarning, match="no such size"):
        shapes = [f(Tensor(np.ones(n, "f"))).shape for n in (2, 3)]
    assert shapes == [(2,), (3,)]
    assert "a fault of ours: a program for all sizes could not be made: RuntimeError: no such size" in f.explain()


def test_such_a_fault_is_an_error_where_faults_are_to_be_seen(monkeypatch):
    def stumble(self, capture, asked):
        self.sizes.failure = RuntimeError("no such size")

    monkeypatch.setattr(Ways, "for_all_sizes", stumble)
    f = ms.jit(lambda x: x * 2)
    with pytest.raises(RuntimeError, match="no such size"):
        [f(Tensor(np.ones(n, "f"))) for n in (2, 3)]


def test_a_function_that_never_settles_is_given_up_with_one_warning():
    f = ms.jit(lambda x, n: x * 2 if n in {3, 5} else x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(60):
            f(Tensor([1.0]), i)
    assert len([w for w in caught if "given up" in str(w.message) and w.filename == __file__]) == 1
    assert "given up: Python runs it, because it reads things that change with each call" in ms.report()


def test_a_program_compiled_again_names_what_changed():
    f = ms.jit(lambda x, n: x * 2 if n in {3, 5} else x)
    for i in range(3):
        f(Tensor([1.0]), i)
    assert "compiled again: argument 1 changed" in f.explain()


def test_a_program_for_another_kind_names_what_it_was():
    class Held:
        mode = "a"

    held = Held()
    held.rate = None
    f = ms.jit(lambda x, flag, text: (x if held.rate is None else x + 1) * (2 if flag and text == held.mode else 3))
    one = Tensor([1.0])
    for call in ((one, True, "a"), (one, False, "a"), (Tensor([1]), False, "a"), (Tensor([[1]]), False, "a")):
        f(*call)
    f(Tensor([[1]]), True, "a")
    f(Tensor([[1]]), True, "b")
    held.rate = 0.5
    f(Tensor([[1]]), True, "b")
    told = [line.strip() for line in f.explain().splitlines() if "compiled again" in line]
    assert told[-1].endswith(" .rate is of type float, and was of type NoneType")
    assert told[:-1] == [
        "compiled again: argument 1 is False, and was True",
        "compiled again: argument 0 holds int64, and held float32",
        "compiled again: argument 0 has 2 axes, and had 1",
        "compiled again: argument 1 is True, and was False",
        "compiled again: argument 2 is another text",
    ]


def test_two_functions_of_one_name_are_two_subjects():
    record, one, two = Record(), Subject("f"), Subject("f")
    record.add(Degradation(Instead.PYTHON, one, "why"))
    record.add(Degradation(Instead.PYTHON, two, "why"))
    assert [d.subject for d in record.about(two)] == [two]
    assert str(record).count("f\n") == 2


def test_the_record_counts_and_stays_bounded():
    record, f = Record(), Subject("f")
    threads = [
        threading.Thread(target=lambda: [record.add(Degradation(Instead.SLOW, f, "often")) for _ in range(100)])
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert "often (400 times)" in str(record)
    for i in range(2 * KEPT):
        record.add(Degradation(Instead.SLOW, f, str(i)))
    assert len(record.times) == KEPT


def test_a_word_that_nobody_knows_for_faults_is_an_error():
    with pytest.raises(ValueError, match="MYCELIA_FAULTS cannot be 'rise'"):
        degradations.install("rise")


def test_a_fault_in_a_piece_is_reported_and_python_runs_the_statement(monkeypatch, faults_are_hidden):
    import time

    from mycelia.capture import capturing, statements

    done = []

    def f(x):
        time.time()
        done.append(1)
        y = x * 2
        return y + 1

    real = statements.Statements.statement

    def stumbling(self, stmt, frame):
        if getattr(stmt, "lineno", 0) == f.__code__.co_firstlineno + 3 and not self.effectful:
            raise RuntimeError("the interpreter stumbled")
        return real(self, stmt, frame)

    monkeypatch.setattr(capturing.Interpreter, "statement", stumbling)
    g = ms.jit(f)
    with pytest.warns(RuntimeWarning, match="the interpreter stumbled"):
        assert g(Tensor([1.0])).tolist() == [3.0]
    assert g(Tensor([2.0])).tolist() == [5.0]
    assert done == [1, 1]
    assert "the interpreter stumbled" in ms.report()
    assert "the interpreter stumbled" in g.explain()


@pytest.mark.parametrize("prints", [False, True])
def test_a_program_that_fails_when_it_has_run_is_reported_and_python_runs_the_call(
    monkeypatch, faults_are_hidden, prints, capsys
):
    from mycelia.api import programs

    def f(x):
        if prints:
            print(f"sum {x.sum():.1f}")
        return [x * 2]

    monkeypatch.setattr(programs, "ObjectBuilder", broken)
    g = ms.jit(f)
    with pytest.warns(RuntimeWarning, match="the compiler stumbled"):
        assert g(Tensor([1.0]))[0].tolist() == [2.0]
    assert capsys.readouterr().out == "sum 1.0\n" * prints
    assert "the compiler stumbled" in ms.report()


def test_an_error_of_the_user_is_no_fault():
    f = ms.jit(lambda x: [f"{x.sum():d}"])
    with pytest.raises(ValueError, match="format code"):
        f(Tensor([1.5]))
    assert "fault" not in ms.report()
