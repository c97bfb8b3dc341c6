"""What turns functions into other functions: gradients, tangents, vectorisation; and the settings of a session."""

from functools import partial as _partial
from importlib import import_module as _import_module

from mycelia import degradations
from mycelia.api.context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    get_context,
    get_rng_state,
    get_seed,
    initial_seed,
    manual_seed,
    seed,
    set_context,
    set_rng_state,
    set_seed,
)
from mycelia.api.devices import Device, get_current_device, set_device
from mycelia.api.grad import GradOperation, get_grad, grad, value_and_grad, vjp
from mycelia.api.jacobian import hessian, hvp, jacfwd, jacobian, jacrev, jvp, vhp
from mycelia.api.jit import enable_dynamic, jit
from mycelia.api.mutable import mutable
from mycelia.api.options import faults, options
from mycelia.api.recompute import recompute
from mycelia.api.vectorize import vmap
from mycelia.capture.registered import registers as _registers
from mycelia.eager import large

large.install(options)
degradations.install(faults())
for _name in ("models", "given_models", "recompute_models"):
    _registers(_partial(_import_module, f"mycelia.api.{_name}"))

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "Device",
    "GradOperation",
    "enable_dynamic",
    "get_context",
    "get_current_device",
    "get_grad",
    "get_rng_state",
    "get_seed",
    "grad",
    "hessian",
    "hvp",
    "initial_seed",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "manual_seed",
    "mutable",
    "recompute",
    "seed",
    "set_context",
    "set_device",
    "set_rng_state",
    "set_seed",
    "value_and_grad",
    "vhp",
    "vjp",
    "vmap",
]
