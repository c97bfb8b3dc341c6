"""The processor at hand, by machine code with a clock in it: what a session runs on while somebody measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mycelia.backends.backend import Executable
from mycelia.backends.native import NativeBackend
from mycelia.degradations import subject
from mycelia.ir import Function
from mycelia.options import Options
from mycelia.spans import span

if TYPE_CHECKING:
    from mycelia.runtime.clocked import ClockedCall


class ClockedBackend(NativeBackend):
    """The native back end, whose programs tell `listen` of every call. Programs of the native one are not touched: what
    is compiled for one back end is no other's.
    """

    def __init__(self, listen: Callable[[ClockedCall], None]) -> None:
        self.listen = listen

    def compile(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        from mycelia.runtime.clocked import clocked  # loaded when something is compiled

        with span(f"compile {subject().name}", "compile"):
            return clocked(fn, donated, replace(options, clocked=True), self.listen)
