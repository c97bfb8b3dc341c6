"""Eager mode: tensors that compute at once, and the tape that differentiates what they did."""

from mycelia.eager import dispatch, indexing, large, operators
from mycelia.eager.backward import derive_back, pull_back
from mycelia.eager.dispatch import Concrete
from mycelia.eager.forward import push_forward
from mycelia.eager.parameter import Parameter, ParameterTuple, assign
from mycelia.eager.promotion import as_dtype, common, floating
from mycelia.eager.random import REFUSED, Generator, default_generator, seeded
from mycelia.eager.tape import Recording, Tape
from mycelia.eager.tensor import Tensor, as_value, cast, created, from_numpy, is_late, tensor, wrap

__all__ = [
    "REFUSED",
    "Concrete",
    "Generator",
    "Parameter",
    "ParameterTuple",
    "Recording",
    "Tape",
    "Tensor",
    "as_dtype",
    "as_value",
    "assign",
    "cast",
    "common",
    "created",
    "default_generator",
    "derive_back",
    "dispatch",
    "floating",
    "from_numpy",
    "indexing",
    "is_late",
    "large",
    "operators",
    "pull_back",
    "push_forward",
    "seeded",
    "tensor",
    "wrap",
]
