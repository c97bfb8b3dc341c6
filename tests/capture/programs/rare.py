"""Words of the language that few programs say, many in each program; with the arguments of several calls."""
# ruff: noqa: SIM118, SIM300, SIM210, E711, UP008, UP045, B010, RUF005  # each is said for its own sake

import dataclasses
import functools
import itertools
import sys
import typing
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np

from mycelia import ops
from mycelia.api.jit import jit
from mycelia.api.mutable import mutable
from mycelia.eager import Parameter, Tensor
from programs.shared import Point, Scaler

WHOLE = []  # programs that become one program, and the arguments of the calls of each


def whole(*calls):
    """The program is compiled; each call makes its arguments anew."""
    return lambda fn: WHOLE.append((fn, calls or (lambda: (tensor(1, -2, 3),),))) or fn


def tensor(*numbers, dtype="float32"):
    return Tensor(np.array(numbers, dtype))


def numbered(fn):
    """The calls of a program that takes a number, which becomes one that is known later."""
    return [lambda n=n: (tensor(1, -2, 3), fn(n)) for n in (3, 4, 5, 4)]


# ------------------------------------------------------------------------------------------------------------ objects


class Has:
    """Says itself what is in it, and how many."""

    def __init__(self, *items):
        self.items = items

    def __contains__(self, x):
        return x in self.items

    def __len__(self):
        return len(self.items)

    def __neg__(self):
        return "neg"

    def __invert__(self):
        return "invert"

    def __pos__(self):
        return "pos"


class Hidden(Has):
    def __contains__(self, x):
        return 0


class Larger:
    def __init__(self, x):
        self.x = x

    def __contains__(self, limit):
        return self.x.sum() > limit


class Alike:
    """Equal to all that has the same number."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n if isinstance(other, Alike) else NotImplemented

    __hash__ = None


class Down:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n


class Plain:
    pass


class Slotted:
    __slots__ = ("a", "b")


@dataclasses.dataclass
class Record:
    a: object
    b: int = dataclasses.field(default=7, init=False)
    c: list = dataclasses.field(default_factory=list)


class Lazy:
    asked = 0

    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def total(self):
        self.asked += 1
        return self.x.sum() * 2

    @jit
    def compiled(self, k):
        return self.x * k


class Under(Lazy):
    def __init__(self, x):
        super(Under, self).__init__(x * 3)
        object.__init__(self)


@whole()
def membership_that_objects_say_themselves(x):
    has, larger = Has(1, "a", None), Larger(x)
    found = (1 in has, "b" in has, "b" not in has, None in has, 5 in Hidden(5), 5 not in Hidden(5))
    return found, x * 2 if 1.0 in larger else x, x * 3 if 10.0 in larger else x, (True if 1 in has else False)


@whole()
def truths_of_objects(x):
    out = [bool(o) for o in (Has(), Has(0), x.sum, len, Scaler, Plain(), Down(0), "".join) if o is not Scaler]
    return out, not Has(), not Has(1), x if Has() else x * 2, x if x.sum else 0, x if truths_of_objects else 0


@whole()
def signs_of_objects(x):
    has = Has(1)
    return x, -has, ~has, +has, len(has), len(Has()), -x, +x, abs(x)


@whole()
def objects_that_differ(x):
    a, b, c = Alike(1), Alike(1), Alike(2)
    facts = (a == b, a != b, a == c, a != c, a == 1, a != 1, 1 == a, 1 != a, a is b, a is a, None == a, None != a)
    return x, facts, Plain() == Plain(), Plain() != Plain(), x is None, a is not None


@whole()
def methods_of_the_class_of_all(x):
    o = Plain()
    object.__setattr__(o, "a", x)
    o.__setattr__("b", 2)
    setattr(o, "c", 3)
    b, c = o.b, o.c
    object.__delattr__(o, "b")
    o.__delattr__("c")
    o.d = 4
    delattr(o, "d")
    found = [1]
    list.append(found, 2)
    there = {"k": 1, "l": 2}
    return o, b, c, found, dict.get(there, "k"), dict.pop(there, "l"), there, hasattr(o, "b"), hasattr(o, "a")


@whole()
def attributes_that_are_deleted(x):
    o, errors = Plain(), []
    for name in ("a", "b"):
        try:
            delattr(o, name)
        except AttributeError:
            errors.append(name)
    s = Slotted()
    s.a = x
    del s.a
    try:
        del s.b
    except AttributeError:
        errors.append("of a slot")
    s.b = 5
    return x, errors, hasattr(s, "a"), s.b


@whole()
def what_is_made_of_names(x):
    space, empty = SimpleNamespace(a=1, b=x, c="t"), SimpleNamespace()
    space.d = space.a + 1
    del space.c
    empty.same = space
    ordered = OrderedDict([("z", 1), ("a", x)])
    record = Record(x)
    record.c.append(3)
    return (
        space, space.a, space.b, hasattr(space, "c"), empty, empty.same is space, bool(empty),
        ordered, list(ordered), OrderedDict(), record.b, record.c, Record(1).c,
        list(itertools.product((1, 2), "ab", [x])), list(itertools.chain([1], (2,), "c")),
    )  # fmt: skip


@whole()
def a_property_that_is_kept(x):
    lazy, under = Lazy(x), Under(x)
    return lazy.total, lazy.total + lazy.total, lazy.asked, under.total, lazy.compiled(3), under.compiled(2)


@whole(lambda: (tensor(1, 2), Lazy(tensor(3, 4))))
def a_property_of_an_object_from_outside_is_kept_there(x, lazy):
    return lazy.total * x, lazy.asked, lazy, lazy.total, lazy.asked


@whole()
def classes_of_classes(x):
    return (
        x, issubclass(bool, (str, int)), issubclass(bool, (str, bytes)), issubclass(Under, Lazy),
        issubclass(Lazy, Under), callable(Has()),
        isinstance(True, (str, int)), isinstance(1.0, (str, int)), type("".join) is type([].append),
        {Scaler: 1}[Scaler],
        {Scaler: 1, Has: 2}.get(Has), Scaler in {Scaler: 1}, Has in {Scaler: 1}, callable(x.sum), callable(x),
        callable(3), callable(Scaler(1)), callable([]), callable((1,)), callable(len), callable(Has),
    )  # fmt: skip


@whole()
def iterators_that_objects_are(x):
    down = Down(3)
    first = next(down)
    rest = [*down]
    return x, first, rest, next(iter([4, 5])), next(iter(()), "none"), [*Down(2)], sum(Down(4))


@whole()
def functions_that_are_given_back(x):
    def named():
        """Said."""
        return x

    named.__name__, named.__doc__ = "other", "Said otherwise."
    scaler = Scaler(x)
    return named()[0], named.__name__, named.__doc__, scaler.clipped(x)


@whole()
def annotations_beside_functions(x):
    def f(
        a: tuple[int, ...], b: int | None = None, *c: list[int], d: typing.Optional[int] = 3, **e: dict[str, list[int]]
    ) -> int | str | None:
        y: int
        y = len(a)
        g: list[int] = [y]
        return g, b, c, d, e

    met = []

    def note(v):
        met.append(v)
        return Plain()

    note(1).x: int
    [0][note(2) and 0]: int
    return x, f((1, 2), 3, 4, d=5, e=6), met


# ---------------------------------------------------------------------------------------------------------- containers


@whole()
def methods_of_dictionaries(x):
    d = {"a": 1, "b": x, "c": 3, "d": 4, "e": 5}
    popped = [d.pop("c"), d.pop("a"), d.pop("e"), d.pop("zz", "none"), d.pop("zz", None)]
    copied, merged = d.copy(), d | {"b": 2, "x": 9, "y": 10}
    d |= {"y": 7, "b": x * 2}
    copied["new"] = 1
    d.update({"d": 6}, k=8)
    facts = (len(merged), len(merged.keys()), len(merged.items()), len(merged.values()), len({}.keys()))
    inside = ("a" in d, "b" in d, "b" in d.keys(), "zz" in d.keys(), "zz" not in d)
    last = merged.popitem()
    return popped, copied, merged, d, facts, inside, last, d.setdefault("q", 5), d.setdefault("k", 5), d.get("no", x)


@whole()
def methods_of_lists(x):
    items = [3, 1, 2, 1]
    facts = (items.count(1), items.count(7), items.index(1), items.index(2), [x].copy(), items.copy() is items)
    items.remove(1)
    a = items.copy()
    items.sort()
    b = items.copy()
    items.sort(reverse=True)
    c = items[::-1], items[1:], items[-2:], items[:0]
    items.insert(1, x)
    items.insert(-1, "l")
    items.insert(99, "end")
    items.insert(-99, "begin")
    popped = items.pop(), items.pop(0), items.pop(-2)
    items[1:1] = [8, 9]
    items[-1] = "last"
    del items[0]
    many = [1, 2, 3, 4, 5, 6]
    many[::2] = "abc"
    del many[1:3]
    return facts, a, b, c, items, popped, many, [*reversed(many)], many * 2, many + [x]


@whole()
def methods_of_tuples(x):
    t, p = (1, 2, 1, 3), Point(5, 6)
    count, index = t.count, p.index
    return x, count(1), t.index(3), p.count(5), index(6), p.x, t[-1], t[1:3]


@whole()
def lists_that_grow_by_what_runs_code(x):
    def items():
        got = yield x
        assert got is None
        for i in range(5):
            if i == 1:
                continue
            if i == 3:
                break
            yield i
        else:
            yield "not come to"
        for i in ():
            yield i
        else:
            yield "else"

    out = [0]
    out += items()
    out.extend(Down(2))
    out.extend(v for v in (7, 8))
    return out


@whole()
def errors_of_containers(x):
    told = []
    cases = [
        lambda: {}.popitem(), lambda: [].pop(), lambda: [1].pop(1), lambda: [1].pop(-2), lambda: [1].remove(2),
        lambda: [1].index(2), lambda: (1,).index(2), lambda: {}["a"], lambda: {"a": 1}.pop("b"), lambda: [1][1],
        lambda: [1][-2], lambda: (1,)[1], lambda: [1].__setitem__(1, 2), lambda: [1].__delitem__(1), lambda: {}.pop(1),
        lambda: [1, 2].index(3), lambda: [1][5], lambda: "ab"[2],
    ]  # fmt: skip
    for case in cases:
        try:
            told.append(case())
        except IndexError:
            told.append("no such place")
        except KeyError:
            told.append("no such key")
        except ValueError:
            told.append("no such thing")
        except TypeError:
            told.append("of no such type")
    return x, told


@whole()
def borders_of_positions(x):
    items = [1, 2, 3]
    return (
        x,
        items[2],
        items[-3],
        items[True],
        (1, 2)[-2],
        "ab"[-2],
        items[Tensor(1)],
        (4, 5)[Tensor(-1)],
        items.pop(-3),
    )


@whole()
def cases_that_do_not_fit(x):
    out = []
    for v in ([1], [2], (1, 2), 1, "one", None, True, 2.0, [], [[1], 2]):
        match v:
            case [1] as one:
                out.append(("one", one))
            case [2] | [] as other:
                out.append(("other", other))
            case [[1] as inner, y]:
                out.append((inner, y))
            case None | True as known:
                out.append(known)
            case 1 | "one":
                out.append("first")
            case _:
                out.append("none")
    return x, out


@whole()
def arguments_of_every_kind(x):
    def f(a, b=2, /, c=3, *d, e, g=7, **h):
        return a, b, c, d, e, g, h

    return x, f(1, e=5), f(1, 2, 4, 5, 6, e=0), f(1, e=2, a=3, b=4), f(x, c=1, e=2, z=3), f(*(1, 2), **{"e": 1, "g": 2})


# ------------------------------------------------------------------------------------------------------------- tensors


@whole()
def tensors_that_go_through_our_functions(x):
    point = Point(x, x * 2)
    parts = ops.split(x, 1)
    return ops.stack(point), ops.concat(tuple(point)), parts[1], float(Tensor(2.5)), int(Tensor(3))


@whole(*[lambda n=n: (tensor(*range(n)),) for n in (3, 4, 6, 9)])
def sizes_that_are_numbers(x):
    n = x.shape[0]
    return x * abs(n), x + int(n), abs(-n) == n, n if n > 2 else 0, x * (n // 2), x + n % 3, max(n, 4), len(x)


@whole(*[lambda n=n: (tensor(1, 0, 3), n) for n in (0, 1, 2, -1, -3)])
def places_that_are_known_later(x, i):
    y = x * 1
    y[i] = 9
    b = x > 0
    b[i] = True
    return x[i] * 1, y, b, x.reshape(1, 3)[0, i] * 1, x.reshape(1, 3)[:, i] * 1


@whole(*numbered(float), *numbered(lambda n: float("nan") if n < 5 else n / 2))
def numbers_that_are_known_later(x, n):
    return x * n, n - x, x / n, n, n + 1, -n, x**2 + n


NAN = float("nan")


@whole(
    lambda: (tensor(1, 2), NAN, NAN, 1.0),
    lambda: (tensor(1, 2), NAN, float("nan"), 1.0),
    lambda: (tensor(1, 2), float("nan"), NAN, 2.0),
    lambda: (tensor(1, 2), 3.0, NAN, 2.0),
)
def numbers_that_are_none(x, a, b, c):
    return x * a, a, b, a == b, a != a, x + c


@whole(*[lambda n=n, t=t: (tensor(1, 2, dtype=t), n) for t in ("int8", "bool", "uint8") for n in (0, 1, 2, 127)])
def whole_numbers_beside_narrow_types(x, n):
    return x + n, x * n, x == n


@whole(*[lambda x=x: (tensor(*x),) for x in ([1, 2], [-1, 1], [0, -5])])
def one_of_several_containers(x):
    items = [1, 2, 3] if x.sum() > 0 else [4, 5, 6]
    total = x * 0
    for i in items:
        total = total + i
    o = Scaler(x) if x[0] > 0 else Scaler(x * 2)
    a, b, _ = items
    return total, o(x), a * x, b + x, len(items) * x


@whole(lambda: (tensor(1, 2), sys.version_info), lambda: (tensor(1, 2), sys.version_info))
def tuples_of_python_itself(x, version):
    return x * version[0], version[:2], version[-1]


@whole(lambda: (tensor(1, 2), {"a": 1, "b": 2, "c": 3}), lambda: (tensor(1, 2), {"c": 1, "b": 2}))
def dictionaries_from_outside(x, d):
    first = d.pop("c")
    d["c"] = x
    d["n"] = d.pop("b")
    return first, d, list(d)


@whole(lambda: (tensor(1, 2), Parameter(Tensor([5.0, 6.0]), name="p")))
def parameters_are_given_data(x, p):
    p.data = x * 2
    y = p * 3
    p.set_data(x)
    return y, p * 2, p.name


@whole(*[lambda n=n: (tensor(1, -2, 3), mutable(n), mutable(n / 2)) for n in (0, 2, 1)])
def numbers_that_are_said_to_change(x, n, f):
    y = x * 1
    y[n] = f
    return x * n, x - f, x[n] * 2, y, n + 1, f * 2, n == 2, [4, 5, 6][n] * x
