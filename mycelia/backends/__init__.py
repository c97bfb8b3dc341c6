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
from mycelia.backends.native import NativeBackend

register(NativeBackend())

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
