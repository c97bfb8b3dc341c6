"""A profile as a file: a trace for other tools, or a page that needs nothing but a browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mycelia.errors import ArgumentError

if TYPE_CHECKING:
    from mycelia.api.profiling import TimeProfile

MOST = 2000  # events on the page: the first ones
COLOURS = {
    "kernel": "#4c8bf5", "library": "#7a5cc9", "copy": "#9aa0a6", "control": "#c9a227", "call": "#dfe6ee",
    "input": "#d9534f", "compile": "#8a6d3b", "user": "#3c9d5d", "step": "#cfe8d5",
}  # fmt: skip

STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #202124 }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin-top: 2em }
table { border-collapse: collapse; width: 100% } td, th { padding: .2em .6em; border-bottom: 1px solid #e3e6ea }
th { text-align: left; cursor: pointer } td.number { text-align: right; font-variant-numeric: tabular-nums }
code { font: 13px ui-monospace, monospace } .bar { background: #4c8bf5; height: .7em; display: inline-block }
#timeline { width: 100%; border: 1px solid #e3e6ea; overflow-x: auto } #told { min-height: 3em; white-space: pre-wrap }
"""

SCRIPT = """
const shown = document.getElementById("told");
for (const r of document.querySelectorAll("rect[data-told]"))
  r.addEventListener("mouseenter", () => { shown.textContent = r.dataset.told; });
for (const head of document.querySelectorAll("th"))
  head.addEventListener("click", () => {
    const at = [...head.parentNode.children].indexOf(head), body = head.closest("table").tBodies[0];
    const key = row => { const d = row.children[at].dataset.by; return d === undefined ? NaN : Number(d); };
    const rows = [...body.rows].sort((a, b) => isNaN(key(a))
      ? a.children[at].textContent.localeCompare(b.children[at].textContent) : key(b) - key(a));
    body.append(...rows);
  });
"""


def written(profile: TimeProfile, path: str) -> str:
    """Write a profile to a file, as its ending says; gives the path."""
    kind = Path(path).suffix
    if kind not in (".json", ".html"):
        raise ArgumentError(f"a profile is written to a .json or an .html file, not to {path!r}")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(profile.trace()) if kind == ".json" else page(profile), encoding="utf-8")
    return path


def page(profile: TimeProfile) -> str:
    """The page: a timeline, the steps, the lines."""
    head = "<br>".join(escape(" ".join(line.split())) for line in str(profile).split("\n\n", 1)[0].splitlines())
    steps = [
        (
            (f"{s.seconds * 1e3:.3f}", s.seconds),
            (f"{s.runs}", s.runs),
            (f"{s.nbytes / 2**20:.2f}", s.nbytes),
            (f"{s.products / 1e6:.2f}", s.products),
            (s.of_peak, s.share),
            (s.kind, None),
            (s.name + ("" if s.outermost else " (inside)"), None),
            ("; ".join(dict.fromkeys(s.lines)), None),
        )
        for s in profile.steps
    ]
    lines = [
        ((f"{x.seconds * 1e3:.3f}", x.seconds), (f"{x.share:.1%}", x.share), (x.line, None)) for x in profile.lines
    ]
    titles = ("ms in all", "runs", "MiB moved", "million products", "of peak", "kind", "step", "lines")
    return "\n".join([
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Profile</title>",
        f"<style>{STYLE}</style></head><body><h1>Profile</h1><p>{head}</p>",
        "<h2>When</h2>", timeline(profile.trace()["traceEvents"]), "<p id='told'></p>",
        "<h2>Steps</h2>", table(titles, steps),
        "<h2>Your lines</h2>", table(("ms in all", "share", "line"), lines),
        f"<script>{SCRIPT}</script></body></html>",
    ])  # fmt: skip


def table(titles: tuple[str, ...], rows: Sequence[tuple[tuple[str, float | None], ...]]) -> str:
    """Rows of texts, each with the number that it is sorted by, if there is one.

    >>> table(("n",), [(("3", 3.0),)])
    "<table><thead><tr><th>n</th></tr></thead><tbody><tr><td class='number' data-by='3.0'>3</td></tr></tbody></table>"
    """

    def cell(text: str, by: float | None) -> str:
        if by is None:
            return f"<td><code>{escape(text)}</code></td>"
        return f"<td class='number' data-by='{by}'>{escape(text)}</td>"

    head = "".join(f"<th>{escape(t)}</th>" for t in titles)
    body = "".join(f"<tr>{''.join(cell(*c) for c in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def timeline(events: list[dict[str, Any]]) -> str:
    """Events as a picture: calls and user's marks above, steps below, each thread in two rows.

    It begins with the first of them that does more than compile, which takes longer than many calls.

    >>> call = {"name": "f", "cat": "call", "ts": 500.0, "dur": 10.0, "tid": 0, "args": {}}
    >>> timeline([{**call, "cat": "compile", "ts": 0.0, "dur": 500.0}, call]).count("<rect")
    1
    """
    events = sorted(events, key=itemgetter("ts"))
    first = next((float(e["ts"]) for e in events if e["cat"] != "compile"), 0.0)
    events = [e for e in events if e["ts"] >= first][:MOST]
    last = max((e["ts"] + e["dur"] - first for e in events), default=1.0) or 1.0
    threads = {t: n for n, t in enumerate(dict.fromkeys(e["tid"] for e in events))}
    parts = []
    for e in events:
        row = 2 * threads[e["tid"]] + (e["cat"] in ("kernel", "library", "copy", "control"))
        told = escape(f"{e['name']}\n{e['dur'] / 1e3:.3f} ms\n{'; '.join(e['args'].get('lines', ()))}", quote=True)
        x, width = 1000 * (e["ts"] - first) / last, max(1000 * e["dur"] / last, 0.3)
        colour = COLOURS.get(e["cat"], "#9aa0a6")
        parts.append(f"<rect x='{x:.2f}' y='{22 * row + 2}' width='{width:.2f}' height='18' fill='{colour}'"
                     f" data-told='{told}'><title>{told}</title></rect>")  # fmt: skip
    height = 44 * max(len(threads), 1)
    picture = f"<svg viewBox='0 0 1000 {height}' preserveAspectRatio='none' width='100%' height='{height}'>"
    return f"<div id='timeline'>{picture}{''.join(parts)}</svg></div>"
