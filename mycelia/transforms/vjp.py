"""Reverse mode: walk the graph backwards, and let every op say how its cotangent flows.

The result is one joint function, of the parameters and of the cotangents of the results. `parted` parts it into a
forward and a backward function where they run at different times.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mycelia.errors import GradientError
from mycelia.ir import Back, Cotangents, Function, Op, Param, Project, Value, algebra, located, region
from mycelia.transforms.activity import Mask, differentiable, moving, reached
from mycelia.transforms.by_rule import by_rule
from mycelia.transforms.image import Image
from mycelia.transforms.structured import Structured
from mycelia.types import TensorType, TupleType, cotangent_type


def vjp(fn: Function, wrt: Sequence[bool] | None = None, live: Sequence[bool] | None = None) -> Function:
    """The function of parameters and cotangents of the `live` results, to results and cotangents of the `wrt`
    parameters. Where a mask is not given, everything that can be differentiated is meant.

    >>> import numpy as np
    >>> from mycelia import primitives as p
    >>> from mycelia.ir import interpret
    >>> from mycelia.types import TensorType, float32
    >>> cube = Function.build(lambda x: p.multiply(x, x * x), TensorType(float32, ()))
    >>> [float(r) for r in interpret(vjp(cube), np.float32(2), np.float32(1))]
    [8.0, 12.0]
    """
    return _joint(fn, differentiable(fn.types, wrt, "parameter"), differentiable(fn.result_types, live, "result"))


def value_and_grad(fn: Function, wrt: Sequence[bool] | None = None) -> Function:
    """The function of the same parameters to the results and the gradient of the first of them, a scalar.

    >>> import numpy as np
    >>> from mycelia import primitives as p
    >>> from mycelia.ir import interpret
    >>> from mycelia.types import TensorType, float32
    >>> cube = Function.build(lambda x: p.multiply(x, x * x), TensorType(float32, ()))
    >>> [float(r) for r in interpret(value_and_grad(cube), np.float32(2))]
    [8.0, 12.0]
    """
    scalar = fn.result_types[0]
    if not isinstance(scalar, TensorType) or scalar.shape != () or not scalar.differentiable:
        raise GradientError(
            f"a gradient is taken of a scalar, not of {scalar}",
            at=fn.results[0].location,
            hint="reduce the result to one number, for example with sum() or mean(), or use vjp",
        )
    joint = vjp(fn, wrt, (True, *[False] * (len(fn.results) - 1)))
    one = algebra.zeros(scalar) + 1.0
    return Function.build(lambda *params: joint(*params, one), *fn.types)


@lru_cache(maxsize=4096)
def _joint(fn: Function, wrt: Mask, live: Mask) -> Function:
    with region(closed=True) as inside:  # effects of the way forward come first, those of the way back then
        results, given, pulled = _there_and_back(fn, wrt, live)
    return Function((*fn.params, *given), (*results, *pulled), tuple(inside.effects))


def _there_and_back(fn: Function, wrt: Mask, live: Mask) -> tuple[tuple[Value, ...], list[Value], list[Value]]:
    """The results, parameters for their cotangents, and the cotangents of the parameters."""
    active = moving(fn, wrt) & reached(fn, live)
    image, backs = _forward(fn, active)
    results = tuple(image.one[r] for r in fn.results)
    cotangents: dict[Value, Any] = {}
    given: list[Value] = []
    for r, m in zip(fn.results, live, strict=True):
        if m:
            given.append(Value(Param(len(fn.params) + len(given), cotangent_type(r.type))))
            if r in active:
                _accumulate(cotangents, r, given[-1])
    for v in reversed(fn.values()):
        if v in cotangents and type(v.op) is not Param:
            with located(v.location):
                _pull(v, cotangents, active, image, backs)
    pulled = [
        cotangents[p] if p in cotangents else algebra.zeros(cotangent_type(p.type))
        for p, m in zip(fn.params, wrt, strict=True)
        if m
    ]
    return results, given, pulled


def _forward(fn: Function, active: set[Value]) -> tuple[Image, dict[Value, Back]]:
    """The function again, where active ops that contain functions keep their residuals."""
    image, backs = Image(), dict[Value, Back]()
    read: dict[Value, set[int]] = {}
    for v in active:
        if isinstance(v.op, Project):
            read.setdefault(v.inputs[0], set()).add(v.op.index)
    for v in fn.values():
        with located(v.location):
            if type(v.op) is Param:
                image.one[v] = v
            elif v in active and isinstance(v.op, Structured):
                assert isinstance(v.type, TupleType), f"{v} should have a tuple of results"
                live = tuple(i in read.get(v, ()) for i in range(len(v.type.elements)))
                wanted = tuple(x in active for x in v.inputs)
                image.many[v], backs[v] = v.op.pullback(live, wanted, image.inputs(v))
            else:
                image.copy(v)
    return image, backs


def _pull(v: Value, cotangents: dict[Value, Any], active: set[Value], image: Image, backs: dict[Value, Back]) -> None:
    """Carry the cotangent of `v` to its inputs."""
    ct = cotangents.pop(v)
    if isinstance(v.op, Project):
        (whole,) = v.inputs
        assert isinstance(whole.type, TupleType), f"{v} projects {whole}"
        parts = cotangents.setdefault(whole, [None] * len(whole.type.elements))
        parts[v.op.index] = ct
        return
    flows = backs[v](ct) if v in backs else _by_rule(v, ct, image)
    assert len(flows) == len(v.inputs), f"{v.op} has {len(v.inputs)} inputs, and its vjp gives {len(flows)} cotangents"
    for x, c in zip(v.inputs, flows, strict=True):
        if c is not None and x in active:
            assert c.type == cotangent_type(x.type), f"vjp of {v.op}: {x.type} has a cotangent of type {c.type}"
            _accumulate(cotangents, x, c)


def _by_rule(v: Value, ct: Any, image: Image) -> Cotangents:
    assert isinstance(v.op, Op), f"{v} is a parameter"
    if isinstance(v.type, TupleType):
        return by_rule(v.op, tuple(ct), image.results(v), *image.inputs(v))
    return by_rule(v.op, ct, image.one[v], *image.inputs(v))


def _accumulate(cotangents: dict[Value, Any], x: Value, ct: Value) -> None:
    cotangents[x] = algebra.add(cotangents[x], ct) if x in cotangents else ct
