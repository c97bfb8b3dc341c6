"""Signatures of MindSpore's functions, operations and layers beside ours.

    python tests/compat/signatures.py FOLDER     take MindSpore's anew from lists in this folder (see docs/coverage.py)
    python tests/compat/signatures.py            write down where ours differ

`recorded/signatures.tsv` holds MindSpore's: place, name, signature. `recorded/deviations.tsv` holds where ours differ,
in what and why; the test next to this file lets no other difference in, and none of these go unnoticed.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "recorded"
PLACES = ("mindspore.ops",)


def take(folder: Path) -> None:
    """Record MindSpore's signatures from a list of them."""
    place, rows = "", set()
    for line in (folder / "api_names.tsv").read_text().splitlines():
        if line.startswith("# "):
            place = line[2:].split(" (")[0]
        elif place in PLACES and line.count("\t") >= 2:
            name, _, signature = line.split("\t")[:3]
            found = parsed(signature)
            if found is not None:
                rows.add(f"{place}\t{name}\t{', '.join(found)}")
    (HERE / "signatures.tsv").write_text("\n".join(sorted(rows)) + "\n")


def parsed(signature: str) -> list[str] | None:
    """The parameters of a written signature, each with its default; None where it does not tell.

    >>> parsed("(x, axis=-1, *, dtype=mindspore.int32)")
    ['x', 'axis=-1', '*', 'dtype=int32']
    """
    text = signature.split(" -> ")[0].replace("mindspore.", "")
    text = re.sub(r"<[^>]*>", "'?'", text)
    try:
        arguments = ast.parse(f"def f{text}: pass").body[0].args  # type: ignore[attr-defined]
    except SyntaxError:
        return None
    if arguments.vararg is not None and arguments.kwarg is not None:
        return None
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    out = [_one(a.arg, d) for a, d in zip(plain, defaults, strict=True) if a.arg != "self"]
    if arguments.vararg is not None:
        out.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        out.append("*")
    return out + [_one(a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def _one(name: str, default: Any) -> str:
    return name if default is None else f"{name}={ast.unparse(default)}"


def ours(place: str, name: str) -> list[str] | None:
    """The parameters of what has this name here; None where there is nothing, or nothing to be called."""
    thing = getattr(import_module(place.replace("mindspore", "mycelia")), name, None)
    if not callable(thing):
        return None
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    kept = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    return parsed(str(signature.replace(parameters=kept, return_annotation=signature.empty)))


def difference(theirs: list[str], mine: list[str]) -> str:
    """In what two signatures differ; empty if in nothing that a caller notices.

    >>> difference(["x", "axis=0"], ["x", "axis=1", "more=2"])
    'axis is 1 by default, not 0; more: more'
    """
    a, b = (dict(p.partition("=")[::2] for p in s if not p.startswith("*")) for s in (theirs, mine))
    told = []
    lacking, more = [n for n in a if n not in b], [n for n in b if n not in a]
    if lacking:
        told.append(f"lacks {', '.join(lacking)}")
    both = [n for n in a if n in b]
    if both != [n for n in b if n in a]:
        told.append(f"order: {', '.join(n for n in b if n in a)}")
    told += [
        f"{n} is {b[n] or 'needed'}{' by default' * bool(b[n])}, not {a[n] or 'needed'}"
        for n in both
        if a[n] != b[n] and "?" not in a[n]
    ]
    if more:
        told.append(f"more: {', '.join(more)}")
    return "; ".join(told)


def deviations() -> list[str]:
    """Where ours differ from those that are recorded."""
    rows = []
    for line in (HERE / "signatures.tsv").read_text().splitlines():
        place, name, text = line.split("\t")
        mine = ours(place, name)
        if mine is not None and (told := difference(parsed(f"({text})") or [], mine)):
            rows.append(f"{place}\t{name}\t{told}\t{REASONS.get(name) or reason(told)}")
    return rows


REASONS = {
    **dict.fromkeys(
        (
            "AllGather",
            "AllReduce",
            "AlltoAll",
            "Barrier",
            "Broadcast",
            "CollectiveGather",
            "CollectiveScatter",
            "Reduce",
            "ReduceScatter",
            "all_reduce",
        ),
        "a group of processes has no name of Huawei's library",
    ),
    "vmap": "who draws random numbers says for whom",
}


def reason(told: str) -> str:
    """Why, where nothing else is said: ours takes more, says the same in other words, or is to be mended.

    >>> reason("more: generator"), reason("lacks x; more: input")
    ('ours takes more', 'to mend')
    """
    if "lacks" not in told and "needed" not in told and "by default" not in told:
        return "ours takes more"
    return "an element type by its name" if "' by default, not" in told else "to mend"


def main() -> None:
    """Take or compare."""
    if len(sys.argv) > 1:
        take(Path(sys.argv[1]))
    (HERE / "deviations.tsv").write_text("\n".join(deviations()) + "\n")


if __name__ == "__main__":
    main()
