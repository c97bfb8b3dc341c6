"""Mycelia: a deep-learning framework, Python all the way down to LLVM.

>>> import mycelia as ms
>>> from mycelia import nn, ops
>>> net = nn.Dense(3, 1, weight_init="ones", bias_init="zeros")
>>> ms.grad(lambda x: ops.sum(net(x)))(ms.Tensor([[1.0, 2.0, 3.0]]))
Tensor(shape=[1, 3], dtype=Float32, value=
[[ 1.00000000e+00,  1.00000000e+00,  1.00000000e+00]])
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia import platform_check as _platform_check  # noqa: F401  # first: the rest could not be loaded elsewhere

# isort: split
from mycelia import api as _api
from mycelia import common, errors, nn, ops, runtime, train, types
from mycelia import names as _names
from mycelia import tracebacks as _tracebacks
from mycelia import types as dtype
from mycelia.api import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    GradOperation,
    context,
    enable_dynamic,
    get_context,
    get_current_device,
    get_grad,
    get_rng_state,
    get_seed,
    grad,
    hessian,
    hvp,
    initial_seed,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    manual_seed,
    mutable,
    recompute,
    seed,
    set_context,
    set_device,
    set_rng_state,
    set_seed,
    value_and_grad,
    vhp,
    vjp,
    vmap,
)
from mycelia.api.jit import jit
from mycelia.degradations import report
from mycelia.eager import Generator, Parameter, ParameterTuple, Tensor, default_generator, from_numpy, tensor
from mycelia.eager import own_operators as _own_operators
from mycelia.types import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__version__ = "0.1.0"

_own_operators.of_tensors.notice()  # all of ours stand on the classes now
_own_operators.of_parameters.notice()
_tracebacks.install()
_names.explain_modules()
_names.know_paths()
_names.explain_missing(
    _api,
    context,
    common,
    common.initializer,
    nn,
    nn.wrap,
    ops,
    ops.composite,
    ops.primitive,
    runtime,
    train,
    types,
)
_missing = _names.missing_in("mycelia")

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "Generator",
    "GradOperation",
    "Model",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "__version__",
    "amp",
    "bfloat16",
    "bool_",
    "common",
    "complex64",
    "complex128",
    "context",
    "data_sink",
    "dataset",
    "default_generator",
    "dtype",
    "enable_dynamic",
    "errors",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "get_context",
    "get_current_device",
    "get_grad",
    "get_rng_state",
    "get_seed",
    "grad",
    "hessian",
    "hvp",
    "initial_seed",
    "int8",
    "int16",
    "int32",
    "int64",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "load_checkpoint",
    "load_param_into_net",
    "manual_seed",
    "mutable",
    "nn",
    "ops",
    "recompute",
    "report",
    "save_checkpoint",
    "seed",
    "set_context",
    "set_device",
    "set_rng_state",
    "set_seed",
    "tensor",
    "train",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "value_and_grad",
    "vhp",
    "vjp",
    "vmap",
]


_LATER = (
    "amp", "communication", "dataset", "device_context", "experimental", "hal", "log", "mindrecord", "mint", "models",
    "numpy", "parallel", "profiler", "rewrite", "scipy",
)  # fmt: skip
_OTHERS = ("Profiler", "backends", "runtime", "set_recursion_limit")
_TRAINS = [name for name in train.__all__ if name not in train.OURS]
__dir__ = _names.offered("mycelia", _LATER, _OTHERS, _TRAINS)


def __getattr__(name: str) -> _Any:
    """The data engine, and what trains, is loaded when it is first asked for; other names are missing."""
    if name in _LATER:
        return _import_module(f"mycelia.{name}")
    if name == "set_recursion_limit":
        return _import_module("mycelia.api.context").set_recursion_limit
    if name == "Profiler":
        return _import_module("mycelia.profiler").Profiler
    if name in train.__all__ and name not in train.OURS:
        return getattr(train, name)
    return _missing(name)
