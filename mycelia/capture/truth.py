"""What a tensor says when it is asked whether."""

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.capture.stage import Stage
from mycelia.errors import ShapeError
from mycelia.ir import Value
from mycelia.types import bool_


def truth(stage: Stage, x: Any) -> Value:
    """`bool(x)` as a value: of a tensor with one element, or of anything that Python knows the truth of."""
    if not isinstance(x, stage.world.tensor):
        return p.full(bool(x), bool_, ())
    value = stage.world.value(x)
    if value.tensor.size != 1:
        raise ShapeError(
            f"only a tensor of one element is true or false, not one of shape {value.shape}",
            given={"value": value.type},
            hint="reduce it first with all() or any(), or choose element by element with where()",
        )
    if value.shape != ():
        value = p.reshape(value, ())
    return value if value.dtype is bool_ else p.not_equal(value, p.lift(0, value))
