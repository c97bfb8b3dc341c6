"""Programs of rare words of which Python has to run parts, with the arguments of several calls."""
# ruff: noqa: F821  # each is said for its own sake

import contextlib
import functools

from mycelia import get_seed, initial_seed, manual_seed, ops, set_seed
from mycelia.eager import Tensor
from programs.rare import Alike, Has, Plain, Record, tensor
from programs.shared import Scaler

PARTLY = []  # programs that Python has to run in part, and the arguments of the calls of each


def partly(*calls):
    """Python runs parts of the program."""
    return lambda fn: PARTLY.append((fn, calls or (lambda: (tensor(1, -2, 3),),))) or fn


@partly()
def calls_that_do_not_fit(x):
    def f(a, b=2, /, c=3, *, e=1):
        return a

    def g(a, **more):
        return a, more

    def h(*more, k):
        return more

    told = []
    for call in (
        lambda: f(), lambda: f(1, 2, 3, 4), lambda: f(1, a=2), lambda: f(1, 2, 3, c=4), lambda: f(1, z=2),
        lambda: g(1, a=2),
        lambda: g(b=1), lambda: h(1), lambda: g(1, 2), lambda: [1].append(), lambda: [].append(1, 2), lambda: {}.get(),
        lambda: len(), lambda: len(1, 2), lambda: Plain(1), lambda: Record(), lambda: Record(1, 2, 3),
        lambda: Has().nothing,
    ):  # fmt: skip
        try:
            told.append(call())
        except (TypeError, AttributeError) as error:
            told.append(f"{type(error).__name__} {error}")
    return x, told


@partly()
def what_is_equal_but_not_the_same(x):
    items, d = [1], {"a": 1}
    return (
        x, items.append in [items.append], items.append == items.append, d.keys() in [d.keys()],
        {f"{x.sum()}": 1}[f"{x.sum()}"], f"{x.sum()}" in [f"{x.sum()}"], (1, 2) == (1.0, 2.0),
    )  # fmt: skip


def refused(search, *args):
    """A search among tensors, of which the truth is asked."""
    try:
        return search(*args)
    except (ValueError, TypeError, RuntimeError) as error:
        return isinstance(error, ValueError)


@partly()
def searches_among_tensors(x):
    s, t = x.sum(), x.max()
    items = [s, t, 1, s]
    found = [items.count(s), items.index(t), items.count(1), items.index(1), [1, 2, 1].count(s - 1), [5, 2].index(s)]
    items.remove(t)
    pair = [t, s]
    pair.sort()
    return found, items, pair


@partly()
def objects_in_sets(x):
    told = []
    for thing in ([], {}, Alike(1), (1, []), Plain(), 1, x.shape):
        try:
            told.append(thing in {1, (3,)})
        except TypeError as error:
            told.append(str(error))
    return x, told


@partly()
def unusual_positions(x):
    told = []
    for at in (Tensor(1.0), 1.0, "a", None, Tensor([0, 1])):
        try:
            told.append([1, 2, 3][at])
        except (TypeError, ValueError, IndexError) as error:
            told.append(type(error).__name__)
    return x, told


@partly()
def a_method_that_is_given_back(x):
    with contextlib.suppress(KeyError):
        x = x + float(x.sum())
    bound = Scaler(x).__call__
    part = functools.partial(ops.add, x)
    return bound(x), part(x)


@partly(lambda: (tensor(1, 2, 3),), lambda: (tensor(-1, 2, -3),))
def one_of_several_that_changes(x):
    items = [1, 2] if x.sum() > 0 else [3, 4]
    met = []
    for v in items:
        met.append(v)
        if len(items) < 4:
            items.append(v * 2)
    return x, met, items


@partly()
def variables_without_values(x):
    told = []

    def f():
        return later

    for case in (f, lambda: gone):
        try:
            told.append(case())
        except NameError as error:
            told.append((type(error).__name__, str(error), error.name))
    later = 1
    gone = 2
    del gone
    with contextlib.suppress(NameError):
        told.append(gone)
    return x * float(x.sum()), told, f()


@partly()
def sizes_that_depend_on_numbers(x):
    n = ops.nonzero(x > 0).shape[0]
    return n, type(n).__name__, x * n, [1] * n, {"n": n}


@partly(*[lambda n=n: (tensor(8, 9, dtype="int32"), n) for n in (1, 2, 3, 1)], *[lambda: (tensor(1.5), 2)])
def shifts_and_products_by_numbers(x, n):
    try:
        return x << n, x >> n, x**n, n**x
    except (TypeError, ValueError) as error:
        return type(error).__name__


@partly()
def seeds_that_are_set_inside(x):
    set_seed(4)
    a = ops.rand(2), ops.rand(2)
    chosen = manual_seed(5).initial_seed()
    return x, a, ops.rand(2), chosen, initial_seed(), get_seed()
