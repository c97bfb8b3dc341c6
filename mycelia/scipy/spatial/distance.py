"""Distances of vectors: of two, of all of one set, of all of two sets."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.names import boundary as _boundary
from mycelia.numpy.creation import asarray
from mycelia.numpy.products import together
from mycelia.ops.arguments import floated
from mycelia.scipy.special.elementary import rel_entr

__all__ = [
    "braycurtis", "canberra", "cdist", "chebyshev", "cityblock", "correlation", "cosine", "dice", "directed_hausdorff",
    "euclidean", "hamming", "jaccard", "jensenshannon", "mahalanobis", "minkowski", "pdist", "rogerstanimoto",
    "russellrao", "seuclidean", "sokalsneath", "sqeuclidean", "squareform", "yule",
]  # fmt: skip

# Each rule is of vectors along the last axis; axes before it broadcast.


def _total(x: Tensor, w: Tensor | None) -> Tensor:
    return ops.sum(x if w is None else x * w, -1)


def _root(x: Tensor) -> Tensor:
    """The square root, which has slope 0 at 0, where a distance has none."""
    nothing = ops.equal(x, 0.0)
    return ops.where(nothing, ops.zeros_like(x), ops.sqrt(ops.where(nothing, ops.ones_like(x), x)))


def _sqeuclidean(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    away = u - v
    return _total(away * away, w)


def _euclidean(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    return _root(_sqeuclidean(u, v, w))


def _cityblock(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    return _total(ops.abs(u - v), w)


def _chebyshev(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    away = ops.abs(u - v)
    return ops.amax(away if w is None else ops.where(w > 0, away, ops.zeros_like(away)), -1)


def _minkowski(u: Tensor, v: Tensor, w: Tensor | None = None, p: float = 2) -> Tensor:
    if p <= 0:
        raise ArgumentError(f"p is positive, not {p!r}")
    if p == float("inf"):
        return _chebyshev(u, v, w)
    if p == 1:
        return _cityblock(u, v, w)
    if p == 2:
        return _euclidean(u, v, w)
    sums = _total(ops.pow(ops.abs(u - v), float(p)), w)
    nothing = ops.equal(sums, 0.0)
    return ops.where(nothing, sums, ops.pow(ops.where(nothing, ops.ones_like(sums), sums), 1.0 / p))


def _canberra(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    size = ops.abs(u) + ops.abs(v)
    nothing = ops.equal(size, 0.0)
    parts = ops.abs(u - v) / ops.where(nothing, ops.ones_like(size), size)
    return _total(ops.where(nothing, ops.zeros_like(size), parts), w)


def _braycurtis(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    return _total(ops.abs(u - v), w) / _total(ops.abs(u + v), w)


def _cosine(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    sizes = ops.sqrt(_total(u * u, w) * _total(v * v, w))
    return 1.0 - ops.clip(_total(u * v, w) / sizes, -1.0, 1.0)


def _correlation(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    count = float(u.shape[-1]) if w is None else ops.sum(w)
    a, b = (x - ops.expand_dims(_total(x, w) / count, -1) for x in (u, v))
    return _cosine(a, b, w)


def _jensenshannon(u: Tensor, v: Tensor, base: float | None = None) -> Tensor:
    p, q = (x / ops.sum(x, -1, keepdim=True) for x in (u, v))
    middle = (p + q) * 0.5
    found = ops.sum(rel_entr(p, middle) + rel_entr(q, middle), -1)
    return _root((found if base is None else found / float(numpy.log(base))) * 0.5)


def _hamming(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    other = ops.cast(ops.not_equal(u, v), u.dtype)
    return _total(other, w) / (float(u.shape[-1]) if w is None else ops.sum(w))


def _counts(u: Tensor, v: Tensor, w: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """How often both hold, only the first, only the second, and neither."""
    a, b = (ops.cast(ops.not_equal(x, 0), "float64") for x in (u, v))
    pairs = (a * b, a * (1.0 - b), (1.0 - a) * b, (1.0 - a) * (1.0 - b))
    tt, tf, ft, ff = (_total(x, None if w is None else cast(w, x.dtype)) for x in pairs)
    return tt, tf, ft, ff


def _over(x: Tensor, y: Tensor) -> Tensor:
    """A quotient, and 0 of nothing by nothing."""
    nothing = ops.equal(y, 0.0)
    return ops.where(nothing, ops.zeros_like(x), x / ops.where(nothing, ops.ones_like(y), y))


def _jaccard(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    tt, tf, ft, _ = _counts(u, v, w)
    return _over(tf + ft, tt + tf + ft)


def _dice(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    tt, tf, ft, _ = _counts(u, v, w)
    return _over(tf + ft, 2.0 * tt + tf + ft)


def _rogerstanimoto(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    tt, tf, ft, ff = _counts(u, v, w)
    return 2.0 * (tf + ft) / (tt + ff + 2.0 * (tf + ft))


def _russellrao(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    tt, tf, ft, ff = _counts(u, v, w)
    return (tf + ft + ff) / (tt + tf + ft + ff)


def _sokalsneath(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    tt, tf, ft, _ = _counts(u, v, w)
    return 2.0 * (tf + ft) / (tt + 2.0 * (tf + ft))


def _yule(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    tt, tf, ft, ff = _counts(u, v, w)
    return _over(2.0 * tf * ft, tt * ff + tf * ft)


def _seuclidean(u: Tensor, v: Tensor, V: Tensor) -> Tensor:
    away = u - v
    return _root(ops.sum(away * away / V, -1))


def _mahalanobis(u: Tensor, v: Tensor, VI: Tensor) -> Tensor:
    away = u - v
    return _root(ops.sum(ops.matmul(away, VI) * away, -1))


_RULES: dict[str, tuple[Callable[..., Tensor], tuple[str, ...]]] = {
    "braycurtis": (_braycurtis, ("w",)), "canberra": (_canberra, ("w",)), "chebyshev": (_chebyshev, ("w",)),
    "cityblock": (_cityblock, ("w",)), "correlation": (_correlation, ("w",)), "cosine": (_cosine, ("w",)),
    "dice": (_dice, ("w",)), "euclidean": (_euclidean, ("w",)), "hamming": (_hamming, ("w",)),
    "jaccard": (_jaccard, ("w",)), "jensenshannon": (_jensenshannon, ("base",)), "mahalanobis": (_mahalanobis, ("VI",)),
    "minkowski": (_minkowski, ("p", "w")), "rogerstanimoto": (_rogerstanimoto, ("w",)),
    "russellrao": (_russellrao, ("w",)), "seuclidean": (_seuclidean, ("V",)), "sokalsneath": (_sokalsneath, ("w",)),
    "sqeuclidean": (_sqeuclidean, ("w",)), "yule": (_yule, ("w",)),
}  # fmt: skip


def _of_two(name: str, u: Any, v: Any, **settings: Any) -> Tensor:
    a, b = together(asarray(u), asarray(v))
    a, b = (floated(x) for x in (a, b))
    if a.ndim != 1 or a.shape != b.shape:
        raise ShapeError(f"{name} takes two vectors of one length", given={"u": a.shape, "v": b.shape})
    return _RULES[name][0](a, b, **_settings(name, a, settings))


def _settings(name: str, like: Tensor, given: dict[str, Any]) -> dict[str, Any]:
    wrong = [key for key in given if key not in _RULES[name][1]]
    if wrong:
        raise CallError(f"{name} has no setting {', '.join(wrong)}", hint=f"it takes {', '.join(_RULES[name][1])}")
    tensors = {key: asarray(value, like.dtype) for key, value in given.items()
               if key in ("w", "V", "VI") and value is not None}  # fmt: skip
    return {**{key: value for key, value in given.items() if value is not None}, **tensors}


def euclidean(u: Any, v: Any, w: Any = None) -> Tensor:
    """The straight distance.

    >>> euclidean([0.0, 0.0], [3.0, 4.0]).item()
    5.0
    """
    return _of_two("euclidean", u, v, w=w)


def sqeuclidean(u: Any, v: Any, w: Any = None) -> Tensor:
    """The straight distance, squared.

    >>> sqeuclidean([0.0, 0.0], [3.0, 4.0]).item()
    25.0
    """
    return _of_two("sqeuclidean", u, v, w=w)


def cityblock(u: Any, v: Any, w: Any = None) -> Tensor:
    """The distance along the axes.

    >>> cityblock([0.0, 0.0], [3.0, 4.0]).item()
    7.0
    """
    return _of_two("cityblock", u, v, w=w)


def chebyshev(u: Any, v: Any, w: Any = None) -> Tensor:
    """The largest distance along an axis.

    >>> chebyshev([0.0, 0.0], [3.0, 4.0]).item()
    4.0
    """
    return _of_two("chebyshev", u, v, w=w)


def minkowski(u: Any, v: Any, p: float = 2, w: Any = None) -> Tensor:
    """The sum of distances to the power p, to the power 1/p.

    >>> minkowski([0.0, 0.0], [3.0, 4.0], 1).item()
    7.0
    """
    return _of_two("minkowski", u, v, p=p, w=w)


def canberra(u: Any, v: Any, w: Any = None) -> Tensor:
    """The sum of distances, each over the sizes of both numbers.

    >>> canberra([1.0, 0.0], [3.0, 0.0]).item()
    0.5
    """
    return _of_two("canberra", u, v, w=w)


def braycurtis(u: Any, v: Any, w: Any = None) -> Tensor:
    """The sum of distances over that of the sizes of sums.

    >>> braycurtis([1.0, 0.0], [3.0, 0.0]).item()
    0.5
    """
    return _of_two("braycurtis", u, v, w=w)


def cosine(u: Any, v: Any, w: Any = None) -> Tensor:
    """1 less the cosine of the angle.

    >>> cosine([1.0, 0.0], [0.0, 1.0]).item()
    1.0
    """
    return _of_two("cosine", u, v, w=w)


def correlation(u: Any, v: Any, w: Any = None) -> Tensor:
    """1 less the correlation.

    >>> round(correlation([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]).item(), 4)
    2.0
    """
    return _of_two("correlation", u, v, w=w)


def jensenshannon(p: Any, q: Any, base: float | None = None) -> Tensor:
    """The root of what two distributions lose, on average, by taking both for their mean.

    >>> round(jensenshannon([1.0, 0.0], [0.0, 1.0], 2.0).item(), 4)
    1.0
    """
    return _of_two("jensenshannon", p, q, base=base)


def hamming(u: Any, v: Any, w: Any = None) -> Tensor:
    """The share of places that differ.

    >>> hamming([1, 0], [1, 1]).item()
    0.5
    """
    return _of_two("hamming", u, v, w=w)


def jaccard(u: Any, v: Any, w: Any = None) -> Tensor:
    """The share of places where one of two truths holds, among those where one or both do.

    >>> jaccard([1, 0, 0], [1, 1, 0]).item()
    0.5
    """
    return _of_two("jaccard", u, v, w=w)


def dice(u: Any, v: Any, w: Any = None) -> Tensor:
    """The measure of Dice, of truths.

    >>> round(dice([1, 0, 0], [1, 1, 0]).item(), 4)
    0.3333
    """
    return _of_two("dice", u, v, w=w)


def rogerstanimoto(u: Any, v: Any, w: Any = None) -> Tensor:
    """The measure of Rogers and Tanimoto, of truths.

    >>> rogerstanimoto([1, 0, 0], [1, 1, 0]).item()
    0.5
    """
    return _of_two("rogerstanimoto", u, v, w=w)


def russellrao(u: Any, v: Any, w: Any = None) -> Tensor:
    """The measure of Russell and Rao, of truths.

    >>> round(russellrao([1, 0, 0], [1, 1, 0]).item(), 4)
    0.6667
    """
    return _of_two("russellrao", u, v, w=w)


def sokalsneath(u: Any, v: Any, w: Any = None) -> Tensor:
    """The measure of Sokal and Sneath, of truths.

    >>> round(sokalsneath([1, 0, 0], [1, 1, 0]).item(), 4)
    0.6667
    """
    return _of_two("sokalsneath", u, v, w=w)


def yule(u: Any, v: Any, w: Any = None) -> Tensor:
    """The measure of Yule, of truths.

    >>> yule([1, 0, 0, 1], [1, 1, 0, 0]).item()
    1.0
    """
    return _of_two("yule", u, v, w=w)


def seuclidean(u: Any, v: Any, V: Any) -> Tensor:
    """The straight distance in units of standard deviations, of which V are the squares.

    >>> seuclidean([0.0], [4.0], [4.0]).item()
    2.0
    """
    return _of_two("seuclidean", u, v, V=V)


def mahalanobis(u: Any, v: Any, VI: Any) -> Tensor:
    """The straight distance as the inverse of a covariance measures it.

    >>> mahalanobis([0.0], [4.0], [[0.25]]).item()
    2.0
    """
    return _of_two("mahalanobis", u, v, VI=VI)


# ------------------------------------------------------------------------------------------------------------- of sets


def _metric(metric: Any, x: Tensor, y: Tensor, kwargs: dict[str, Any]) -> Callable[[Tensor, Tensor], Tensor]:
    if callable(metric):

        def each(u: Tensor, v: Tensor) -> Tensor:
            wide = ops.zeros_like(u + v)
            a, b = (ops.reshape(t + wide, (-1, t.shape[-1])) for t in (u, v))
            found = [asarray(metric(a[i], b[i], **kwargs)) for i in range(a.shape[0])]
            return ops.reshape(ops.stack(found), wide.shape[:-1])

        return each
    if metric not in _RULES:
        raise ArgumentError(f"there is no distance {metric!r}", hint=", ".join(_RULES))
    given = dict(kwargs)
    every = ops.cat([x, y], 0) if x is not y else x
    if metric == "seuclidean" and given.get("V") is None:
        away = every - ops.mean(every, 0)
        given["V"] = ops.sum(away * away, 0) / float(every.shape[0] - 1)
    if metric == "mahalanobis" and given.get("VI") is None:
        away = every - ops.mean(every, 0)
        given["VI"] = ops.inverse(ops.matmul(away.T, away) / float(every.shape[0] - 1)).T
    settings = _settings(metric, x, given)
    return lambda u, v: _RULES[metric][0](u, v, **settings)


def _set(x: Any) -> Tensor:
    found = floated(asarray(x))
    if found.ndim != 2:
        raise ShapeError("vectors are the rows of a matrix", given={"shape": found.shape})
    return found


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **kwargs: Any) -> Tensor:
    """The distances of all rows of one matrix to all of another, by the name of a distance or a function.

    >>> cdist([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]]).tolist()
    [[5.0, 1.0]]
    """
    a, b = together(_set(XA), _set(XB))
    if a.shape[1] != b.shape[1]:
        raise ShapeError("rows of both have as many numbers", given={"XA": a.shape, "XB": b.shape})
    return _metric(metric, a, b, kwargs)(ops.expand_dims(a, 1), ops.expand_dims(b, 0))


def pdist(X: Any, metric: Any = "euclidean", **kwargs: Any) -> Tensor:
    """The distances between all rows of a matrix, each pair once.

    >>> pdist([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], "cityblock").tolist()
    [7.0, 1.0, 6.0]
    """
    x = _set(X)
    first, second = numpy.triu_indices(x.shape[0], 1)
    rule = _metric(metric, x, x, kwargs)
    return rule(ops.gather(x, Tensor(first), 0), ops.gather(x, Tensor(second), 0))


def squareform(X: Any, force: str = "no", checks: bool = True) -> Tensor:
    """A vector of distances of pairs as a symmetric matrix, and the other way round.

    >>> squareform([1.0, 2.0, 3.0]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]
    """
    x = asarray(X)
    if force not in ("no", "tovector", "tomatrix"):
        raise ArgumentError(f"force is no, tovector or tomatrix, not {force!r}")
    if x.ndim == 1 and force != "tovector":
        n = int(numpy.ceil(numpy.sqrt(2 * x.shape[0])))
        n = n if x.shape[0] else 1
        if n * (n - 1) // 2 != x.shape[0]:
            raise ShapeError(f"{x.shape[0]} distances are not those of all pairs of a set")
        places = numpy.zeros((n, n), "int64")
        places[numpy.triu_indices(n, 1)] = numpy.arange(x.shape[0]) + 1
        padded = ops.cat([ops.zeros((1,), x.dtype), x], 0)
        return ops.reshape(ops.gather(padded, Tensor((places + places.T).ravel()), 0), (n, n))
    if x.ndim != 2 or x.shape[0] != x.shape[1] or force == "tomatrix":
        raise ShapeError("a vector or a square matrix is expected", given={"shape": x.shape, "force": force})
    if checks:
        numbers = x.numbers()
        if not numpy.allclose(numbers, numbers.T) or numpy.diagonal(numbers).any():
            raise ArgumentError("a matrix of distances is symmetric, with zeros on its diagonal", hint="checks=False")
    places = numpy.ravel_multi_index(numpy.triu_indices(x.shape[0], 1), x.shape)
    return ops.gather(ops.reshape(x, (-1,)), Tensor(places), 0)


def directed_hausdorff(u: Any, v: Any, rng: Any = None) -> tuple[Tensor, int, int]:
    """How far the row of u that is farthest from v is from it, and which rows these are; `rng` changes nothing here.

    >>> directed_hausdorff([[0.0], [5.0]], [[1.0]])[0].item()
    4.0
    """
    if rng is not None and not isinstance(rng, int | numpy.random.Generator):
        raise ArgumentError(f"rng is a number or a generator, not {rng!r}")
    table = cdist(u, v)
    numbers = table.numbers()
    row = int(numbers.min(1).argmax())
    column = int(numbers[row].argmin())
    return table[row, column], row, column


_boundary(globals())
