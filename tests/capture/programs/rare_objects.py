"""Programs about objects from outside that change, and about numbers of odd types; with the arguments of calls."""

import functools
import time
from collections import OrderedDict, deque

import numpy as np

from mycelia import float32, int32, mutable, nn, ops
from mycelia.api.jit import jit
from mycelia.eager import Parameter, Tensor
from programs.rare import tensor
from programs.shared import Scaler

EITHER = []  # programs, of which nobody says who runs them, and the arguments of the calls of each


def program(*calls):
    """The program does what Python does; each call makes its arguments anew."""
    return lambda fn: EITHER.append((fn, calls or (lambda: (tensor(1, -2, 3),),))) or fn


class Slots:
    __slots__ = ("__dict__", "a", "b")

    def __init__(self, **given):
        for name, value in given.items():
            setattr(self, name, value)


class Rises(Exception):
    pass


class Ready:
    def __init__(self, n=1):
        self.n = n

    def __lt__(self, other):
        return self.n < other.n

    @jit
    def compiled(self, x):
        return x * self.n

    part = functools.partialmethod(lambda self, k, x: x * k, 3)


SIGNS = [lambda s=s: (tensor(s, -2 * s, 3),) for s in (1, -1, 2)]


@program(*[lambda k=k: (tensor(1, 2), Slots(**k)) for k in ({"a": 1, "b": 2}, {"a": 3}, {"b": 4, "c": 5}, {})])
def slots_of_an_object_from_outside(x, o):
    had = hasattr(o, "a"), hasattr(o, "b"), hasattr(o, "c")
    if had[0]:
        del o.a
    o.b = x * 2
    if had[2]:
        del o.c
    try:
        del o.a
    except AttributeError:
        o.a = 7
    return x, had, o, vars(o)


@program(lambda: (tensor(1, 2), nn.Dense(2, 2)))
def attributes_of_a_cell(x, net):
    net.extra = 5
    net.kept = x
    found = net.extra, hasattr(net, "kept")
    del net.extra
    return found, hasattr(net, "extra"), net.kept * 2, sorted(n for n in vars(net) if n in ("extra", "kept"))


@program(*[lambda n=n: (tensor(1, 2), deque(range(n), 4), OrderedDict(a=1, b=n), {1, n}) for n in (2, 4, 5)])
def containers_from_outside(x, queue, ordered, numbers):
    queue.append(x)
    queue.appendleft(1)
    first = queue.popleft(), queue.pop()
    ordered["c"] = ordered.pop("a")
    ordered["b"] = x
    numbers.add(9)
    numbers.discard(1)
    return first, queue, len(queue), ordered, list(ordered), sorted(numbers)


@program()
def errors_that_are_kept(x):
    kept = [ValueError("a", 1), Rises(), KeyError("k")]
    try:
        raise Rises("said", x.shape)
    except Rises as error:
        return x, kept, error, error.args, type(kept[0]).__name__


@program(*SIGNS)
def errors_that_depend_on_numbers(x):
    try:
        if x[0] > 0:
            raise Rises("positive")
        y = x * 2
    except Rises:
        y = x * 3
    else:
        y = y + 1
    finally:
        x = x + 1
    return x, y


@program()
def what_is_made_again(x):
    o = Ready(2)
    o.__init__(5)
    Ready.__init__(o, 6)
    o.__init__()
    return o, o.compiled(x), Ready(3).compiled(x), Ready.compiled(o, x), o.part(x), o.__class__ is Ready


@program()
def sorted_things(x):
    words, objects = ["b", "C", "a"], [Ready(3), Ready(1)]
    words.sort(key=str.lower, reverse=True)
    objects.sort()
    pairs = sorted([(2, "a"), (1, "b"), (1, "a")])
    pairs.sort(key=lambda p: p[1])
    return x, words, [o.n for o in objects], pairs, sorted({"z": 1, "y": 2}), sorted((3, 1), reverse=True)


@program(*[lambda n=n: (tensor(1, 2), n) for n in (2, 3, 2.5, True, -1, 0.5)])
def tensors_of_numbers(x, n):
    return Tensor(n) * x, Tensor(n, float32) + x, Tensor([n, 1]), Tensor((n, n), int32), Tensor([[n], [2]]).shape


@program(
    *[lambda n=n: (tensor(1, 2), mutable(n)) for n in (2, 3, 2)],
    *[lambda n=n: (tensor(1, 2), mutable(n)) for n in (0.5, 2.5)],
)
def tensors_of_numbers_that_are_said_to_change(x, n):
    return Tensor(n) * x, Tensor(n, float32) + x, x + n, n * 2, -n, n == 2, n > 1, [n], (n, 1)


@program(
    *[lambda n=n: (tensor(1, 0, dtype="bool"), n) for n in (0, 1, True, False, 2)],
    lambda: (tensor(1, dtype="bool"), 0.5),
)
def truths_that_are_set(x, n):
    y = x.copy()
    y[0] = n
    z = x.copy()
    z[-1:] = n
    return y, z, x == n, x + n, x * n


@program(*[lambda n=n: (tensor(5, -6, dtype="int32"), n) for n in (0, 3, -7, 2.75, True)])
def whole_numbers_that_are_set(x, n):
    y = x.copy()
    y[0] = n
    y[1:] += 1
    return y, x + n, x - n, x * n, x == n, x < n, x / 2


@program(*SIGNS)
def one_of_two_types(x):
    y = x.astype("int32") if x[0] > 0 else x
    return y + 1, y * y, -y, y.sum(), y + x


@program(*SIGNS)
def writes_in_branches(x):
    items, d = [x], {"k": 1.0}
    if x[0] > 0:
        items[0] = x * 2
        items.append(x)
        d["k"] = x.sum()
    else:
        items.append(x * 4)
        if x[1] > 0:
            items[1] = items[0] - 1
            d["k"] = 2.0
    return items, d["k"] * x


@program(*SIGNS)
def draws_and_prints_in_branches(x):
    y = x
    if x[0] > 0:
        print("positive", x)
        if x[2] > 2:
            print("large", x.sum())
            y = y * 2
    else:
        print("negative")
        y = y - 1
    print("end", y)
    return y


@program(*[lambda n=n: (tensor(*range(1, n)),) for n in (3, 5, 4)])
def nests_of_a_recursive_function(x):
    def halves(x, n):
        if n == 0:
            return [x], {"n": n}
        items, told = halves(x * 2, n - 1)
        return [*items, x], {"n": told["n"] + 1}

    def until(x, d):
        if x.sum() > 50:
            return x, [d]
        y, rest = until(x * 2, d + 1)
        return y, [*rest, d]

    return halves(x, 3), x


@program(*SIGNS)
def a_recursion_that_numbers_end(x):
    def until(x, turns):
        if x.abs().sum() > 50:
            return x, turns
        return until(x * 2, turns + 1)

    return until(x, 0 * x.sum())


@program(*SIGNS)
def one_of_several_things(x):
    a, b = [1, 2, 3], [4, 5, 6]
    chosen = a if x[0] > 0 else b
    chosen[1] = x
    pair = (x, 1) if x[0] > 0 else (x * 2, 1)
    d = {"v": 2.0} if x[0] > 0 else {"v": 3.0}
    d["v"] = d["v"] + 1
    s = Scaler(2.0) if x[0] > 0 else Scaler(3.0)
    s.factor = s.factor * 2
    return a, b, chosen, pair[0] * pair[1], d["v"] * x, s(x), [v * 2 for v in (a[0], b[0])], len(chosen) * x


@program(*SIGNS)
def loops_that_hand_things_on(x):
    old, older, count, found = x, x * 0, 0, None
    while old.abs().sum() < 60:
        old, older, count = old * 2 + 1, old, count + 1
        if count == 2:
            found = old
        if count > 7:
            break
    else:
        count = count + 100
    for i in range(4):
        if old.sum() > 1000 * i:
            older = older + i
            continue
        count = count + i
        if older.sum() < -100:
            break
    return old, older, count, found, x


@program(
    lambda: (tensor(1, 2), range(10**700, 10**700 + 3)),
    lambda: (tensor(1, 2), range(3)),
    lambda: (tensor(1, 2), 10**700),
)
def numbers_of_many_digits(x, r):
    return (len(r) if isinstance(r, range) else r % 7), x, r == r, r


@program(lambda: (tensor(1, 2), Parameter(Tensor([5.0, 6.0]), name="p")))
def a_parameter_of_another_shape(x, p):
    before = p * x
    p.set_data(Tensor([1.0, 2.0, 3.0, 4.0]), slice_shape=True)
    return before, p * 2, p.shape, p.name, p.requires_grad


@program()
def functions_of_arrays(x):
    class Here:
        def __init__(self, k):
            self.k = k

        def times(self, a):
            return np.asarray(a) * self.k

    def plus(a):
        return np.asarray(a) + np.float32(1)

    return ops.pyfunc(plus, x, x), x


@program()
def clocks_between_blocks(x):
    out = []
    for i in range(3):
        time.perf_counter()
        x = x + i
        out.append(x if i % 2 else i)
    with_else = 0
    while len(out) < 6:
        out.append(time.perf_counter() > 0)
    else:
        with_else = 1
    return out, with_else, x


TURNS = [lambda n=n: (tensor(1, -2, 3), Tensor(float(n))) for n in (0, 1, 2, 3, 5)]


@program(*TURNS)
def slots_that_take_over_from_one_another(x, n):
    a, b, c, i = x, x * 2, x * 3, n * 0
    while i < n:
        a, b, c, i = b, c, a + 1, i + 1
    return a, b, c, x, a is b, b is c


@program(*TURNS)
def slots_that_change_places(x, n):
    a, b, i = x, x * 2, n * 0
    old = older = x
    while i < n:
        a, b, i = b, a, i + 1
        older, old = old, a * 2
        if i > 3:
            break
    else:
        b = b + 1
    return a, b, old, older, x


@program(*TURNS)
def slots_that_are_only_sometimes_made_anew(x, n):
    best, last, i = x, None, n * 0
    while i < n:
        i = i + 1
        new = best * i - 1
        if new.sum() > best.sum():
            best = new
        last = new
    return best, last, best is x, x


@program(*TURNS)
def attributes_and_items_that_loops_change(x, n):
    o, items, d, i = Ready(x), [x, x * 2], {"a": x}, n * 0
    while i < n:
        o.n, items[0], items[1] = items[1], o.n, items[0] + 1
        d["a"], i = d["a"] + o.n, i + 1
    return o, items, d, x


@program(*TURNS)
def loops_inside_of_loops(x, n):
    total, i = x * 0, n * 0
    while i < n:
        j, i = n * 0, i + 1
        while j < i:
            j = j + 1
            if j > 2:
                break
            total = total + x * j
        else:
            total = total - 1
            continue
        if i > 3:
            return total, i, j
    return total, i


@program(*TURNS)
def numbers_that_loops_count(x, n):
    count, product, truth, i, low = 0, 1, False, n * 0, 5
    while i < n:
        count, product, truth, i, low = count + 2, product * 3 - 1, not truth, i + 1, low - 1
    return (
        count * x,
        product + x,
        (x if truth else -x),
        x[count % 3],
        x * low,
        -count * x,
        (count + 7) // 2 * x,
        count % 4 + x,
    )


@program(*TURNS)
def texts_and_things_that_loops_hand_on(x, n):
    word, pair, i = "begin", (x, x), n * 0
    while i < n:
        pair, i = (pair[1] + i, pair[0]), i + 1
    for k in range(3):
        if i > k:
            word = word + str(k)
    return word, pair, i


@program(*TURNS)
def effects_on_the_ways_of_branches(x, n):
    store = Parameter(x * 1, name="s")
    if n > 0:
        store.set_data(x * 2)
        if n > 2:
            print("more", store.sum())
            store += 1
            y = ops.rand(3) * 0 + store
        else:
            y = store * 2
        print("after", y)
    else:
        y = store - 1
    i = n * 0
    while i < n:
        print("turn", i)
        store += 1
        i = i + 1
    return y, store * 1, i
