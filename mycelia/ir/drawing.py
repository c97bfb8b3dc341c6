"""A function as a picture: SVG that needs nothing else.

Values are boxes, below what they read. Lines are data; dashed ones are order: what happens before what. What has an
effect has a red border, and its place in the order. A function inside an op (a branch, the body of a loop) is a box in
its box. Numbers that depend on nothing stand inside the ops that read them, and a parameter that is read in several
places stands at each of them. The pointer over a box shows all about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from html import escape
from itertools import pairwise
from typing import Any

from mycelia.frozen import frozen
from mycelia.ir.function import Function
from mycelia.ir.layered import Placed, Point, place
from mycelia.ir.op import Lowered, Op, Project
from mycelia.ir.value import Value
from mycelia.notation import type_text
from mycelia.types import TupleType

LETTER, LINE, PAD = 6.7, 15.0, 9.0  # of a monospaced font of 11 pixels
NEAR = 4  # layers: readers of a parameter that are further apart have a box of it each
SHORT = 26  # letters of attributes that are shown in a box
KINDS = {
    None: "element",
    Lowered.FOLD: "fold",
    Lowered.STEP: "step",
    Lowered.DATA: "data",
    Lowered.CALLED: "inside",
}
STYLE = """
text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: #1d2733; text-anchor: middle }
.type { fill: #6b7785; font-size: 10px }
.title { fill: #6b7785; font-size: 10px; text-anchor: start }
rect { stroke: #aab4bf; stroke-width: 1; rx: 5 }
.paper { fill: #ffffff; stroke: none; rx: 0 }
.param { fill: #e8effc; stroke: #7f9fd8 }
.result { fill: #e3f4e6; stroke: #6fb47c }
.element { fill: #ffffff }
.fold { fill: #fff6de; stroke: #d8b45f }
.step { fill: #efe9fb; stroke: #9c86cf }
.data { fill: #f2f4f6 }
.inside { fill: #fbfcfd; stroke-dasharray: 2 2 }
.effect { stroke: #cc3b3b; stroke-width: 2 }
.line { fill: none; stroke: #98a3af; stroke-width: 1.1 }
.order { fill: none; stroke: #cc3b3b; stroke-width: 1.4; stroke-dasharray: 5 4 }
"""


@frozen
class Picture:
    """Something drawn, from its left upper corner on."""

    width: float
    height: float
    svg: str


def draw(fn: Function) -> str:
    """The picture of a function, as SVG.

    >>> from mycelia.types import TensorType, float32
    >>> picture = draw(Function.build(lambda x: x, TensorType(float32, (2,))))
    >>> picture.startswith("<svg "), "f32[2]" in picture
    (True, True)
    """
    inside = _function(fn)
    width, height = inside.width + 4 * PAD, inside.height + 4 * PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">\n<style>{STYLE}</style>\n'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,1 L7,4 L0,7 z" fill="#98a3af"/></marker></defs>\n'
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>\n'
        f"{_moved(inside, 2 * PAD, 2 * PAD)}\n</svg>\n"
    )


def _function(fn: Function) -> Picture:
    """The boxes of a function and the lines between them."""
    ops = [v for v in fn.values() if v not in fn.params and not (_is_leaf(v) or isinstance(v.op, Project))]
    number: dict[Value, int] = {v: i for i, v in enumerate(ops)}
    order = [(number[a], number[b]) for a, b in pairwise(fn.effects)]
    read = [(_source(x), i) for i, v in enumerate(ops) for x in v.inputs]
    read += [(_source(r), len(ops) + i) for i, r in enumerate(fn.results)]
    pictures = [_op_box(v, fn) for v in ops] + [_result_box(i, r) for i, r in enumerate(fn.results)]
    data = [(number[x], i) for x, i in read if x in number]
    ranks = _ranks(len(pictures), [*data, *order])
    lines, weights = [*order, *data], [*[0.2] * len(order), *[1.0] * len(data)]
    for p, param in enumerate(fn.params):
        readers = [i for x, i in read if x is param]
        for group in _groups(readers, ranks):
            lines += [(len(pictures), i) for i in group]
            weights += [0.15] * len(group)
            ranks.append(min((ranks[i] for i in group), default=1) - 1)
            pictures.append(_text_box([f"%{p}", type_text(param.type)], "param", f"parameter {p}"))
    lowest = min(ranks, default=0)
    placed = place([(p.width, p.height) for p in pictures], [r - lowest for r in ranks], lines, weights)
    arrivals = _arrivals(lines[len(order) :], read, pictures, placed)
    drawn = []
    for n, (a, b) in enumerate(lines):
        begin = placed.corners[a][0] + pictures[a].width / 2, placed.corners[a][1] + pictures[a].height
        part = 0.5 if n < len(order) else arrivals[n - len(order)]
        end = placed.corners[b][0] + pictures[b].width * part, placed.corners[b][1]
        drawn.append(_curve(begin, placed.ends[n], placed.passes[n], end, "order" if n < len(order) else "line"))
    boxes = [_moved(p, *at) for p, at in zip(pictures, placed.corners, strict=True)]
    return Picture(placed.width, placed.height, "\n".join([*drawn, *boxes]))


def _ranks(count: int, lines: list[tuple[int, int]]) -> list[int]:
    """The layer of each box: below all that it reads, and no higher than it must where it reads nothing."""
    ranks, left = [1] * count, [0] * count
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in lines:
        below[a].append(b)
        left[b] += 1
    first = [i for i in range(count) if not left[i]]
    ready = list(first)
    while ready:
        a = ready.pop()
        for b in below[a]:
            ranks[b] = max(ranks[b], ranks[a] + 1)
            left[b] -= 1
            if not left[b]:
                ready.append(b)
    for i in first:
        ranks[i] = min((ranks[b] for b in below[i]), default=2) - 1
    return ranks


def _groups(readers: list[int], ranks: list[int]) -> list[list[int]]:
    """Readers of a parameter that share a box of it: those on layers that are not far apart."""
    groups: list[list[int]] = []
    for i in sorted(readers, key=lambda i: ranks[i]):
        if groups and ranks[i] - ranks[groups[-1][0]] <= NEAR:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups or [[]]


def _arrivals(
    lines: list[tuple[int, int]], read: list[tuple[Value, int]], pictures: list[Picture], placed: Placed
) -> list[float]:
    """Where each line meets the upper side of its box, as a part of its width: from left to right as they come."""
    towards: dict[int, list[int]] = {}
    for n, (_, b) in enumerate(lines):
        towards.setdefault(b, []).append(n)
    found = [0.5] * len(lines)
    skipped = len(placed.ends) - len(lines)

    def comes_from(n: int) -> float:
        passes, a = placed.passes[skipped + n], lines[n][0]
        return passes[-1][0] if passes else placed.corners[a][0] + pictures[a].width / 2

    for arriving in towards.values():
        for i, n in enumerate(sorted(arriving, key=comes_from)):
            found[n] = (i + 1) / (len(arriving) + 1)
    return found


def _is_leaf(v: Value) -> bool:
    """Whether a value depends on nothing: it stands in the boxes of its readers."""
    return isinstance(v.op, Op) and not v.inputs


def _source(v: Value) -> Value:
    """The value whose box a value comes from."""
    return v.inputs[0] if isinstance(v.op, Project) else v


# ------------------------------------------------------------------------------------------------ boxes


def _op_box(v: Value, fn: Function) -> Picture:
    assert isinstance(v.op, Op), f"{v} is a parameter of another function"
    style = KINDS[v.op.native] if isinstance(v.op.native, Lowered) else "element"
    head = v.op.name + "".join(f" {_leaf(x)}" for x in v.inputs if _is_leaf(x))
    if v in fn.effects:
        style, head = f"{style} effect", f"{head} !{fn.effects.index(v) + 1}"
    types = v.type.elements if isinstance(v.type, TupleType) else (v.type,)
    inner = _functions(v.op)
    said = "" if inner else ", ".join(f"{k}={_brief(a)}" for k, a in v.op.attributes().items())
    lines = [head, *([said] if 0 < len(said) <= SHORT else []), _shortened(", ".join(map(type_text, types)) or said)]
    return _nested(lines, style, _about(v), inner) if inner else _text_box(lines, style, _about(v))


def _result_box(i: int, v: Value) -> Picture:
    head = f"return {_leaf(v)}" if _is_leaf(v) else f"return {i}"
    return _text_box([head, type_text(v.type)], "result", f"result {i}")


def _text_box(lines: list[str], style: str, about: str) -> Picture:
    width = max(len(line) for line in lines) * LETTER + 2 * PAD
    height = len(lines) * LINE + PAD
    texts = [
        f'<text x="{width / 2:.1f}" y="{LINE * (i + 1):.1f}"{_kind(i, lines)}>{escape(line)}</text>'
        for i, line in enumerate(lines)
    ]
    rect = f'<rect class="{style}" width="{width:.1f}" height="{height:.1f}"/>'
    return Picture(width, height, f"<g><title>{escape(about)}</title>{rect}{''.join(texts)}</g>")


def _kind(i: int, lines: list[str]) -> str:
    return ' font-weight="600"' if i == 0 else ' class="type"' if i == len(lines) - 1 else ""


def _nested(lines: list[str], style: str, about: str, inner: list[tuple[str, Function]]) -> Picture:
    """A box with the functions of an op side by side in it."""
    parts, at = [], PAD
    top = LINE * len(lines) + 1.5 * PAD
    tall = 0.0
    for name, fn in inner:
        picture = _function(fn)
        width, height = max(picture.width, len(name) * LETTER) + 2 * PAD, picture.height + 2 * PAD + LINE
        frame = f'<rect class="inside" width="{width:.1f}" height="{height:.1f}"/>'
        title = f'<text class="title" x="{PAD}" y="{LINE:.1f}">{escape(name)}</text>'
        body = _moved(picture, PAD + (width - 2 * PAD - picture.width) / 2, LINE + PAD)
        parts.append(_moved(Picture(width, height, frame + title + body), at, top))
        at += width + PAD
        tall = max(tall, height)
    width = max(at, max(map(len, lines)) * LETTER + 2 * PAD)
    height = top + tall + PAD
    texts = [
        f'<text x="{width / 2:.1f}" y="{LINE * (i + 1):.1f}"{_kind(i, lines)}>{escape(line)}</text>'
        for i, line in enumerate(lines)
    ]
    rect = f'<rect class="{style}" width="{width:.1f}" height="{height:.1f}"/>'
    return Picture(width, height, f"<g><title>{escape(about)}</title>{rect}{''.join(texts)}{''.join(parts)}</g>")


def _functions(op: Op) -> list[tuple[str, Function]]:
    """The functions among the attributes of an op, with their names."""
    found: list[tuple[str, Function]] = []

    def visit(name: str, a: Any) -> None:
        if isinstance(a, Function):
            found.append((name, a))
        elif isinstance(a, tuple):
            names = [x for x in a if isinstance(x, str)]
            for x in a:
                visit(names[0] if names else name, x)

    for f in fields(op):
        visit(f.name, getattr(op, f.name))
    return found


def _leaf(v: Value) -> str:
    """What depends on nothing, in a word: the number, or what kind of thing it is."""
    assert isinstance(v.op, Op), f"{v} is a parameter"
    first = next(iter(v.op.attributes().values()), "")
    return f"{first:.4g}" if isinstance(first, int | float) else v.op.name


def _about(v: Value) -> str:
    attributes = ", ".join(f"{k}={_brief(a)}" for k, a in v.op.attributes().items()) if isinstance(v.op, Op) else ""
    where = f"\n{v.location}" if v.location is not None else ""
    return f"{v.op.name if isinstance(v.op, Op) else v.op}[{attributes}]: {type_text(v.type)}{where}"


def _brief(a: Any) -> str:
    if isinstance(a, tuple) and any(isinstance(x, Function | tuple) and not isinstance(x, str) for x in a):
        return f"({', '.join(map(_brief, a))})"
    return "fn" if isinstance(a, Function) else _shortened(str(a))


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * SHORT else text[: 2 * SHORT - 1] + "…"


# ------------------------------------------------------------------------------------------------ lines


def _moved(picture: Picture, x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f},{y:.1f})">{picture.svg}</g>'


def _curve(begin: Point, leaves: float, passes: Sequence[tuple[float, float, float]], end: Point, style: str) -> str:
    """A line from a box to another: straight down where it passes layers, and curved between them."""
    x, y = begin[0], leaves
    path = f"M{begin[0]:.1f},{begin[1]:.1f} V{leaves:.1f}"
    for across, top, bottom in [*passes, (end[0], end[1], end[1])]:
        bend = (top - y) * 0.6
        path += f" C{x:.1f},{y + bend:.1f} {across:.1f},{top - bend:.1f} {across:.1f},{top:.1f} V{bottom:.1f}"
        x, y = across, bottom
    return f'<path class="{style}" d="{path}" marker-end="url(#arrow)"/>'
