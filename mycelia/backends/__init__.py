"""Back ends: what compiles functions and runs them."""

from mycelia.backends.backend import (
    NATIVE,
    Backend,
    Executable,
    backend,
    backends,
    home,
    register,
    unregister,
    usable,
)
from mycelia.backends.iree import HOST, Iree
from mycelia.backends.native import Native
from mycelia.backends.xla import Xla

register(Native())
register(Xla())
register(Iree("iree", "llvm-cpu", "local-task", HOST))
register(Iree("iree-vulkan", "vulkan-spirv", "vulkan"))

__all__ = ["NATIVE", "Backend", "Executable", "backend", "backends", "home", "register", "unregister", "usable"]
