"""Programs that were compiled before, by any process: found again by their function, or compiled now (a warm start).

A program is kept under the digest of the captured function, what is donated, the options, and the versions of all that
took part. It is a text, which is read and never evaluated (`loops/unit_text.py`), with the names of the objects that
hold its machine code. With it neither passes nor lowering nor LLVM have anything to do, and they are not loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding as llvm

from mycelia.degradations import RECORD, Instead, degrade, subject
from mycelia.errors import ArgumentError, CompileError
from mycelia.ir import Function, digest, names_of
from mycelia.loops import Binding, parse_binding, show_binding
from mycelia.loops.verify_unit import verify_binding
from mycelia.onednn import OneDnnError, library
from mycelia.options import Options
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.runtime.bind import Bound, Misfit
from mycelia.runtime.cache import cache_in
from mycelia.runtime.executable import Executable
from mycelia.runtime.link import entries, linked
from mycelia.runtime.pairs import Paired
from mycelia.runtime.recipes import prepared
from mycelia.runtime.reference import Reference
from mycelia.runtime.resizable import Resizable
from mycelia.sizes import Guard

# what reading a file can come to that does not say what a program is, or not one that fits this machine
UNUSABLE = (ArgumentError, ValueError, AssertionError, LookupError, TypeError, CompileError, OneDnnError)
FORM = "unit 1"  # of what is kept: raise it when old files would mean something else


def compile(fn: Function, donated: Mapping[int, int], options: Options) -> Executable | Reference | Resizable | Paired:
    """`fn` as machine code. Result `i` may overwrite parameter `donated[i]`, which is then gone.

    >>> import numpy as np
    >>> from mycelia import primitives as p
    >>> from mycelia.api.options import options
    >>> from mycelia.types import TensorType, float32
    >>> double = Function.build(lambda x: p.tanh(x) * 2.0, TensorType(float32, (3,)))
    >>> compile(double, {}, options())(np.zeros(3, "f"))
    (array([0., 0., 0.], dtype=float32),)
    """
    if names := names_of(fn):
        return Resizable(fn, names, lambda fn: _compiled(fn, donated, options))
    return _compiled(fn, donated, options)


def _compiled(fn: Function, donated: Mapping[int, int], options: Options) -> Executable | Reference | Paired:
    if has_complex(fn):
        return Paired(fn, _real(in_pairs(fn), donated, options), donated)
    return _real(fn, donated, options)


def _real(fn: Function, donated: Mapping[int, int], options: Options) -> Executable | Reference:
    key = key_of(fn, donated, options)
    if key is not None and (found := find(key, fn, options)) is not None:
        return found
    from mycelia.runtime import stages  # the compiler, which is not loaded before it is needed

    made = stages.compiled(fn, donated, options)
    faulty = RECORD.about(subject(), Instead.FAULT)  # what went wrong today may go well tomorrow
    if key is not None and isinstance(made, Executable) and not made.binding.callbacks and not faulty:
        keep(key, fn, made, options)
    return made


def key_of(fn: Function, donated: Mapping[int, int], options: Options) -> str | None:
    """Under which name a program is kept; None for what is not: nobody wants it, or somebody wants to see stages."""
    if options.cache is None or not options.warm or options.show or options.verify:
        return None
    number = digest(fn)
    if number is None:
        return None
    about = (FORM, number, sorted(donated.items()), _in_order(replace(options, **UNIMPORTANT)), _versions())
    return sha256(repr(about).encode()).hexdigest()


# what options have that no program depends on
UNIMPORTANT: dict[str, Any] = {"cache": None, "warm": True, "show": frozenset(), "verify": False}


def _in_order(x: object) -> object:
    """Options and all that they hold, in an order that is the same in all processes."""
    if is_dataclass(x):
        return [(f.name, _in_order(getattr(x, f.name))) for f in fields(x)]
    return sorted(x) if isinstance(x, frozenset) else x


@cache
def _versions() -> tuple[object, ...]:
    """Of all that has a say in what a program becomes. Of our own files, because a developer changes them: when each
    was written, and its size.
    """
    root = Path(__file__).parents[1]
    digest = sha256()
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
                elif entry.name.endswith(".py"):
                    about = entry.stat()
                    digest.update(f"{entry.path[len(str(root)) :]} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest(), llvmlite.__version__, llvm.llvm_version_info, library().version


def find(key: str, fn: Function, options: Options) -> Executable | None:
    """The program that was kept under this key, ready to run; None if there is none that can be relied on."""
    assert options.cache is not None, "nothing is kept without a folder"
    files = cache_in(options.cache)
    content = files.read(f"{key}.unit")
    if content is None:
        return None
    try:
        head, notes, text = content.decode().split("\n", 2)
        form, *objects = head.split(",")
        if form != FORM:
            raise ValueError(f"it begins with {form!r}")
        binding = _located(parse_binding(text), fn, notes)
        verify_binding(binding)
        _check(binding)
        images = [files.read(f"{name}.o") for name in objects]
        if any(image is None for image in images):
            return None  # an object went first
        code = linked([i for i in images if i is not None], objects, options.target, entries(binding))
        made = Executable(code, Bound(binding, {}))
    except UNUSABLE as error:
        files.complain(f"{files.folder / key}.unit cannot be used, and is made again: {error}")
        return None
    _rely(binding, fn)
    for call in binding.refused:
        degrade(Instead.LIBRARY, call)
    for note in binding.notes:
        degrade(Instead.SLOW, note.text, note.at)
    return made


def _check(binding: Binding) -> None:
    """Whether what the library does here fits the memory that the plan has for it."""
    planned = [recipe for recipe in binding.recipes if recipe.room is not None]
    threads = 1 if binding.together is False else binding.threads
    ready = prepared([binding.calls[recipe.call] for recipe in planned], threads)
    for recipe, made in zip(planned, ready, strict=True):
        if recipe.room is not None and made.room > recipe.room:
            raise Misfit(f"the library needs more memory for step {recipe.step} than there is")


def _rely(binding: Binding, fn: Function) -> None:
    """What the program relies on is relied on by whoever chooses it."""
    names = names_of(fn)
    at = {old: new.alone() for old, new in zip(binding.names, names, strict=True)}
    for scope in {id(name.scope): name.scope for name in binding.names}.values():
        for g in scope.guards:
            if g.size.names() <= at.keys():
                size = g.size.at(at)  # type: ignore[arg-type]  # a size is typed as an int
                names[0].scope.rely(Guard(size, g.relation, g.answer))  # type: ignore[arg-type]


def keep(key: str, fn: Function, made: Executable, options: Options) -> None:
    """Keep a program for other processes."""
    assert options.cache is not None, "nothing is kept without a folder"
    values = {v.location: i for i, v in reversed(list(enumerate(fn.values())))}
    notes = " ".join(str(values.get(note.at, -1)) for note in made.notes)
    head = ",".join([FORM, *made.code.objects])
    cache_in(options.cache).write(f"{key}.unit", f"{head}\n{notes}\n{show_binding(made.binding)}".encode())


def _located(binding: Binding, fn: Function, places: str) -> Binding:
    """The notes of a program at the lines where its function stands now: they may have moved."""
    if not binding.notes:
        return binding
    values = fn.values()
    found = [None if n < 0 else values[n].location for n in map(int, places.split())]
    notes = tuple(replace(note, at=at) for note, at in zip(binding.notes, found, strict=True))
    return replace(binding, notes=notes)
