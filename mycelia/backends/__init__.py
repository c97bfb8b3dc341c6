"""Back ends: what compiles functions and runs them."""

from mycelia.backends.backend import (
    NATIVE,
    Backend,
    Executable,
    backend,
    backends,
    home,
    known,
    register,
    unregister,
    usable,
)
from mycelia.backends.native import Native

register(Native())

__all__ = [
    "NATIVE",
    "Backend",
    "Executable",
    "backend",
    "backends",
    "home",
    "known",
    "register",
    "unregister",
    "usable",
]
