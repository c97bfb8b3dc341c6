"""An import loads what every program needs; what some need is loaded when they ask for it."""

import subprocess
import sys

import pytest

LATER = (
    "llvmlite",
    "scipy",
    "jax",
    "torch",
    "mycelia.codegen",
    "mycelia.lowering",
    "mycelia.loops.program",
    "mycelia.capture.machine",
    "mycelia.api.profiling",
    "mycelia.spans",
    "mycelia.dataset",
    "mycelia.stablehlo",
)
MODULES, OTHERS = 262, 60  # of ours, and of Python and others besides NumPy and what it loads
PROGRAM = """
import sys
import mycelia as ms
{more}
print([m for m in {later} if m in sys.modules])
"""


def loaded(more: str) -> list[str]:
    text = PROGRAM.format(more=more, later=LATER)
    return eval(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("more", ["", "ms.Tensor([1.0]) + 1", "ms.grad(lambda x: x * x)(ms.Tensor(2.0))"])
def test_small_eager_programs_load_no_compiler(more):
    assert loaded(more) == []


def test_the_first_kernel_loads_it():
    exp = "ms.ops.exp(ms.ops.ones((1000, 1000), ms.float32))"
    assert loaded(exp) == ["llvmlite", "mycelia.codegen", "mycelia.lowering", "mycelia.loops.program"]


def test_an_import_loads_no_more_modules_than_it_must():
    """Each takes a millisecond, and those of others often more: whoever adds one asks if every program needs it."""
    count = "print(len([m for m in sys.modules if m.split('.')[0] == 'mycelia']), len(sys.modules))"
    text = f"import sys, numpy, ml_dtypes\nbefore = len(sys.modules)\nimport mycelia\n{count[:-1]} - before)"
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
    ours, new = map(int, said)
    assert ours <= MODULES
    assert new - ours <= OTHERS


def test_a_program_that_is_compiled_is_modelled_by_all_layers(tmp_path):
    """What the layers above the interpreter know of their functions is loaded with the first capture, by any way."""
    text = """
import mycelia as ms
from mycelia.capture.registered import REGISTERED
few = len(REGISTERED)
double = ms.jit(lambda x: ms.vmap(ms.grad(lambda a: ms.ops.sum(a * a)))(x))
assert double(ms.ops.ones((3, 2))).asnumpy().tolist() == [[2.0, 2.0]] * 3
assert "runs in Python" not in double.explain(), double.explain()
print(len(REGISTERED) > few)
"""
    (tmp_path / "program.py").write_text(text)
    command = [sys.executable, "-W", "error", tmp_path / "program.py"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_a_name_that_is_loaded_later_is_no_name_of_a_module():
    """Python puts an imported module into its package under its name: it would hide the function of that name."""
    script = """
import importlib, pkgutil
import mycelia
found = [importlib.import_module(m.name) for m in pkgutil.iter_modules(mycelia.__path__, "mycelia.") if m.ispkg]
for package in (mycelia, *found):
    modules = {m.name for m in pkgutil.iter_modules(package.__path__)}
    later = [name for name in getattr(package, "__all__", ()) if name not in vars(package)]
    for name in sorted(modules.intersection(later)):
        if type(getattr(package, name)) is not type(mycelia):
            print(package.__name__, name)
"""
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == ""


SHOWN = """
import rlcompleter
import mycelia as ms
from mycelia import nn, ops, train
def after(text):
    found = rlcompleter.Completer(globals())
    found.complete(text, 0)
    return [m.rstrip("()") for m in found.matches]
"""


@pytest.mark.parametrize(
    ("typed", "there"),
    [
        ("ms.save", "ms.save_checkpoint"),
        ("ms.data", "ms.dataset"),
        ("ms.exp", "ms.export"),
        ("ops.gumb", "ops.gumbel_softmax"),
        ("nn.PRe", "nn.PReLU"),
        ("train.Early", "train.EarlyStopping"),
    ],
)
def test_a_prompt_completes_what_is_loaded_later(typed, there):
    text = f"{SHOWN}\nprint({there!r} in after({typed!r}))"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_prompt_shows_what_there_is_and_none_of_our_parts():
    text = f"{SHOWN}\nprint([n for m in (ms, nn, ops, train) for n in dir(m) if not hasattr(m, n)])"
    text += "\nprint([n for n in dir(ms) if n in ('ir', 'interning', 'lowering', 'capture', 'cost')])"
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["[]", "[]"]
