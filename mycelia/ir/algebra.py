"""The few operations that transforms themselves need, by meaning and not by name.

A gradient adds cotangents and starts from zeros; a batch repeats values. `mycelia.primitives` supplies these when
it is imported, so transforms stay below the primitives and know none of them.
"""

from __future__ import annotations

from collections.abc import Callable

from mycelia.ir.function import Function
from mycelia.ir.value import Value
from mycelia.types import Type

add: Callable[[Value, Value], Value]  # two cotangents of one value: tensors, sequences or frames
conj: Callable[[Value], Value]  # of complex numbers
zeros: Callable[[Type], Value]  # the zero of a type
repeat: Callable[[Value, int], Value]  # the same value along a new leading axis
for_each: Callable[[Function, int, tuple[Type, ...]], Function]  # for each of many examples by itself; effects in turn
