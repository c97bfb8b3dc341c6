"""Programs are kept under a name that tells all that they depend on: whatever is another way, the name is another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.ir import Function
from mycelia.options import Options
from mycelia.runtime import link, warm
from mycelia.types import TensorType, float32, float64

X = TensorType(float32, (3,))
BASE = replace(options(), cache=Path("nowhere"), warm=True)
DOUBLE = Function.build(lambda x, y: (x + y, x * y), X, X)


def key(fn: Function = DOUBLE, donated: dict[int, int] | None = None, given: Options = BASE) -> str | None:
    return warm.key_of(fn, donated or {}, given)


def leaves(x: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where a value of options, of the machine or of wishes stands."""
    for f in fields(x):
        inner = getattr(x, f.name)
        yield from leaves(inner, (*path, f.name)) if is_dataclass(inner) else [(*path, f.name)]


def changed(x: Any, path: tuple[str, ...]) -> Any:
    """`x` with another value at one place."""
    name, *rest = path
    value = getattr(x, name)
    return replace(x, **{name: changed(value, tuple(rest)) if rest else other(name, value)})


def other(name: str, value: Any) -> Any:
    if name == "keep":
        return "dots"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return {str: lambda: value + "x", frozenset: lambda: value | {"x"}, type(None): lambda: 7}[type(value)]()


DEPENDS = [path for path in leaves(BASE) if path[0] not in warm.UNIMPORTANT]


@pytest.mark.many("path", DEPENDS, ids=".".join)
def test_each_option_is_part_of_the_name(path):
    assert key(given=changed(BASE, path)) != key()


def test_the_function_what_it_takes_over_and_the_versions_are_parts_of_the_name(monkeypatch):
    other_way = Function.build(lambda x, y: (x * y, x + y), X, X)
    wide = TensorType(float64, (3,))
    known = [
        key(), key(other_way), key(Function.build(lambda x, y: (x + y, x * y), wide, wide)),
        key(donated={0: 0}), key(donated={0: 1}), key(donated={1: 0}), key(donated={0: 0, 1: 1}),
    ]  # fmt: skip
    for part in range(len(warm._versions())):
        versions = list(warm._versions())
        versions[part] = "another"
        with monkeypatch.context() as patch:
            patch.setattr(warm, "_versions", lambda versions=versions: tuple(versions))
            known.append(key())
    monkeypatch.setattr(warm, "FORM", "unit 0")
    known.append(key())
    assert len(set(known)) == len(known)
    assert None not in known


def test_what_is_shown_or_not_kept_has_no_name():
    assert key(given=replace(BASE, cache=None)) is None
    assert key(given=replace(BASE, warm=False)) is None
    assert key(given=replace(BASE, verify=True)) is None
    assert key(given=replace(BASE, show=frozenset({"graph"}))) is None
    assert key(given=replace(BASE, cache=Path("elsewhere"))) == key()


def test_numbers_that_are_equal_and_not_the_same_have_other_names():
    constants = [0.0, -0.0, 1.0, float("nan"), float("inf")]
    names = [key(Function.build(lambda x, k=k: x * p.full(k, float32, (3,)), X)) for k in constants]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("what", ["triple", "cpu", "features"])
def test_machine_code_is_kept_for_one_processor(what):
    target = BASE.target
    names = {link._key("text", t) for t in (target, replace(target, **{what: getattr(target, what) + "x"}))}
    assert len(names | {link._key("another text", target)}) == 3


def test_machine_code_is_kept_for_one_compiler(monkeypatch):
    before = link._key("text", BASE.target)
    monkeypatch.setattr(link.llvmlite, "__version__", "another")
    second = link._key("text", BASE.target)
    monkeypatch.undo()
    monkeypatch.setattr(link.llvm, "llvm_version_info", (0, 0, 0))
    assert len({before, second, link._key("text", BASE.target)}) == 3
