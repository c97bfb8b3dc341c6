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


def named(n, x, *, plus=1.0, times=2.0):
    if n == 0:
        return x * times + plus
    return named(n - 1, x, plus=plus) if x.sum() > n else named(n - 1, x + times, plus=plus)


@native(N, X)
@native(N, X * 9)
def recursive_calls_with_names(n, x):
    return named(n, x, plus=x.sum()) + named(n, x, times=x.sum())


def other_names(n, x, *, plus=None, times=None):
    if n == 0:
        return x * 5 if plus is None else x + plus
    return other_names(n - 1, x, plus=times, times=plus)


@native(N, X)
@native(N + 1, X)
def recursive_calls_with_other_names(n, x):
    return other_names(n, x, plus=x.sum()), other_names(n, x, times=x.sum())


def one(n, x):
    return x if n == 0 else one(n - 1, x) * 2 + another(n - 1, x)


def another(n, x):
    return -x if n == 0 else another(n - 1, x) + one(n - 1, x) * 3


@python(N, X)  # each would have to be a definition of the other
def two_functions_that_call_each_other_and_themselves(n, x):
    return one(n, x) + another(n, x)


def halves(n, x, *, left=1.0, right=2.0):
    if n == 0:
        return x * left + right
    return halves(n - 1, x, left=right) + halves(n - 1, x, right=left)


@python(N, X)
def calls_of_several_kinds_inside_one_another(n, x):
    return halves(n, x, left=x.sum())
