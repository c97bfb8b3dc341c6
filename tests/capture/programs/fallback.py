"""Programs that Python has to run, in part."""

import contextlib

import numpy as np

from mycelia.eager import Tensor
from programs.shared import X, native, python


@python(X)
def through_numpy(x):
    return (x * x).sum() + Tensor(np.tanh(x.asnumpy())).sum()


@python(X)
def through_float(x):
    return x * float(x.sum())


@native(X)
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


@native(X)
def asserts_tensor_where_it_is_caught(x):
    try:
        assert x.sum() > 100
    except AssertionError:
        return x
    return x + 1


@native(X)
def asserts_tensor_where_it_is_suppressed(x):
    with contextlib.suppress(AssertionError):
        assert x.sum() > 100
        x = x + 1
    return x


@python(X)
def catches_what_python_needs(x):
    try:
        k = float(x.sum())
    except Exception:
        k = -1.0
    return x * k


@python(X)
def suppresses_everything(x):
    k = -1.0
    with contextlib.suppress(Exception):
        k = float(x.sum())
    return x * k


@python(X)
def filter_by_tensor(x):
    return [v * 2 for v in x if v > 0]
