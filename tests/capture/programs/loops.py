# ruff: noqa: SIM108
"""Loops that tensors decide, and others."""

from mycelia.eager import Tensor
from programs.shared import M, N, S, Scaler, X, native, python


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


@python(X)
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
