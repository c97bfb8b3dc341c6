# ruff: noqa: SIM108
"""Branches that tensors decide."""

from programs.shared import N, S, Scaler, X, native, nothing


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
