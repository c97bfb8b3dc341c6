"""Functions that call themselves."""

from mycelia.eager import Tensor
from programs.shared import SHIFT, N, X, native, python


@python(Tensor(5.0))  # a float for small numbers, and a tensor for others
def factorial(n):
    if n < 1.5:
        return 1.0
    return n * factorial(n - 1)


@native(X, N)
def power(x, n):
    if n == 0:
        return x * 0 + 1
    return x * power(x, n - 1)


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


@native(X, Tensor(6))
def tree(x, n):
    if n < 2:
        return x
    return tree(x, n - 1) + tree(x * 0.5, n - 2)


@native(X)
def a_call_by_another_name_is_another_call(x):
    def climb(x, step=1.0, factor=1.0):
        if x.sum() < 20.0:
            return climb(x + step, factor=2.0)
        return x * factor

    return climb(x, step=2.0)
