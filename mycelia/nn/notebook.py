"""Networks as notebooks show them: a tree that opens and closes, with the weights of each part."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell


def tree(cell: Cell, name: str = "", opened: bool = True) -> str:
    """A cell and those inside it.

    >>> from mycelia.nn import Dense, ReLU
    >>> tree(ReLU(), "act"), tree(Dense(2, 1))[:21]
    ('<div>act: <b>ReLU</b></div>', '<div><b>Dense</b> inp')
    """
    count = sum(p.size for p in cell.get_parameters())
    shown = escape(cell.extend_repr())
    parts = [f"{escape(name)}:" if name else "", f"<b>{escape(cell.cls_name)}</b>", shown]
    parts.append(f"({count:,} weights)" if count else "")
    line = " ".join(filter(None, parts))
    if not cell._cells:
        return f"<div>{line}</div>"
    inside = "".join(tree(child, key, False) for key, child in cell._cells.items() if child is not None)
    state = " open" if opened else ""
    return f'<details{state}><summary>{line}</summary><div style="margin-left:1.5em">{inside}</div></details>'
