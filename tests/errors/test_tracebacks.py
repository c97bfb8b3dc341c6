"""Tracebacks show the user's frames alone; debuggers, and whoever asks for them, find ours too."""

import io
import os
import pdb
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTING = """
import mycelia as ms
from mycelia import nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 4), nn.Dense(5, 2)

    def construct(self, x):
        return self.second(self.first(x))

net, x = Net(), ms.Tensor([[1.0, 2.0, 3.0]])

def loss(x):
    return net(x).sum()

def train():
    return ms.jit(ms.grad(loss))(x)
"""
FRAMES = ["<module>", "train", "loss", "construct"]


def shown(program: str, tmp_path: Path, *words: str, **variables: str) -> str:
    """What a program writes to its two streams of text."""
    path = tmp_path / "program.py"
    path.write_text(SETTING + textwrap.dedent(program))
    run = subprocess.run(
        [sys.executable, *words, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        input="where\nq\n",
        check=False,
    )
    return run.stdout + run.stderr


def frames(text: str) -> list[str]:
    """The functions of a traceback that was shown."""
    return [line.rpartition(", in ")[2] for line in text.splitlines() if line.startswith("  File ")]


def test_what_ends_a_program(tmp_path):
    text = shown("train()", tmp_path)
    assert frames(text) == FRAMES
    assert text.startswith("Traceback (most recent call last):\n")
    assert "mycelia.errors.ShapeError: dense: input of shape (1, 4)" in text


def test_a_variable_shows_all_frames(tmp_path):
    found = frames(shown("train()", tmp_path, MYCELIA_TRACEBACK="full"))
    assert [f for f in found if f in FRAMES and f != "construct"] == FRAMES[:-1]
    assert len(found) > len(FRAMES) + 5


def test_an_error_raised_from_another(tmp_path):
    program = """
    def run():
        try:
            train()
        except ValueError as error:
            raise RuntimeError("it failed") from error
    run()
    """
    text = shown(program, tmp_path)
    first, second = text.split("\nThe above exception was the direct cause of the following exception:\n")
    assert frames(first) == ["run", *FRAMES[1:]]
    assert frames(second) == ["<module>", "run"]


def test_an_error_while_another_was_handled(tmp_path):
    program = """
    try:
        train()
    except ValueError:
        ops.matmul(x, x)
    """
    first, second = shown(program, tmp_path).split("\nDuring handling of the above exception, another")
    assert (frames(first), frames(second)) == (FRAMES, ["<module>"])


def test_what_ends_a_thread(tmp_path):
    text = shown("import threading\nt = threading.Thread(target=train, name='worker')\nt.start()\nt.join()", tmp_path)
    assert text.startswith("Exception in thread worker:\n")
    assert frames(text)[-3:] == FRAMES[1:]


def test_what_a_program_logs_or_prints(tmp_path):
    program = """
    import logging, traceback
    try:
        train()
    except ValueError:
        {}
    """
    for way in ("traceback.print_exc()", "logging.exception('it failed')", "print(traceback.format_exc())"):
        assert frames(shown(program.format(way), tmp_path)) == FRAMES, way


def test_an_error_of_the_user_passes_through_us(tmp_path):
    program = """
    def fails(x):
        return [1, 2][5]
    ms.jit(ms.grad(fails))(x)
    """
    text = shown(program, tmp_path)
    assert frames(text) == ["<module>", "fails"]
    assert text.endswith("IndexError: list index out of range\n")


def test_a_program_that_does_not_meet_us_is_shown_as_python_shows_it(tmp_path):
    assert frames(shown("def f():\n    return 1 / 0\nf()", tmp_path)) == ["<module>", "f"]
    assert "SyntaxError" in shown("exec('1 +')", tmp_path)


def test_a_hook_of_the_user_stays(tmp_path):
    program = "import sys\nsys.excepthook = lambda kind, error, trace: print('mine:', kind.__name__)\ntrain()"
    assert shown(program, tmp_path) == "mine: ShapeError\n"


def test_a_debugger_finds_every_frame(tmp_path):
    text = shown("train()", tmp_path, "-m", "pdb", "-c", "continue")
    assert "mycelia/nn/cell.py" in text.replace(os.sep, "/")
    assert frames(text)[-len(FRAMES) :] == FRAMES  # and shows the traceback as ever


def test_an_error_keeps_its_frames():
    from mycelia import Tensor

    with pytest.raises(ValueError, match="cannot reshape") as found:
        Tensor([1.0]).reshape(7)
    trace = found.value.__traceback__
    assert len(traceback.extract_tb(trace)) > 2
    assert len(traceback.TracebackException.from_exception(found.value).stack) == 1
    debugger = pdb.Pdb(stdin=io.StringIO("q\n"), stdout=io.StringIO())
    debugger.setup(None, trace)
    assert len(debugger.stack) > 2


def test_what_is_raised_inside_says_how_to_see_where(monkeypatch):
    from mycelia import tracebacks

    code = compile("raise KeyError('inside')", str(Path(tracebacks.__file__).parent / "somewhere.py"), "exec")
    with pytest.raises(KeyError) as found:
        exec(code)
    assert tracebacks.NOTE in "".join(traceback.format_exception(found.value))
    monkeypatch.setenv("MYCELIA_TRACEBACK", "full")
    assert tracebacks.NOTE not in "".join(traceback.format_exception(found.value))


class Shell:
    """What a notebook gives to those who want to show errors themselves."""

    custom_exceptions = ()

    def set_custom_exc(self, kinds, show):
        self.custom_exceptions, self.show = kinds, show

    def showtraceback(self, given, tb_offset=None):
        _, error, trace = given
        self.seen = [len(traceback.extract_tb(t)) for t in (trace, error.__traceback__, error.__cause__.__traceback__)]


def test_a_notebook_is_given_the_same_for_as_long_as_it_shows_it(monkeypatch):
    from mycelia import Tensor, tracebacks

    monkeypatch.setattr(sys, "last_traceback", None, raising=False)
    shell = Shell()
    tracebacks._ask_ipython(shell)

    def fails():
        try:
            Tensor([1.0]).reshape(7)
        except ValueError as error:
            raise RuntimeError("it failed") from error

    with pytest.raises(RuntimeError) as found:
        fails()
    error = found.value
    before = error.__traceback__, error.__cause__.__traceback__
    shell.show(shell, type(error), error, error.__traceback__)
    assert shell.seen == [2, 2, 1]
    assert before == (error.__traceback__, error.__cause__.__traceback__)
    assert sys.last_traceback is error.__traceback__
    assert len(traceback.extract_tb(before[1])) > 2
