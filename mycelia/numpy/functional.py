"""Functions of functions: applied along axes, over axes, to every element."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, as_dtype
from mycelia.errors import CallError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import in_type
from mycelia.numpy.shapes import broadcast_arrays
from mycelia.ops.arguments import axis_of, sizes

__all__ = ["apply_along_axis", "apply_over_axes", "frompyfunc", "vectorize"]


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    """What a function gives for every vector along an axis, in its place.

    >>> apply_along_axis(lambda v: v.sum(), 1, [[1, 2], [3, 4]]).tolist()
    [3, 7]
    """
    x = asarray(arr)
    place = axis_of(x, axis)
    moved = ops.moveaxis(x, place, -1)
    rows = ops.reshape(moved, (-1, moved.shape[-1]))
    if not rows.shape[0]:
        raise ShapeError("there is no vector to apply a function to", given={"shape": x.shape})
    found = ops.stack([asarray(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])])
    out = ops.reshape(found, (*moved.shape[:-1], *found.shape[1:]))
    more = found.ndim - 1
    return (
        ops.moveaxis(out, tuple(range(out.ndim - more, out.ndim)), tuple(range(place, place + more))) if more else out
    )


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """What a function (array, axis) gives, applied over axes one after the other; they stay, with extent 1.

    >>> apply_over_axes(lambda x, axis: x.sum(axis), [[1, 2], [3, 4]], (0, 1)).tolist()
    [[10]]
    """
    x = asarray(a)
    out = x
    for axis in sizes(axes):
        found = asarray(func(out, axis))
        found = ops.expand_dims(found, axis_of(x, axis)) if found.ndim == x.ndim - 1 else found
        if found.ndim != x.ndim:
            raise ShapeError("the function does not give an array of the right shape", given={"shape": found.shape})
        out = found
    return out


class vectorize:
    """A function of numbers, applied to every element of arrays that broadcast; or, with a signature such as
    "(n),(n)->()", to every part of that shape.

    The function is called once for each element, and gradients flow through it. `ms.vmap` calls it once for all.

    >>> vectorize(lambda a, b: a if a > b else b)([1, 5], 3).tolist()
    [3, 5]
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.pyfunc, self.signature, self.cache = pyfunc, signature, cache
        self.otypes = (
            None if otypes is None else [as_dtype(t) for t in ([otypes] if isinstance(otypes, str) else otypes)]
        )
        self.excluded = set() if excluded is None else set(excluded)
        self.__doc__ = pyfunc.__doc__ if doc is None else doc
        self.inner = [len(part) for part in _parts(signature.split("->")[0])] if signature else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        names = [n for n in kwargs if n not in self.excluded]
        chosen = [i for i in range(len(args)) if i not in self.excluded]
        given = [asarray(args[i]) for i in chosen] + [asarray(kwargs[n]) for n in names]
        if not given:
            raise CallError("a vectorized function needs an array")
        inner = [0] * len(given) if self.inner is None else self.inner
        if len(inner) != len(given):
            raise CallError(f"the signature {self.signature!r} has {len(inner)} arguments, not {len(given)}")
        outer = broadcast_arrays(*[ops.zeros(t.shape[: t.ndim - n]) for t, n in zip(given, inner, strict=True)])[
            0
        ].shape
        wide = [ops.broadcast_to(t, (*outer, *t.shape[t.ndim - n :])) for t, n in zip(given, inner, strict=True)]
        results = []
        for place in product(*map(range, outer)):
            parts = [t[place] if place else t for t in wide]
            positional = [parts[chosen.index(i)] if i in chosen else args[i] for i in range(len(args))]
            named = {n: parts[len(chosen) + names.index(n)] if n in names else v for n, v in kwargs.items()}
            results.append(self.pyfunc(*positional, **named))
        if not results:
            raise ShapeError("a vectorized function is not called for no elements", given={"shape": outer})
        if not isinstance(results[0], tuple):
            return self._shaped([[r] for r in results], outer)[0]
        return tuple(self._shaped([list(r) for r in results], outer))

    def _shaped(self, results: list[list[Any]], outer: Any) -> list[Tensor]:
        made = []
        for i in range(len(results[0])):
            stacked = ops.stack([asarray(r[i]) for r in results])
            out = ops.reshape(stacked, (*outer, *stacked.shape[1:]))
            made.append(in_type(out, self.otypes[i] if self.otypes else None))
        return made


def _parts(text: str) -> list[list[str]]:
    """The axes of each argument in a signature."""
    return [
        [name for name in part.strip(" ()").split(",") if name.strip()] for part in text.replace(" ", "").split("),(")
    ]


def frompyfunc(func: Callable[..., Any], nin: int, nout: int) -> vectorize:
    """A function of numbers, of which `nin` are taken and `nout` given, applied to every element.

    >>> frompyfunc(lambda a, b: a + b, 2, 1)([1, 2], 3).tolist()
    [4, 5]
    """
    if nin < 1 or nout < 1:
        raise CallError("a function takes and gives one array at least", given={"nin": nin, "nout": nout})
    return vectorize(func)
