"""Hooks: what is called before and after a cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell

Hook = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class HookHandle:
    """A hook that was registered with a cell, and can be removed."""

    cell: Cell
    hook: Hook
    with_kwargs: bool

    def remove(self) -> None:
        """Call the hook no more."""
        self.cell._before = tuple(h for h in self.cell._before if h is not self)
        self.cell._after = tuple(h for h in self.cell._after if h is not self)

    def before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the hook wants them."""
        if self.with_kwargs:
            both = self.hook(self.cell, args, kwargs)
            return (args, kwargs) if both is None else both
        got = self.hook(self.cell, args)
        return (args if got is None else got if isinstance(got, tuple) else (got,)), kwargs

    def after(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
        """The result as the hook wants it."""
        got = self.hook(self.cell, args, kwargs, out) if self.with_kwargs else self.hook(self.cell, args, out)
        return out if got is None else got
