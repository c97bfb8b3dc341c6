"""Eager mode: tensors that compute at once, and the tape that differentiates what they did."""

from mycelia.eager import dispatch, operators
from mycelia.eager.backward import derive_back, pull_back
from mycelia.eager.dispatch import Concrete
from mycelia.eager.promotion import as_dtype
from mycelia.eager.tape import Recording, Tape
from mycelia.eager.tensor import Tensor, as_value, cast, created, wrap

__all__ = [
    "Concrete",
    "Recording",
    "Tape",
    "Tensor",
    "as_dtype",
    "as_value",
    "cast",
    "created",
    "derive_back",
    "dispatch",
    "operators",
    "pull_back",
    "wrap",
]
