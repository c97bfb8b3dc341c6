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
    "mycelia.dataset",
    "mycelia.stablehlo",
)
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
    assert loaded(exp) == ["llvmlite", "mycelia.codegen", "mycelia.lowering"]


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
