"""The compiler with the options of this session, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mycelia import lowering, passes
from mycelia.api.options import options
from mycelia.ir import Function
from mycelia.loops import Program
from mycelia.runtime import warm
from mycelia.runtime.executable import Executable
from mycelia.runtime.pairs import Paired
from mycelia.runtime.reference import Reference
from mycelia.runtime.resizable import Resizable


def optimise(fn: Function, **changes: Any) -> Function:
    """`fn` after the passes. `changes` are options that differ from those of the session.

    >>> from mycelia.types import TensorType, float32
    >>> one = Function.build(lambda x: x * 1.0, TensorType(float32, (2,)))
    >>> optimise(one) == one, optimise(one, without=frozenset({"simplify"})) == one
    (False, True)
    """
    return passes.optimise(fn, replace(options(), **changes))


def lower(fn: Function, donated: Mapping[int, int] | None = None, **changes: Any) -> Program:
    """The program of an optimised function.

    >>> from mycelia.types import TensorType, float32
    >>> len(lower(Function.build(lambda x: x + x, TensorType(float32, (2,)))).block.steps)
    1
    """
    return lowering.lower(fn, donated or {}, replace(options(), **changes))


def compile(
    fn: Function, donated: Mapping[int, int] | None = None, **changes: Any
) -> Executable | Reference | Resizable | Paired:
    """`fn` as machine code.

    >>> import numpy as np
    >>> from mycelia.types import TensorType, float32
    >>> compile(Function.build(lambda x: x + x, TensorType(float32, (2,))))(np.ones(2, "f"))
    (array([2., 2.], dtype=float32),)
    """
    return warm.compile(fn, donated or {}, replace(options(), **changes))
