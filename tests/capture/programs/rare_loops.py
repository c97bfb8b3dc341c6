"""Loops over rows, and by numbers that only the running program knows, left in every way; with the arguments."""

import numpy as np

from mycelia import ops
from mycelia.eager import Tensor
from programs.rare_objects import program

ROWS = Tensor(np.arange(60, dtype="float32").reshape(20, 3) - 20)
LIMITS = [lambda n=n: (ROWS * 1, Tensor(float(n))) for n in (-1000, -50, 0, 77, 1000)]


@program(*LIMITS)
def rows_until_one_is_large(x, limit):
    total = x[0] * 0
    for row in x:
        if row.sum() > limit:
            break
        total = total + row
    return total, row, x.shape


@program(*LIMITS)
def rows_and_what_comes_after_all_of_them(x, limit):
    met = limit * 0
    for i, row in enumerate(x):
        if row.sum() > limit:
            found = row * 2
            break
        met = met + i
    else:
        found = x[0] - 1
    return met, found, row


@program(*LIMITS[2:4])
def rows_that_are_returned_from_inside(x, limit):
    total = limit
    for row in x:
        total = total + row.sum()
        if row[1] > limit:
            return row, total
        if total > 2000:
            return row * 0, total - limit
    return x[0], total


@program(*LIMITS)
def rows_of_which_some_are_left_out(x, limit):
    total, last, count = x[0] * 0, None, 0
    for row in x:
        if row.sum() < limit:
            continue
        total, last, count = total + row, row, count + 1
    return total, last, count


@program(*LIMITS)
def rows_of_two_tensors(x, limit):
    total = limit
    for a, b in zip(x, x * 2, strict=True):
        total = total + (a * b).sum() / 100
        if total > 50:
            break
    return total, a, b


@program(*LIMITS)
def rows_backwards_and_by_their_places(x, limit):
    total = limit * 0
    for i in range(len(x) - 1, -1, -3):
        total = total * 0.5 + x[i].sum()
        if total < limit:
            break
    for row in x[::-4]:
        total = total + row[0]
    return total, i, row


@program(*LIMITS)
def lists_of_rows(x, limit):
    kept, large = [], []
    for row in x[:6]:
        kept.append(row * 2)
        large.append(row.sum() > limit)
    return ops.stack(kept), ops.stack(large), len(kept), kept[-1]


@program(*LIMITS)
def a_number_or_a_tensor_after_a_turn(x, limit):
    value, i = 0, 0
    while i < 4:
        value = x[i].sum() if i % 2 else i
        i = i + 1
        if limit > 500:
            break
    return value, i


@program(*LIMITS)
def a_type_that_changes_after_a_turn(x, limit):
    value, i = x[0].astype("int32"), limit * 0
    while i < 3:
        value, i = value * 1.5, i + 1
        if limit > 0:
            break
    return value, i


@program(*LIMITS)
def nested_loops_that_are_left(x, limit):
    found = None
    for a in x[:4]:
        for b in x[10:14]:
            if (a * b).sum() > limit:
                found = a + b
                break
        else:
            continue
        break
    else:
        found = x[0]
    return found, a, b


@program(*LIMITS)
def counts_that_are_positions(x, limit):
    i, j, steps = 0, 19, 0
    while i < j:
        middle = (i + j) // 2
        steps = steps + 1
        if x[middle].sum() < limit:
            i = middle + 1
        else:
            j = middle
    return x[i], i * x[j, 0], steps, x[i // 2], x[i % 3]
