"""Where else MindSpore's modules are: paths that published programs import from, and what they mean here.

`from mindspore.common.tensor import Tensor` names a module that is another one here, or several. One table says which.
A module of the table is made when it is first asked for; its names are those of the modules that it stands for, the
same objects. A program that says `sys.modules["mindspore"] = mycelia` first may go on saying `mindspore`.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # what a loader must have it has; the module loads a dozen others, at each start

PATHS: dict[str, str] = {
    "_checkparam": "common.checkparam",
    "context": "api.context",
    "common.api": "api",
    "_c_expression": "common.internals",
    "_extends": "common.internals",
    "_extends.parse": "common.internals",
    "_extends.parse.compile_config": "common.compile_config",
    "common.jit_config": "api.hints",
    "common.lazy_inline": "api.hints",
    "communication.management": "communication",
    "common.dtype": "types",
    "common.generator": "eager api",
    "common.mutable": "api",
    "common.parameter": "eager",
    "common.recompute": "api",
    "common.seed": "api",
    "common.sparse_tensor": "ops.sparse",
    "common.tensor": "eager",
    "nn.grad": "nn",
    "nn.grad.*": "nn",
    "nn.layer": "nn",
    "nn.layer.*": "nn",
    "nn.loss.loss": "nn",
    **{f"nn.{old}": "nn" for old in ("adam", "momentum", "rmsprop", "sgd")},
    "nn.optim.*": "nn",
    "nn.optimizer": "nn",
    "nn.utils": "nn.utils",
    "nn.wrap.cell_wrapper": "nn nn.micro",
    "nn.wrap.grad_reducer": "nn",
    "nn.wrap.loss_scale": "nn",
    "ops.auto_generate": "ops.functional ops.operations",
    "ops.composite.base": "ops.composite",
    "ops.function": "ops.functional",
    "ops.function.*_func": "ops.functional",
    "ops.function.grad": "ops.functional",
    "ops.function.grad.grad_func": "ops.functional",
    "ops.operations.*_ops": "ops.operations",
    "ops.operations.manually_defined": "ops.functional ops.operations",
    "ops.operations.manually_defined.ops_def": "ops.functional ops.operations",
    "ops._inner_ops": "ops.operations",
    "ops.vm_impl_registry": "common.internals",
    "ops.array_ops": "ops.operations",
    "ops.comm_ops": "ops.operations communication ops.communication",
    "ops.math_ops": "ops.operations",
    "ops.nn_ops": "ops.operations",
    "ops.op_info_register": "ops.custom_info ops.custom",
    "ops.tensor_method": "ops.functional",
    "parallel._auto_parallel_context": "api.parallel_context",
    "profiler.profiling": "profiler",
    "train.amp": "amp",
    "train.callback.*": "train.callback",
    **{f"train.{old}": "train.callback" for old in ("_callback", "_loss_monitor", "_time_monitor")},
    "train.data_sink": "train.sinking",
    "train.dataset_helper": "train",
    "train.summary.summary_record": "train.summary",
}
"""A path of MindSpore below its top, and the modules of ours that hold its names;
`*` stands for every name below, `*_ops` for every one that ends so.
"""

OLD: dict[str, dict[str, str]] = {
    "mycelia": {"ms_function": "jit"},
    "mycelia.nn": {"_Loss": "nn.LossBase"},
    "mycelia.api": {"ms_function": "jit"},
}
"""Names that MindSpore has had, by place, and what they are called now."""

_ELEMENTS = {
    "bool": "types.bool_", "half": "types.float16", "single": "types.float32", "float": "types.float32",
    "double": "types.float64", "byte": "types.int8", "short": "types.int16", "int": "types.int32",
    "intc": "types.int32", "long": "types.int64", "intp": "types.int64", "ubyte": "types.uint8",
    "ushort": "types.uint16", "uintc": "types.uint32", "uintp": "types.uint64",
}  # fmt: skip
METRICS = """
    Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice F1 Fbeta HausdorffDistance Loss MAE
    MSE MeanSurfaceDistance Metric OcclusionSensitivity Perplexity Precision ROC Recall RootMeanSquareDistance
    Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy auc get_metric_fn get_metrics names
    rearrange_inputs"""
_FEW = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "inv",
    "isfinite", "isinf", "isnan", "log", "log1p", "neg", "relu", "relu6", "round", "sigmoid", "sin", "sinh",
    "softsign", "sqrt", "square", "tan", "tanh", "add",
)  # fmt: skip
_SPARSE = {
    name: f"ops.sparse.{name}"
    for name in (
        *[f"{kind}_{name}" for kind in ("coo", "csr") for name in _FEW],
        "coo_concat", "csr_mul", "csr_mv", "csr_reduce_sum", "csr_softmax", "csr_to_coo", "csr_to_dense",
        "dense_to_sparse_coo", "dense_to_sparse_csr",
    )
}  # fmt: skip
_SUMMARIES = {f"{name}Summary": f"ops.summaries.{name}Summary" for name in ("Histogram", "Image", "Scalar", "Tensor")}
_CUSTOM = {
    **{name: f"ops.custom.{name}" for name in ("Custom", "custom_info_register", "kernel", "ms_kernel")},
    **{name: f"ops.custom_info.{name}" for name in ("CustomRegOp", "DataType")},
}
_HOOKS = {
    **{
        name: f"ops.hooks.{name}"
        for name in (
            "custom_vjp",
            "HookBackward",
            "InsertGradientOf",
            "Partial",
            "RandomCategorical",
            "Randperm",
            "add_flags",
        )
    },
    "P": "ops.operations",
    "Tensor": "eager.Tensor",
    "get_grad": "api.get_grad",
}  # fmt: skip
_HINTS = {name: f"api.hints.{name}" for name in ("JitConfig", "LAX", "STRICT", "jit_class", "lazy_inline", "run_check")}
_PARALLEL = {
    name: f"api.parallel_context.{name}"
    for name in (
        "ParallelMode", "get_auto_parallel_context", "reset_auto_parallel_context", "set_auto_parallel_context",
    )
}  # fmt: skip
_CONVERSIONS = {name: f"common.dtypes.{name}" for name in (
    "QuantDtype", "dtype_to_nptype", "dtype_to_pytype", "get_py_obj_dtype", "pytype_to_dtype",
)}  # fmt: skip
_SCALED = ("DynamicLossScaleUpdate", "FixedLossScaleUpdate", "TrainOneStepWithLossScale")
_MICRO = {name: f"nn.micro.{name}" for name in ("GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell")}
_TENSORS = {name: f"ops.sparse.{name}" for name in ("COOTensor", "CSRTensor")}
_RUNTIME = {
    **{
        name: f"streams.{name}"
        for name in (
            "Event", "Stream", "StreamCtx", "communication_stream", "current_stream", "default_stream",
            "dispatch_threads_num", "empty_cache", "launch_blocking", "set_cpu_affinity", "set_cur_stream",
            "set_memory", "synchronize",
        )
    },
    **{
        name: f"hal.{name}"
        for name in (
            "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
            "memory_summary", "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats",
        )
    },
}  # fmt: skip
_EXTENDED = {
    f"{name}Ext": f"mint.nn.{name}"
    for name in (
        "AvgPool1d", "AvgPool2d", "AvgPool3d", "Dropout", "Embedding", "L1Loss", "LayerNorm", "LogSoftmax",
        "MaxPool2d", "PReLU",
    )
}  # fmt: skip
_EXTENDED["Dropout2dExt"] = "nn.Dropout2d"
_PLAIN = {
    **{name: f"log.{name}" for name in ("get_level", "get_log_config")},
    **{name: f"common.plain.{name}" for name in ("frombuffer", "is_tensor", "merge_sliced_parameter")},
    **{name: f"ops.sparse.{name}" for name in ("RowTensor", "SparseTensor")},
}
_SAVED = {name: f"common.dtypes.{name}" for name in ("tensor_to_ms_type", "tensor_to_np_type")}
_GRAPHS = {name: f"lite.mindir.{name}" for name in ("export", "load")}
SHORT: dict[str, dict[str, str]] = {
    "mycelia.runtime": _RUNTIME,
    "mycelia": {
        **_ELEMENTS,
        **_TENSORS,
        **_HINTS,
        **_PARALLEL,
        **_GRAPHS,
        **_CONVERSIONS,
        **_PLAIN,
        **_SAVED,
        **{name: f"parallel.{name}" for name in ("get_algo_parameters", "reset_algo_parameters")},
        "Validator": "common.checkparam.Validator",
    },
    "mycelia.ops": _SPARSE | _SUMMARIES | _CUSTOM | _HOOKS,
    "mycelia.ops.primitive": {"constexpr": "ops.composite.constexpr"},
    "mycelia.types": _ELEMENTS | _CONVERSIONS,
    "mycelia.nn": {n: f"train.metrics.{n}" for n in METRICS.split()}
    | _MICRO
    | _EXTENDED
    | {
        "GraphCell": "lite.mindir.GraphCell",
        "_activation": "nn.activation.ACTIVATIONS",
        "opt_init_args_register": "nn.optim.optimizer.opt_init_args_register",
    },
    "mycelia.nn.wrap": {f"{n}Cell": f"nn.{n}Cell" for n in _SCALED} | _MICRO,
    "mycelia.api": {
        "_cell_graph_executor": "api.hints.cell_graph_executor",
        "_pynative_executor": "common.internals.pynative_executor",
        "jit_class": "api.hints.jit_class",
    },
    "mycelia.api.context": _PARALLEL,
    "mycelia.train.serialization": _GRAPHS | _SAVED,
    "mycelia.train": {
        **_GRAPHS,
        "ParallelMode": "api.parallel_context.ParallelMode",
        "_CallbackManager": "train.callback.CallbackManager",
        "_InternalCallbackParam": "train.callback.InternalCallbackParam",
    },
    "mycelia.common": _TENSORS
    | _CONVERSIONS
    | {"RowTensor": "ops.sparse.RowTensor"}
    | {"JitConfig": "api.hints.JitConfig"}
    | {"half": "types.float16", "single": "types.float32", "double": "types.float64"},
    "mycelia.common.initializer": {
        "_calculate_correct_fan": "common.initializer.chosen_fan",
        "_assignment": "common.initializer.filled",
        "_calculate_gain": "common.initializer.gain",
        "_calculate_fan_in_and_fan_out": "common.initializer.fans",
    },
}
"""Names that are found elsewhere, by place: element types, which would hide what Python calls so if modules held them,
and families that few need, whose module is loaded when one is asked for.
"""

WITHIN = dict.fromkeys(
    ("mycelia.ops.composite", "mycelia.ops.functional", "mycelia.ops.operations", "mycelia.ops.primitive"),
    "mycelia.ops",
)
"""Modules that hold a part of another one's names in MindSpore: the whole is asked for what a part does not have."""


class Paths:
    """Finds modules that stand for others: those of the table, and ours under the name of another package."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """How to load a module of the table; None for others."""
        top, _, rest = name.partition(".")
        if not rest or sys.modules.get(top) is not sys.modules.get("mycelia"):
            return None
        package, _, child = name.rpartition(".")
        above = getattr(sys.modules.get(package), "__name__", package)
        if above != package and above.startswith("mycelia") and top == "mycelia":  # below one that stands for another
            return ModuleSpec(name, AliasLoader(f"{above}.{child}"), is_package=True)
        if top != "mycelia" or (means(rest) and PathFinder.find_spec(name, path) is None):  # a file of ours comes first
            return ModuleSpec(name, AliasLoader(f"mycelia.{rest}"), is_package=True)
        return None


class AliasLoader(Loader):
    """Loads a module that stands for others."""

    def __init__(self, path: str) -> None:
        self.path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """An empty one, as Python makes it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put what it stands for in its place."""
        self.load(module)
        package, _, child = module.__name__.rpartition(".")
        keep(sys.modules[package], child)

    def load(self, module: ModuleType) -> None:
        """Find what it stands for."""
        if module.__name__ != self.path:  # ours under another name: one module, two names
            sys.modules[module.__name__] = import_module(self.path)
            return
        sources = [import_module(f"mycelia.{s}") for s in means(module.__name__.removeprefix("mycelia.")).split()]
        if len(sources) == 1 and not any(k.startswith(f"{module.__name__[8:]}.") for k in PATHS):
            sys.modules[module.__name__] = sources[0]
            return
        for source in reversed(sources):
            public = getattr(source, "__all__", None) or [n for n in vars(source) if not n.startswith("_")]
            vars(module).update({n: getattr(source, n) for n in public})
        vars(module)["__doc__"] = (
            f"The names of {', '.join(s.__name__ for s in sources)}, as MindSpore's paths have them."
        )
        vars(module)["__getattr__"] = among(module.__name__, sources)


class Keeping(ModuleType):
    """A module that keeps what it has under a name when Python, having loaded a module below it, puts that there."""

    def __setattr__(self, name: str, value: Any) -> None:
        with _lock:
            names = _kept.get(id(self), [])
            if name not in names or not isinstance(value, ModuleType):
                super().__setattr__(name, value)
                return
            names.remove(name)
            if not names:
                object.__setattr__(self, "__class__", ModuleType)


_kept: dict[int, list[str]] = {}  # the names that modules keep, by the identities of the modules
_lock = threading.Lock()


def keep(module: ModuleType, name: str) -> None:
    """Python is about to put a module under a name of another one: what is public there, and no module, stays."""
    found = vars(module).get(name)
    if found is None and name in getattr(module, "__all__", ()):
        found = getattr(module, name)
    if found is None or isinstance(found, ModuleType) or type(module) not in (ModuleType, Keeping):
        return
    with _lock:
        _kept.setdefault(id(module), []).append(name)
        object.__setattr__(module, "__class__", Keeping)


def means(path: str) -> str:
    """The modules that a path below the top stands for; nothing for a path that the table does not have.

    >>> means("common.seed"), means("nn.layer.basic"), means("nn.basic")
    ('api', 'nn', '')
    """
    above, _, child = path.rpartition(".")
    if path in PATHS or child != child.lower() or child.startswith("__"):  # a class is no module
        return PATHS.get(path, "")
    return PATHS.get(f"{above}.*_{child.rpartition('_')[2]}") or PATHS.get(f"{above}.*", "")


def among(name: str, sources: list[ModuleType]) -> Callable[[str], Any]:
    """The `__getattr__` of a module that stands for several: what was not yet there is asked of each."""

    def __getattr__(asked: str) -> Any:
        if not asked.startswith("__"):
            if (found := elsewhere(name, asked)) is not None:
                return found
            for source in sources:
                with suppress(AttributeError, ImportError):  # what is missing is told of as an import's mistake
                    return getattr(source, asked)
        return getattr(sources[0], asked)

    return __getattr__


def elsewhere(place: str, name: str) -> Any:
    """A module of the table, or what an old name is called now; None where there is neither.

    >>> elsewhere("mycelia", "no_such_name") is None
    True
    """
    if place.startswith("mycelia") and means(f"{place}.{name}"[8:]):
        return import_module(f"{place}.{name}")
    short = SHORT.get(place, {}).get(name)
    if short is not None:
        module, _, last = short.rpartition(".")
        return getattr(import_module(f"mycelia.{module}"), last)
    if place in WITHIN and not name.startswith("_"):
        with suppress(AttributeError, ImportError):
            return getattr(import_module(WITHIN[place]), name)
    new = OLD.get(place, {}).get(name)
    if new is None:
        return None
    if (place, name) not in _warned:
        _warned.add((place, name))
        warnings.warn(f"{name} is an old name: it is {new} now", FutureWarning, stacklevel=3)
    module, _, last = new.rpartition(".")
    return getattr(import_module(f"mycelia.{module}") if module else sys.modules["mycelia"], last)


def shorts(place: str) -> list[str]:
    """The names that a module has of others, which are loaded when they are asked for.

    >>> "export" in shorts("mycelia"), shorts("mycelia.nowhere")
    (True, [])
    """
    return [name for name in SHORT.get(place, {}) if not name.startswith("_")]


_warned: set[tuple[str, str]] = set()


def install() -> None:
    """Let Python find the modules of the table."""
    if all(getattr(finder, "__module__", "") != Paths.__module__ for finder in sys.meta_path):
        sys.meta_path.insert(0, Paths)
    for path in PATHS:  # a module of ours that has modules of the table below it
        above = sys.modules.get(f"mycelia.{path.rpartition('.')[0]}")
        if above is not None and not hasattr(above, "__path__"):
            above.__path__ = []
