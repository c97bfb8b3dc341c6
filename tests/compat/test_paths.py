"""Published programs import from MindSpore's paths: each leads to the objects that the short path leads to."""

import subprocess
import sys

import pytest

import mycelia
from mycelia import nn
from mycelia.names.paths import OLD, PATHS

PROGRAM = """
import sys
import mycelia
sys.modules["mindspore"] = mycelia
{lines}
"""


def run(*lines: str) -> str:
    program = [sys.executable, "-W", "error", "-c", PROGRAM.format(lines="\n".join(lines))]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_every_path_of_the_table_can_be_imported():
    paths = [p.replace("*", "anything") for p in PATHS]
    run(*[f"import mindspore.{p}, mycelia.{p}" for p in paths], "assert mindspore.nn is mycelia.nn")


def test_the_objects_are_the_same():
    run(
        "import mindspore.context as context",
        "from mindspore.context import set_context, GRAPH_MODE",
        "from mindspore.common.tensor import Tensor",
        "from mindspore.common import dtype as mstype, Tensor as T2, Parameter as P2, ParameterTuple",
        "from mindspore.common.parameter import Parameter",
        "from mindspore.common.initializer import initializer, Normal",
        "from mindspore.common.api import jit",
        "from mindspore.common.seed import set_seed",
        "import mindspore.common.dtype as mstype2",
        "import mindspore.ops.operations as P",
        "import mindspore.ops.functional as F",
        "from mindspore.ops import composite as C, operations as P3",
        "from mindspore.ops.operations.nn_ops import Conv2D",
        "from mindspore.ops.function.math_func import add",
        "from mindspore.ops.primitive import Primitive",
        "from mindspore.nn.layer.basic import Dense",
        "from mindspore.nn.layer import Conv2d",
        "from mindspore.nn.loss.loss import LossBase",
        "from mindspore.nn.optim.momentum import Momentum",
        "from mindspore.nn.wrap.cell_wrapper import WithLossCell",
        "from mindspore.nn.wrap.grad_reducer import DistributedGradReducer",
        "from mindspore.train.serialization import load_checkpoint",
        "import mindspore.dataset.vision",
        "ms, nn, ops = mycelia, mycelia.nn, mycelia.ops",
        "assert Tensor is ms.Tensor is T2 and Parameter is ms.Parameter is P2 and jit is ms.jit",
        "assert mstype is mstype2 is ms.dtype and set_seed is ms.set_seed and context.set_context is ms.set_context",
        "assert Dense is nn.Dense and Conv2d is nn.Conv2d and LossBase is nn.LossBase and Momentum is nn.Momentum",
        "assert Conv2D is ops.Conv2D is P.Conv2D is P3.Conv2D and F.add is add and WithLossCell is nn.WithLossCell",
        "assert mindspore.dataset.vision is ms.dataset.vision and load_checkpoint is ms.load_checkpoint",
        "assert ms.nn.layer.conv.Conv2d is nn.Conv2d",
    )


def test_parts_of_ops_have_what_ops_has():
    run(
        "from mindspore.ops.operations.array_ops import RightShift, IdentityN",
        "from mindspore.ops.operations.math_ops import BesselJ1, Median",
        "from mindspore.ops.operations._inner_ops import ConvertToDynamic, GpuConvertToDynamicShape",
        "from mindspore.ops import operations as P, composite as C, functional as F, primitive",
        "from mindspore.ops.primitive import prim_attr_register",
        "from mindspore.ops.auto_generate import SumExt, ReluGrad",
        "ops = mycelia.ops",
        "assert RightShift is ops.RightShift and Median is ops.Median and P.HookBackward is ops.HookBackward",
        "assert C.normal is ops.normal and C.clip_by_global_norm is ops.clip_by_global_norm and F.csr_mv is ops.csr_mv",
        "x = mycelia.Tensor([1.0])",
        "assert ConvertToDynamic(True)(x) is x and GpuConvertToDynamicShape()(x) is x and P.Load()(x) is x",
        "assert not hasattr(P, 'no_such_name') and not hasattr(F, 'no_such_name') and not hasattr(C, 'NoSuchName')",
    )


def test_machinery_that_programs_ask_for():
    run(
        "from mindspore._extends.parse import compile_config",
        "from mindspore._extends import cell_attr_register",
        "from mindspore._c_expression import security, typing",
        "from mindspore.common.api import _pynative_executor",
        "from mindspore.ops.vm_impl_registry import vm_impl_registry",
        "compile_config.FOR_HALF_UNROLL = 1",
        "assert typing is mycelia.dtype and not security.enable_security() and _pynative_executor.sync() is None",
    )


def test_a_path_that_is_not_there_is_missing():
    for lines in ("import mindspore.no_such", "from mindspore.nn.layer.basic import NoSuch"):
        with pytest.raises(AssertionError, match=r"ModuleNotFoundError|MissingImport|ImportError"):
            run(lines)


def test_an_old_name_warns_once():
    lines = [
        "import warnings, importlib",
        f"for place, name in {[(p, n) for p, names in OLD.items() for n in names]!r}:",
        "    there = importlib.import_module(place)",
        "    with warnings.catch_warnings(record=True) as seen:",
        "        warnings.simplefilter('always')",
        "        first, second = getattr(there, name), getattr(there, name)",
        "    told = [str(w.message) for w in seen]",
        "    assert first is second and len(told) == 1 and f'{name} is an old name: it is' in told[0], (name, told)",
    ]
    run(*lines)


def test_they_cost_no_import():
    assert mycelia.nn.layer is mycelia.nn.layer
    assert run("print('mycelia.nn.layer' in sys.modules)") == "False\n"


@pytest.mark.parametrize("order", ["paths", "paths[::-1]"])
def test_no_import_hides_a_name(order):
    """Python puts a module that was loaded into the package above it: not in the place of a function of that name."""
    paths = [p.replace("*", "anything") for p in PATHS]
    run(
        "from importlib import import_module",
        "from types import FunctionType, ModuleType",
        "import mycelia.dataset, mycelia.amp, mycelia.mint",
        "ours = [n for n in list(sys.modules) if n.startswith('mycelia.')]",
        "packages = [m for n, m in list(sys.modules.items()) if n.startswith('mycelia') and hasattr(m, '__all__')]",
        "public = [(m, n, getattr(m, n)) for m in packages for n in m.__all__]",
        "assert len(public) > 2000 and all(type(m) is ModuleType for m in packages)",
        f"paths = [f'{{top}}.{{p}}' for p in {paths!r} for top in ('mindspore', 'mycelia')]",
        "paths += [f'mindspore.{n[8:]}' for n in ours] + ['mycelia.common.api.jit', 'mycelia.train.data_sink']",
        f"for path in {order}: import_module(path)",
        "hidden = [f'{m.__name__}.{n}' for m, n, x in public if getattr(m, n) is not x]",
        "assert not hidden, hidden",
        "assert all(type(m) is ModuleType for m in packages)",
    )


def test_data_sink_is_found_where_mindspore_has_it():
    run(
        "from mindspore.train.data_sink import data_sink",
        "import mycelia.train.data_sink",
        "assert data_sink is mycelia.data_sink is mycelia.train.data_sink",
    )


def test_a_class_below_a_path_is_the_class_or_an_import_error():
    from mycelia.nn.optim import AdaMax, Rprop

    assert (AdaMax, Rprop) == (nn.AdaMax, nn.Rprop)
    for path in ("nn.optim", "nn.layer", "ops.operations"):
        with pytest.raises(ImportError):
            exec(f"from mycelia.{path} import Nonsense")
