"""Tensors as notebooks show them: their type, and their numbers as a table."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from mycelia.types import Array

EDGE = 4  # rows and columns at either end of a table that leaves some out
ALL = 2 * EDGE + 2  # rows and columns that are shown without leaving any out


def table(title: str, array: Array) -> str:
    """An array of at most two axes as a table, of others as text; in the middle of long ones some are left out.

    >>> table("Tensor", np.array([1.5, 2.0], "f"))
    '<div><b>Tensor</b> (2,) float32</div><table><tr><td>1.5</td><td>2</td></tr></table>'
    """
    head = f"<div><b>{escape(title)}</b> {array.shape} {array.dtype}</div>"
    if array.ndim > 2 or not array.size:
        return f"{head}<pre>{escape(np.array2string(array, threshold=200, edgeitems=2, precision=4))}</pre>"
    whole = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    rows = [
        "".join("<td>…</td>" if column is None else f"<td>{_number(whole[row, column])}</td>" for column in columns)
        if row is not None
        else "<td>…</td>" * len(columns)
        for columns in [_places(whole.shape[1])]
        for row in _places(whole.shape[0])
    ]
    return f"{head}<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _places(length: int) -> list[int | None]:
    """Which of so many are shown; None stands for those that are not.

    >>> _places(3), _places(100)
    ([0, 1, 2], [0, 1, 2, 3, None, 96, 97, 98, 99])
    """
    if length <= ALL:
        return list(range(length))
    return [*range(EDGE), None, *range(length - EDGE, length)]


def _number(x: Any) -> str:
    return f"{complex(x):.5g}" if np.iscomplexobj(x) else f"{float(x):.5g}" if x.dtype.kind not in "biu" else str(x)
