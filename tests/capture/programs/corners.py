"""Corners of the language."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np

from mycelia.eager import Parameter, Tensor
from programs.shared import SCALER, M, N, S, Scaler, X, Y, native, nothing, python


@native(X)
def several_targets(x):
    a = b = x * 2
    (c, d), e = (a, b), [a]
    return a + b, c, d, e


@native(X)
def attribute_targets(x):
    s, t = Scaler(x), Scaler(x)
    s.factor, t.factor = x * 2, x * 3
    for s.factor in [x, x * 4]:
        pass
    return s(x), t(x)


@native(X)
def item_targets(x):
    d, xs = {}, [0, 0]
    d["a"], xs[1] = x, x * 2
    d["a"] += 1
    xs[1] *= 3
    return d, xs


@native(X, 2)
def positional_only(x, n, /, *, k=1.0):
    return x * n + k


@native(X)
def calls_with_everything(x):
    def f(a, /, b, *args, c=1, **kwargs):
        return a * b + sum(args) + c + kwargs.get("d", 0)

    return f(x, 2, 3, *[4, 5], c=6, **{"d": 7})


@native(X)
def walrus_in_comprehension(x):
    ys = [last := x * i for i in range(3)]
    return ys, last


@native(X)
def sets_and_membership(x):
    names = {n.lower() for n in ("a", "B", "A", "b")}
    return x * len(names) if "a" in names and "c" not in names else x


@native(X)
def shadowed_builtin(x):
    len = lambda v: 7  # noqa: E731
    range = [1.0, 2.0]
    for k in range:
        x = x * k
    return x * len(x)


@native(X)
def lambda_in_default(x, f=lambda v: v * 2):
    return f(x)


@native(X)
def decorated_inside(x):
    def twice(f):
        @functools.wraps(f)
        def g(*args):
            return f(f(*args))

        return g

    @twice
    def add(v):
        return v + 1

    return add(x)


@native(X)
def immediately_called(x):
    return (lambda a: (lambda b: a * b)(a + 1))(x)


class Recursive:
    def run(self, x, n):
        if n < 1:
            return x
        return self.run(x * 2, n - 1)

    def __getitem__(self, i):
        return i * 2.0

    def __len__(self):
        return 3

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __add__(self, other):
        return other * 2 if other.sum() > 0 else other


@native(X, N)
def recursion_of_methods(x, n):
    return Recursive().run(x, n)


@native(X)
def special_methods(x):
    r = Recursive()
    with r as same:
        y = x * same[3] + len(r)
    return y


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


@native(X)
@native(-X)
def slots(x):
    s = Slotted(x)
    if x.sum() > 0:
        s.v = s.v * 2
    return s.v


class Dynamic:
    def __getattr__(self, name):
        return float(len(name))


DYNAMIC = Dynamic()


@native(X)
def dynamic_attributes(x):
    return x * DYNAMIC.four + getattr(DYNAMIC, "six" * 2) + getattr(SCALER, "missing", 1.0)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: float = 2.0

    def scaled(self, k):
        return dataclasses.replace(self, a=self.a * k)


@native(X)
def frozen_dataclass(x):
    return Frozen(x).scaled(3.0).a


@native(X)
@native(-X)
def nested_loops_return(x):
    for i in range(3):
        for j in range(3):
            x = x + j
            if x.sum() > 8 + i:
                return x * 100
    return x


@native(X)
@native(-X)
def return_in_with_in_loop(x):
    for _ in range(3):
        with nothing() as two:
            x = x + two
            if x.sum() > 10:
                return x * two
    return -x


@native(X)
def continue_in_try(x):
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            x = x + i
        finally:
            x = x * 2
    return x


@native(X)
@native(-X)
def break_in_nested_if(x):
    k = 0.0
    for i in range(5):
        if i > 1:
            if x.sum() > 3:
                break
            else:
                k = k + 1.0
        x = x + 1
    return x, k


@native(X)
@native(-X)
def loop_else_with_return(x):
    for i in range(3):
        x = x + i
        if x.sum() > 100:
            break
    else:
        return x * 2
    return x


@native(X)
@native(-X)
def while_in_function_with_early_return(x):
    def grow(y):
        while y.sum() < 20:
            y = y + 3
            if y.max() > 10:
                return y
        return -y

    return grow(x) + grow(x * 2)


@native(X)
@native(-X)
def flags_of_users(x):
    found = False
    for v in (x, x * 2, x * 3):
        if v.sum() > 5:
            found = True
    return x * 2 if found else x


@native(X)
@native(-X)
def chain_with_calls(x):
    def check(v):
        return v.sum() > 0

    return x * 2 if check(x) and not check(-x) else x * 3


@native(X)
def tensor_methods(x):
    return x.reshape(1, -1).squeeze().astype("float32").abs().sum(axis=0, keepdims=True)


@native(M)
def slices(m):
    return m[0], m[:, 1], m[-1, ::2], m[..., None], m[m > 0] if False else m.T


@native(M, Tensor(1))
def index_by_tensor(m, i):
    return m[i], m[:, i]


@native(X)
def integer_arithmetic(x):
    n = x.shape[0]
    return x * (n // 2) + n % 2 - (n << 1) + ~n


@native(X)
@native(-X)
def deep_ternary(x):
    s = x.sum()
    return x if s > 3 else x * 2 if s > 0 else x * 3 if s > -3 else x * 4


@native(X)
@native(-X)
def pass_and_ellipsis(x):
    if x.sum() > 0:
        pass
    else:
        ...
    return x


@native(X)
@native(-X)
def only_else_assigns(x):
    y = x
    if x.sum() > 0:
        pass
    else:
        y = x * 2
    return y


@native(X)
def operators_of_objects(x):
    return Recursive() + x


@native(X)
def isinstance_and_type(x):
    return x * 2 if isinstance(x, Tensor) and type(x) is Tensor and hasattr(x, "shape") else x


@native(X)
def nested_data(x):
    tree = {"a": [x, (x + 1, {"b": x * 2})], "c": None}
    tree["a"][1][1]["b"] = tree["a"][0] * 5
    return tree


@native(X)
def string_formatting(x):
    return "{}-{:>4}".format(x.shape, "a") + "%d" % x.ndim, x  # noqa: UP031


@native(X)
@native(-X)
def mutates_captured_list(x):
    found = []

    def note(v):
        found.append(v)
        return v * 2

    y = note(x) + note(x + 1)
    return y, found


@native(X)
@native(-X)
def abs_of_branches(x):
    total = 0.0
    for v in x:
        total += v if v > 0 else -v
    return total


@native(X)
def grows_list_in_branch(x):
    xs = [x]
    if x.sum() > 0:
        xs.append(x * 2)
    return xs


@native(X)
def global_assignment(x):
    global COUNT
    COUNT = 3
    return x * COUNT


@python(X)
def star_import_of_numbers(x):
    return x * np.asarray(x).max()


@python(X)
def generator_with_branch(x):
    def positive():
        for v in x:
            if v > 0:
                yield v

    return sum(positive())


STATE = Parameter([1.0, 2.0, 3.0], name="state")


@native(X)
def reads_parameter(x):
    return x * STATE


@native(X)
def aliases_parameter(x):
    w = STATE
    return w + x, w * 2


@dataclasses.dataclass
class Settings:
    scale: float
    _: dataclasses.KW_ONLY
    shift: float = 1.0
    name: str


@native(X)
def fields_that_only_names_give(x):
    made = Settings(2.0, name="a")
    return x * made.scale + made.shift, made.name, Settings(scale=3.0, shift=x, name="b").shift


class Range(NamedTuple):
    low: object
    high: object = 3.0


@native(X)
def named_tuples_with_defaults(x):
    return Range(x), Range(x, 4.0), Range(high=x, low=2.0).high


@native(X)
def what_can_be_called(x):
    things = (len, print, int, Range, x, 3, "a", None, (len,), [len], SCALER, Scaler.__call__, {}, {1}, Settings)
    made = (
        Range(1),
        Degrees(1.0),
        lambda: 1,
        SCALER.clipped,
        x.sum,
        len("ab"),
        x.shape,
        x.dtype,
        x.shape[0] + 1,
        iter([1]),
    )
    return [callable(f) for f in (*things, *made)], x


class Degrees:
    """What numbers are made of by methods of its own."""

    def __init__(self, number):
        self.number = number

    def __float__(self):
        return self.number * 1.5

    def __int__(self):
        return int(self.number) + 7

    def __index__(self):
        return 2

    def __bool__(self):
        return self.number > 100

    def __str__(self):
        return f"{self.number} degrees"

    def __len__(self):
        return 5


@native(X)
def objects_that_become_numbers(x):
    warm = Degrees(3.0)
    return x * float(warm) + int(warm), len(warm), bool(warm), bool(Degrees(200.0)), 3 if warm else 4


@native(X)
@native(-X)
def words_of_one_way_or_another(x):
    word = "up" if x.sum() > 0 else "down"
    return f"{word} and {1 + 1:03d}{'!' * 2}", x


@native(X)
def modules_that_are_imported_inside(x):
    import math
    import math as also
    from math import pi as half_turn
    from math import sqrt

    return x * sqrt(4.0) + math.floor(half_turn), also is math


class Row:
    """Goes over what it holds, by a method of its own."""

    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


class Steps:
    """Counts by itself."""

    def __init__(self, last):
        self.at, self.last = 0, last

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.last:
            raise StopIteration
        self.at += 1
        return self.at


@native(X)
def objects_that_are_gone_over(x):
    total = x * 0
    for part in Row(x, 2.0, 3):
        total = total + part
    for i in Steps(3):
        total = total * i
    first, *rest = Row(x, 1, 2)
    return total, first, rest, max(Row(1, 5, 3)), min(Steps(4)), [*Steps(2)]


@native(X, Y)
def largest_and_smallest(x, y):
    return (
        max([1, 3, 2]), min((4, 2)), max({5: x, 7: y}), min(n for n in (3, 1)), max(2, 9, 4), min([x.sum(), y.sum()]),
        max(x.sum(), y.sum(), S), max([], default=x), min([3, 1], default=x), max([y, x], key=lambda t: t.shape),
        max(["a", "ccc", "bb"], key=len), min("b", "a"),
    )  # fmt: skip


@native(Tensor([3.0]))
@native(Tensor([-3.0]))
@native(Tensor([[3.0]]))
@native(Tensor([[[0.0]]]))
@native(Tensor([4]))
def one_element_of_any_shape_is_a_truth(x):
    if x:
        return x * 2, not x
    while x > -5:
        x = x - 1
    return x, (1 if x > 2 else 3), bool(x < 0) and 5


@native(X)
def sequences_that_are_matched_in_parts(x):
    found = []
    for items in ([1, 2, 3, 4, 5], (6, 7), [7], [], [1, [2, 3, 4], 5], (8, 8, 9), (9, 1, 2, 3)):
        match items:
            case [1, [first, *inner], last]:
                found.append((first, inner, last))
            case [1, *middle, last]:
                found.append((middle, last))
            case [first, *rest, 9] | [9, first, *rest]:
                found.append((first, rest, "nine"))
            case [*before, y] if before:
                found.append((before, y))
            case [only, *_]:
                found.append(only)
            case [*none]:
                found.append(none)
    first, *others = (x, x * 2, x * 3)
    match others:
        case [second, *third]:
            return found, first, second, third
    return None
