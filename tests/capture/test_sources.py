"""Where a program's text comes from: files, cells, the prompt, lambdas. What has no text runs in Python, said once."""

import ast
import linecache
import os
import pty
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import mycelia as ms
from mycelia import Tensor
from mycelia.capture import source

X = Tensor([1.0, 2.0])
TEXT = """
def f(x):
    if x.sum() > 0:
        return x * SCALE
    return x
"""
NATIVE = "one native call"


def executed(text, name, scale=2.0, cached=True, mode="exec"):
    """The function that a text defines when it is run as a cell is."""
    if cached:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"SCALE": scale}
    exec(compile(text, name, mode), space)
    return space["f"]


@pytest.mark.parametrize("name", ["<ipython-input-3-0123456789ab>", "ipykernel_77/1234.py", "<cell line: 1>"])
def test_a_cell_of_a_notebook_is_compiled(name):
    f = ms.jit(executed(TEXT, name))
    assert f(X).tolist() == [2.0, 4.0]
    assert f(-X).tolist() == [-1.0, -2.0]
    assert NATIVE in f.explain()


def test_two_cells_of_one_name_are_not_mistaken_for_one_another():
    old = executed(TEXT.replace("x * SCALE", "SCALE * x"), "<cell>")
    new = executed(TEXT.replace("x * SCALE", "x + SCALE"), "<cell>")
    with pytest.warns(RuntimeWarning, match="f has no source that could be read"):
        assert ms.jit(old)(X).tolist() == [2.0, 4.0]
    compiled = ms.jit(new)
    assert compiled(X).tolist() == [3.0, 4.0]
    assert NATIVE in compiled.explain()


def test_a_function_without_a_text_runs_in_python_and_says_so_once():
    f = ms.jit(executed(TEXT.replace("> 0", "> 0.5"), "<nowhere>", cached=False))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for scale in (2.0, 3.0, 4.0):
            f.__globals__["SCALE"] = scale
            assert f(X).tolist() == [scale, 2 * scale]
    (said,) = caught
    assert "f has no source that could be read" in str(said.message)
    assert said.filename == __file__
    assert "runs in Python: f has no source that could be read" in f.explain()
    assert "f has no source that could be read" in ms.report()


def test_a_function_without_a_text_that_is_called_runs_in_python():
    inner = executed(TEXT.replace("> 0", "> 0.25"), "<nowhere>", cached=False)

    def outer(x):
        y = x + 1
        return inner(y) * 2

    f = ms.jit(outer)
    with pytest.warns(RuntimeWarning, match="f has no source"):
        assert f(X).tolist() == [8.0, 12.0]
    inner.__globals__["SCALE"] = 3.0
    assert f(X).tolist() == [12.0, 18.0]


def test_lambdas_of_one_line_are_told_apart():
    fs = [ms.jit(lambda x: x * 2 if x.sum() > 0 else x), ms.jit(lambda x: x * 3 if x.sum() > 0 else x)]
    assert [f(X).tolist() for f in fs] == [[2.0, 4.0], [3.0, 6.0]]
    f, g, h = ms.jit(lambda x: x + 1), ms.jit(lambda x: x + 1), ms.jit((lambda k: lambda x: x * k)(5.0))
    assert [q(X).tolist() for q in (f, g, h)] == [[2.0, 3.0], [2.0, 3.0], [5.0, 10.0]]
    made = [ms.jit(lambda x, k=k: x * k) for k in (1.0, 2.0)]
    assert [q(X).tolist() for q in made] == [[1.0, 2.0], [2.0, 4.0]]
    assert all(NATIVE in q.explain() for q in (*fs, f, g, h, *made))


TYPED = """\
import mycelia as ms
scale = 2.0
@ms.jit
def f(x):
    # a comment
    if x.sum() > 0:
        return x * scale
    return (
        x
    )

g = ms.jit(lambda x: x * 3 if x.sum() > 0 else x)
x = ms.Tensor([1.0])
print("found", f(x).tolist(), g(x).tolist(), "native" in f.explain(), "native" in g.explain())
@ms.jit
def f(x):
    return x + scale

print("again", f(x).tolist(), "native" in f.explain())
exit()
"""


def test_what_is_typed_at_the_prompt_is_compiled():
    """A terminal of its own, in which a person types."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "PYTHONPATH": str(Path(ms.__file__).parents[1]), "PYTHONSTARTUP": ""}
    command = [sys.executable, "-q", "-i", "-c", "import readline"]
    person = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, close_fds=True)
    os.close(theirs)
    os.write(ours, TYPED.encode())
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side has gone
            break
        if not part:
            break
        seen += part
    os.close(ours)
    person.wait(60)
    said = [line for line in seen.decode().splitlines() if line.startswith(("found", "again"))]
    assert said == ["found [2.0] [3.0] True True", "again [3.0] True"], seen.decode()


AWKWARD = '''
import functools
class Odd:
    @functools.lru_cache(
        maxsize=None
    )
    def signature(
        self, x,
    ):
        """Words
that begin at the margin."""
        if x:
# and so do these
            return 1

        return [
            x
    ]

    def text(self):
        def inner():
            return """
at the margin"""
        return inner

    async def last(self): return 2
'''


class History:
    """What was typed at the prompt, as `readline` tells it: lines are counted from 1."""

    def __init__(self, *lines):
        self.lines = lines

    def get_current_history_length(self):
        return len(self.lines)

    def get_history_item(self, number):
        assert 1 <= number <= len(self.lines)
        return self.lines[number - 1]


TWO = ["def f(x):", "    return x * 2"]


@pytest.mark.parametrize(
    ("before", "behind", "is_found"),
    [(0, 0, True), (0, 1, True), (1, 0, True), (7, 3, True), (0, source.TYPED - 2, True), (9, source.TYPED - 2, True),
     (0, source.TYPED - 1, False), (9, source.TYPED - 1, False), (1, source.TYPED, False)],
)  # fmt: skip
def test_so_many_lines_of_the_prompt_are_looked_through(monkeypatch, before, behind, is_found):
    typed = [*(f"a{i} = 1" for i in range(before)), *TWO, *(f"b{i} = 1" for i in range(behind))]
    monkeypatch.setitem(sys.modules, "readline", History(*typed))
    code = next(source.codes_in(compile("\n".join(TWO) + "\n", "<stdin>", "single")))
    source.definition.cache_clear()
    found = source.definition(code)
    source.definition.cache_clear()
    assert (found is not None) == is_found
    if is_found:
        assert ast.unparse(found) == "\n".join(TWO)


@pytest.mark.parametrize("behind", range(source.BEYOND + 2))
def test_so_many_lines_of_a_statement_may_stand_behind_its_code(monkeypatch, behind):
    typed = ["g = (lambda x: x + 7", *[""] * (behind - 1), *[")"] * bool(behind)]
    typed[0] += ")" * (not behind)
    monkeypatch.setitem(sys.modules, "readline", History("c = 1", *typed, "d = 1"))
    code = next(source.codes_in(compile("\n".join(typed) + "\n", "<stdin>", "exec")))
    source.definition.cache_clear()
    assert (source.definition(code) is not None) == (behind <= source.BEYOND)
    source.definition.cache_clear()


def test_functions_of_one_text_in_two_files_are_told_apart():
    text = "def f(x):\n    return x * SCALE + SCALE\n"
    one, other = executed(text, "<the one>"), executed(text, "<the other>", 3.0)
    run = ms.jit(lambda x: one(x) - other(x), fallback=False)
    assert run(X).tolist() == [-2.0, -3.0]
    (way,) = run._interpreted.whole()
    places = [str(v.location) for v in way.program.ending.function.values() if v.inputs]
    assert sum(place.startswith("<the one>:2") for place in places) == 2
    assert sum(place.startswith("<the other>:2") for place in places) == 2


@pytest.mark.parametrize("module", ["mycelia.eager.operators", "mycelia.nn.cell", "mycelia.nn.optim.adam", None])
def test_a_function_of_ours_alone_has_the_syntax_that_it_has_in_its_file(module):
    text = AWKWARD if module is None else Path(sys.modules[module].__file__).read_text()
    lines, whole, found = text.splitlines(keepends=True), ast.parse(text), 0
    for code in source.codes_in(compile(text, "<file>", "exec")):
        if code.co_name.startswith("<"):
            continue
        wanted = list(source._at(code.co_firstlineno, code.co_name, whole))
        alone = list(source._at(code.co_firstlineno, code.co_name, source._parsed(source._function(lines, code))))
        assert [ast.dump(n, include_attributes=True) for n in alone or wanted] == [
            ast.dump(n, include_attributes=True) for n in wanted
        ]
        found += bool(alone)
    assert found >= (3 if module is None else 8)  # of classes there is none, they are no functions
