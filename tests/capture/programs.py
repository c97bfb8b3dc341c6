# ruff: noqa: SIM108
"""Small programs in ordinary Python. Each must do the same eagerly and under jit."""

import contextlib
import dataclasses
import functools
import math
from collections import namedtuple

import numpy as np

from mycelia import ops
from mycelia.eager import Parameter, Tensor

NATIVE = []  # programs that a graph can hold
PYTHON = []  # programs that Python has to run


def native(*args):
    """The program is compiled, for these arguments."""
    return lambda fn: NATIVE.append((fn, args)) or fn


def python(*args):
    """The program falls back to Python, for these arguments."""
    return lambda fn: PYTHON.append((fn, args)) or fn


def vector(*numbers):
    return Tensor(np.array(numbers, "float32"))


X = vector(1.0, -2.0, 3.0)
Y = vector(0.5, 0.25, -1.0)
M = Tensor(np.arange(6, dtype="float32").reshape(2, 3) - 2)
S = Tensor(2.5)
N = Tensor(4)
FACTOR = 3.0
TABLE = {"a": 1.0, "b": [2.0, 3.0]}
SHIFT = Tensor(np.array([1.0, 1.0, 1.0], "float32"))
Point = namedtuple("Point", "x y")

# --------------------------------------------------------------------------------------------------- straight lines


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


@contextlib.contextmanager
def nothing():
    yield 2.0


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


class Scaler:
    limit = 2.0

    def __init__(self, factor):
        self.factor = factor
        self.__hidden = 0.5

    def __call__(self, x):
        return x * self.factor + self.__hidden

    def clipped(self, x):
        if x.sum() > self.limit:
            return x * 0 + self.limit
        return self(x)

    @property
    def double(self):
        return self.factor * 2

    @staticmethod
    def plus(x):
        return x + 1

    @classmethod
    def make(cls, factor):
        return cls(factor)


class Child(Scaler):
    def __call__(self, x):
        if x.sum() > 0:
            return super().__call__(x) * 10
        return super().__call__(x)


SCALER, CHILD = Scaler(3.0), Child(2.0)


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


@native(X)
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


@native(X)
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


# --------------------------------------------------------------------------------------------------------- branches


@native(X)
@native(-X)
def if_else(x):
    if x.sum() > 1.0:
        y = x * 2
    else:
        y = x - 1
    return y


@native(X)
@native(-X)
def if_only(x):
    if x.sum() > 1.0:
        x = x * 2
    return x


@native(X)
@native(-X)
def early_return(x):
    if x.sum() > 1.0:
        return x * 2
    return x - 1


@native(S)
@native(-S)
@native(S * 10)
def elif_ladder(s):
    if s > 10:
        return s * 3
    elif s > 0:
        return s * 2
    else:
        s = s - 1
    return s


@native(S)
@native(-S)
def several_returns(s):
    y = s * 2
    if y > 3:
        y = y + 1
        if y > 100:
            return y
        y = y * 2
    if y < 0:
        return -y
    return y


@native(S)
@native(-S)
def nested_if(s):
    if s > 0:
        if s > 2:
            r = s * 10
        else:
            r = s
    else:
        r = -s
    return r


@native(S)
@native(-S)
def number_or_tensor(s):
    y = 0.0
    if s > 0:
        y = s * 2
    return y + s


@native(S)
@native(-S)
def different_numbers(s):
    k = 1 if s > 0 else 2
    return s * k


@native(X)
@native(-X)
def ternary(x):
    return x * 2 if x.sum() > 1 else x / 2


@native(S, N)
@native(-S, N)
def and_or_not(s, n):
    if s > 0 and n > 3:
        return s
    if not (s > 0) or n < 0:
        return s * 2
    return s * 3


@native(S)
def chain_of_tensors(s):
    return s * 2 if 0 < s < 3 else s


@native(X)
@native(-X)
def changes_list_element(x):
    xs = [x, x]
    if x.sum() > 0:
        xs[0] = x * 2
    else:
        xs[1] = x * 3
    return xs


@native(X)
@native(-X)
def changes_dictionary(x):
    d = {"a": x, "b": x}
    if x.sum() > 0:
        d["a"] = x * 2
    return d


@native(X)
@native(-X)
def writes_element_in_branch(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = 100.0
    return y


@native(X)
@native(-X)
def changes_object_in_branch(x):
    s = Scaler(x)
    if x.sum() > 0:
        s.factor = x * 2
    return s(x)


@native(X)
@native(-X)
def tuple_in_branches(x):
    if x.sum() > 0:
        a, b = x, x * 2
    else:
        a, b = x * 3, x
    return a + b, {"a": a}


@native(X)
@native(-X)
def returns_structure(x):
    if x.sum() > 0:
        return {"y": x, "n": 1}
    return {"y": x * 2, "n": 1}


@native(X)
@native(-X)
def variable_of_one_branch_unused(x):
    if x.sum() > 0:
        y = x * 2
        x = y + 1
    return x


@native(X)
@native(-X)
def function_in_branch(x):
    if x.sum() > 0:

        def f(a):
            return a * 2

        x = f(x)
    return x


@native(X)
@native(-X)
def branch_in_called_function(x):
    return if_else(early_return(x)) + if_only(x)


@native(X)
@native(-X)
def minimum_of_tensors(x):
    return min(x.sum(), 1.0) + max(x[0], x[1], 0.5)


@native(X)
@native(-X)
def any_all(x):
    flags = [x[0] > 0, x[1] > 0]
    return x * 2 if any(flags) else x, x * 3 if all(flags) else x


@native(X)
@native(-X)
def closure_reads_branch(x):
    if x.sum() > 0:
        k = x * 2
    else:
        k = x * 3

    def f(y):
        return y * k

    return f(x)


@native(X)
@native(-X)
def branch_in_with(x):
    with nothing() as two:
        if x.sum() > 0:
            return x * two
        x = x + 1
    return x


@native(X)
@native(-X)
def branch_in_try(x):
    try:
        if x.sum() > 0:
            x = x * 2
    except KeyError:
        x = x * 0
    return x


@native(X)
@native(-X)
def ternary_in_comprehension(x):
    return [v * 2 if v > 0 else v for v in x]


@native(X)
@native(-X)
def early_return_in_unrolled_loop(x):
    for k in [1.0, 2.0, 3.0]:
        x = x * k
        if x.sum() > 3:
            return x
    return x + 100


# ------------------------------------------------------------------------------------------------------------ loops


@native(X)
def while_loop(x):
    while x.sum() < 100.0:
        x = x * 2
    return x


@native(X)
def while_not_at_all(x):
    while x.sum() > 100.0:
        x = x * 2
    return x


@native(X)
def while_with_counter(x):
    i, total = 0, 0.0
    while i < 5 and x.sum() < 50:
        x = x + i
        total = total + x.sum()
        i += 1
    return x, i, total


@native(X)
def while_break(x):
    n = 0
    while True:
        x = x * 2
        n = n + 1
        if x.sum() > 50:
            break
    return x, n


@native(X)
def while_continue(x):
    i = Tensor(0)
    while i < 6:
        i = i + 1
        if i == 3:
            continue
        x = x + i
    return x


@native(X)
def while_return(x):
    while x.sum() < 1000:
        x = x * 3
        if x.max() > 20:
            return x - 1
    return x


@native(X)
@native(X * 100)
def while_else(x):
    while x.sum() < 100:
        x = x * 2
        if x.max() > 1000:
            break
    else:
        x = -x
    return x


@native(M)
def for_rows(m):
    h = 0.0
    for row in m:
        h = h * 0.5 + row
    return h


@native(M)
def for_rows_keeps_last(m):
    for row in m:
        y = row * 2
    return row, y


@native(M)
def for_rows_break(m):
    total = m[0] * 0
    for row in m:
        if row.sum() > 0:
            break
        total = total + row
    else:
        total = total - 100
    return total


@native(M)
def for_rows_return(m):
    for row in m:
        if row.sum() > 0:
            return row * 10
    return m[0]


@native(X, N)
def for_range_of_tensor(x, n):
    for i in range(n):
        x = x + i
    return x


@native(X, N)
def for_range_from_to(x, n):
    for i in range(1, n, 2):
        if i == 3:
            continue
        x = x * 2 + i
    return x


@native(X)
def for_unrolled(x):
    for i in range(3):
        for k in (1.0, 2.0):
            x = x * k + i
    return x


@native(X)
def for_python_break(x):
    for i in range(100):
        if i == 3:
            break
        x = x + i
    else:
        x = x * 0
    return x, i


@native(X)
def for_tensor_break(x):
    for i in range(10):
        if x.sum() > 30:
            break
        x = x + i
    return x, i


@native(X)
def long_loop(x):
    for _ in range(200):
        y = x * 0.9
        x = y + 0.1
    return x, y


@native(X)
def long_loop_with_number(x):
    total = x * 0
    for i in range(1, 100, 3):
        if i % 2 == 0:
            continue
        total = total + x / i
        if total.max() > 3.1:
            break
    return total, i


@native(X)
def long_loop_in_python(x):
    n, names = 0, []
    for i in range(50):
        n += i
        names.append(str(i))
    return x * n, len(names)


@native(X)
def long_loop_with_index(x):
    weights = [0.5 * i for i in range(40)]
    for i in range(40):
        x = x + weights[i]
    return x, i


@native(X)
def infinite_generator(x):
    def numbers():
        i = 0
        while True:
            yield i
            i += 1

    for i in numbers():
        if i > 4:
            break
        x = x + i
    return x


@native(X)
def nested_while(x):
    n = 0
    while n < 10 and x.sum() < 50:
        m = 0
        while m < 3:
            if x.sum() > 20:
                break
            x = x + 1
            m += 1
        x = x * 1.1
        n += 1
    return x, n


@native(X)
def loop_with_tuple(x):
    a, b = x, x * 0 + 1
    while b.sum() < 100:
        a, b = b, a + b
    return a, b


@native(X)
def loop_with_dictionary(x):
    d = {"h": x, "n": 0}
    while d["h"].sum() < 50:
        d["h"] = d["h"] * 2
        d["n"] = d["n"] + 1
    return d


@native(X)
def loop_with_object(x):
    s = Scaler(x)
    while s.factor.sum() < 50:
        s.factor = s.factor * 2
    return s(x)


@native(X)
def loop_writes_elements(x):
    y = x * 1
    i = Tensor(0)
    while i < 3:
        y[0] = y[0] + 1.0
        i = i + 1
    return y


@native(X)
def branch_in_loop(x):
    i = Tensor(0)
    while i < 5:
        if x.sum() > 10:
            x = x / 2
        else:
            x = x * 3
        i = i + 1
    return x


@native(X)
def loop_in_branch(x):
    if x.sum() > 0:
        while x.sum() < 20:
            x = x * 2
    else:
        for _ in range(2):
            x = x - 1
    return x


@native(X)
def loop_walrus(x):
    while (s := x.sum()) < 30:
        x = x + s
    return x


@native(X, 5)
def python_while(x, n):
    while n > 0:
        n -= 1
        if n % 2:
            continue
        x = x + n
    return x


@native(S)
def collatz(s):
    n, steps = s * 0 + 7, 0
    while n != 1:
        if n % 2 == 0:
            n = n / 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


# -------------------------------------------------------------------------------------------------------- recursion


@native(Tensor(5.0))
def factorial(n):
    if n < 1.5:
        return 1.0
    return n * factorial(n - 1)


@native(X, N)
def power(x, n):
    if n == 0:
        return x * 0 + 1
    return x * power(x, n - 1)


@native(X, Tensor(6))
def tree(x, n):
    if n < 2:
        return x
    return tree(x, n - 1) + tree(x * 0.5, n - 2)


@native(X, N)
def even(x, n):
    if n == 0:
        return x
    return odd(x * SHIFT, n - 1)


def odd(x, n):
    if n == 0:
        return -x
    return even(x + SHIFT, n - 1)


@native(X)
def inner_recursion(x):
    k = x * 2

    def again(y, n):
        if n < 1:
            return y
        return again(y * k, n - 1)

    return again(x, Tensor(3))


@native(X, 4)
def python_recursion(x, n):
    return x if n == 0 else python_recursion(x * 2, n - 1) + n


@native(X, N)
def accumulating(x, n, acc=0.0):
    acc = acc + x * 0
    if n < 1:
        return acc
    return accumulating(x, n - 1, acc + x * n)


@native(X, N)
def recursion_of_pairs(x, n):
    if n == 0:
        return x, n
    y, m = recursion_of_pairs(x * 2, n - 1)
    return y + 1, m + 2


# ----------------------------------------------------------------------------------------------------------- Python


@python(X)
def through_numpy(x):
    return (x * x).sum() + Tensor(np.tanh(x.asnumpy())).sum()


@python(X)
def through_float(x):
    return x * float(x.sum())


@python(X)
def text_of_tensor(x):
    return f"{x.sum():.2f}", x


@python(X)
def tensor_as_index(x):
    return [10, 20, 30][int(x[0])] * x


@python(X)
def grows_list_by_tensor(x):
    xs = []
    while x.sum() < 20:
        x = x * 2
        xs.append(x)
    return xs


@python(X)
def raises_by_tensor(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x


@python(X)
def asserts_tensor(x):
    assert x.sum() > 0
    return x + 1


@python(X)
def catches_what_python_needs(x):
    try:
        k = float(x.sum())
    except Exception:
        k = -1.0
    return x * k


@python(X)
def filter_by_tensor(x):
    return [v * 2 for v in x if v > 0]


STATE = Parameter([1.0, 2.0, 3.0], name="state")


@native(X)
def reads_parameter(x):
    return x * STATE


@native(X)
def aliases_parameter(x):
    w = STATE
    return w + x, w * 2
