"""Programs without a branch that a tensor decides."""

import contextlib
import dataclasses
import functools
import math

import numpy as np

from mycelia import ops
from mycelia.eager import Tensor
from programs.shared import FACTOR, SCALER, SHIFT, TABLE, M, Point, S, Scaler, X, Y, native, nothing, python


@native(X, Y)
def arithmetic(x, y):
    return (x + y) * x / (y + 2.0) - x**2


@native(X)
def reads_globals(x):
    return x * FACTOR + TABLE["a"] + TABLE["b"][1] + SHIFT


@native(X)
def tuples(x):
    a, (b, *c) = x, (x + 1, x + 2, x + 3)
    return a, b, c


@native(X)
def dictionaries(x):
    d = {"x": x}
    d["y"] = d["x"] * 2
    d.update(z=d["y"] + 1)
    del d["x"]
    return d


@native(X)
def lists(x):
    xs = [x]
    xs.append(x + 1)
    xs += [x + 2]
    xs[0] = xs[0] * 10
    xs.insert(1, x)
    return xs, len(xs)


@native(X)
def comprehensions(x):
    xs = [x * i for i in range(4) if i % 2]
    d = {str(i): x + i for i in range(2)}
    return sum(xs), d, sum(v * v for v in xs)


@native(X)
def nested_comprehension(x):
    return sum(x * i + j for i in range(3) for j in range(i))


@native(X)
def named_tuple(x):
    p = Point(x, x + 1)
    return p, p.x * p.y


@native(X, 3)
def defaults(x, n, scale=2.0, *, offset=1.0):
    return x * n * scale + offset


def takes_anything(*args, **kwargs):
    return sum(args) + sum(kwargs.values())


@native(X)
def star_arguments(x):
    args, kwargs = (x, x * 2), {"a": x, "b": 1.0}
    return takes_anything(*args, **kwargs)


@native(X)
def augmented(x):
    y = x
    y += 1
    y *= 2.0
    y -= x
    y /= 4.0
    return y, x


@native(X)
def walrus(x):
    if (n := x.shape[0]) > 2:
        return x * n
    return x


@native(X)
def chained_comparison(x):
    return 1 < x.shape[0] <= 3, x


@native(X)
def f_strings_of_numbers(x):
    return f"{x.shape[0]} and {FACTOR:.1f}", x + 1


@native(X)
def try_except(x):
    try:
        y = x + {"a": 1}["b"]
    except KeyError:
        y = x + 2
    else:
        y = y * 100
    finally:
        z = y * 2
    return z


@native(X)
def try_reshape(x):
    try:
        return x.reshape((2, 2))
    except ValueError:
        return x * 7


@native(X)
def return_in_try(x):
    try:
        return x + 1
    finally:
        x = x * 100


@native(X)
def with_block(x):
    with nothing() as two, contextlib.suppress(KeyError):
        y = x * two
    return y


@native(X)
def return_in_with(x):
    with nothing() as two:
        if two > 1:
            return x * two
    return x


@native(X)
def nested_function(x):
    def twice(y):
        return y * 2

    return twice(twice(x))


@native(X)
def closure_over_loop(x):
    fs = [lambda y, i=i: y * i for i in range(3)]
    return [f(x) for f in fs]


@native(X)
def nonlocal_inside(x):
    total = x

    def add(y):
        nonlocal total
        total = total + y

    add(x * 2)
    add(1.0)
    return total


@native(X)
@native(-X)
def nonlocal_in_branch(x):
    total, count = x, 0

    def add(y):
        nonlocal total, count
        total = total + y
        count += 1

    if x.sum() > 0:
        add(x * 2)
    add(1.0)
    return total


@native(X)
def lambdas(x):
    f, g = (lambda a: a + 1), (lambda a: a * 3)
    return f(g(x)), g(f(x))


@native(X)
def higher_order(x):
    return functools.reduce(lambda a, b: a + b, map(lambda i: x * i, range(4)))  # noqa: C417


@native(X)
def partial_function(x):
    f = functools.partial(lambda a, b, c: a * b + c, x, c=1.0)
    return f(b=2.0)


@native(X)
def sorted_by_key(x):
    xs = sorted([3, 1, 2], key=lambda i: -i)
    return x * xs[0] + xs[-1]


@native(X)
def zip_and_enumerate(x):
    y = x
    for i, (a, b) in enumerate(zip([1.0, 2.0], [3.0, 4.0], strict=True)):
        y = y * a + b * i
    return y


@native(X)
def iterate_rows(x):
    return [r * 2 for r in x.reshape((3, 1))]


@native(X)
def generator(x):
    def powers():
        y = x
        for _ in range(3):
            yield y
            y = y * x

    return sum(powers())


class Child(Scaler):
    def __call__(self, x):
        if x.sum() > 0:
            return super().__call__(x) * 10
        return super().__call__(x)


CHILD = Child(2.0)


@native(X)
def object_outside(x):
    return SCALER(x) * SCALER.double + Scaler.plus(x) * SCALER.limit


@native(X)
def object_inside(x):
    s = Scaler.make(x * 2)
    s.factor = s.factor + 1
    return s(x)


@native(X)
def method_with_branch(x):
    return SCALER.clipped(x)


@native(X)
def inherited(x):
    return CHILD(x)


@python(X)
def class_inside(x):
    class Local:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v * 2

    return Local(x).get()


@dataclasses.dataclass
class Config:
    width: int = 2
    rate: float = 0.5


@native(X, Config())
def dataclass_argument(x, config):
    return x * config.width + config.rate


@native([X, Y], {"k": S})
def nested_arguments(xs, d):
    return {"sum": xs[0] + xs[1], "k": [d["k"] * 2]}


@native(X)
def match_statement(x):
    match x.shape:
        case (3,):
            return x * 3
        case (a, b):
            return x * a * b
    return x


@native(X)
def assertion(x):
    assert x.shape == (3,), "three"
    return x + math.pi


@python(X)
def numpy_constant(x):
    return x + Tensor(np.linspace(0, 1, 3).astype("float32"))


@native(X)
def write_element(x):
    y = x * 1
    y[1] = 10.0
    y[0] = y[1] * 2
    return y


@native(M)
def reductions(m):
    return m.sum(), m.mean(axis=0), m.max(), ops.relu(m)


@native(X)
def conditional_import(x):
    import math as m

    return x * m.e


@native(X)
def deleted_variable(x):
    y = x + 1
    del y
    y = x + 2
    return y


@native(X, None)
def none_argument(x, bias):
    return x if bias is None else x + bias


@native(X, "double")
def string_argument(x, mode):
    return x * 2 if mode == "double" else x


@native(X)
def asserts_tensor(x):
    assert x.sum() > 0, f"the sum is {x.sum()}"
    return x + 1


@native(X)
def prints(x):
    print("x is", x, f"{x.sum():.2f}", [x, (1, "two")], sep=", ")
    return x + 1
