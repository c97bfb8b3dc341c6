"""The laws that every op obeys at every sample. They are written once, and hold for an op that is added tomorrow.

A law is a function of a sample that raises AssertionError where the op breaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from mycelia.errors import GradientError, MyceliaError
from mycelia.ir import Function, Lowered, Op, Sample, interpret, verify
from mycelia.ir.text import parse, show
from mycelia.primitives.family import Shaped
from mycelia.primitives.pairing import has_complex
from mycelia.testing.executors import EXECUTORS
from mycelia.testing.numeric import numeric_jvp, numeric_vjp
from mycelia.testing.samples import arrays, as_dtype, function_of, outputs, rolled
from mycelia.transforms import jvp, vjp, vmap
from mycelia.types import (
    Array,
    TensorType,
    TupleType,
    Type,
    bfloat16,
    complex64,
    complex128,
    dtype_of,
    float16,
    float32,
    float64,
    type_of,
)

Law = Callable[[Sample], None]
LAWS: dict[str, Law] = {}

# of a result, in relation to it: a few units in the last place
UNFIT_FOR_COMPLEX = {"every_claimed_dtype_works", "commutative_ops_commute"}  # NumPy rounds x * y and y * x differently
TOLERANCE = {float64: 1e-11, float32: 2e-6, float16: 2e-3, bfloat16: 1e-2, complex64: 4e-6, complex128: 1e-11}


def law(check: Law) -> Law:
    """Make a function of a sample one of the laws."""

    def guarded(sample: Sample) -> None:
        with np.errstate(all="ignore"):
            check(sample)

    LAWS[check.__name__] = guarded
    return guarded


def obeys(op: type[Op], *, only: Sequence[str] = ()) -> None:
    """Hold an op to all laws (or only to some) at all its samples.

    >>> from mycelia.primitives import Exp
    >>> obeys(Exp, only=["infer_tells_the_type", "text_means_the_same"]) is None
    True
    """
    for sample in op.samples():
        for name, check in LAWS.items():
            if not only or name in only:
                check(sample)


@law
def infer_tells_the_type(sample: Sample) -> None:
    """The reference gives arrays of exactly the inferred types."""
    fn = function_of(sample)
    for promised, got in zip(fn.result_types, outputs(sample.op.reference(*arrays(sample))), strict=True):
        if isinstance(promised, TensorType):
            assert type_of(got) == promised, f"{sample} gives {type_of(got)} and promises {promised}"


@law
def execution_equals_reference(sample: Sample) -> None:
    """Every way to run the op gives what the reference gives."""
    _executors_agree(sample)


@law
def every_claimed_dtype_works(sample: Sample) -> None:
    """The op runs on all element types it claims, and says of what type the result is."""
    if not sample.inputs:
        return
    found = [as_dtype(sample, dtype) for dtype in getattr(sample.op, "dtypes", ())]
    own = arrays(sample)[-1].dtype
    others = [other for other in found if arrays(other)[-1].dtype != own or other.op.name == "select"]
    for other in others:
        infer_tells_the_type(other)
    for together in strangers(others):
        _executors_agree(*together)


def strangers(samples: Sequence[Sample]) -> list[list[Sample]]:
    """Samples by programs that compute them at once, with the very kernels that each would have in its own: their types
    have nothing in common that could be read or written together, and no library has a part in them.

    >>> from mycelia.primitives import Contract, Exp
    >>> from mycelia.types import float32, float64
    >>> both = [[as_dtype(next(op.samples()), d) for d in (float32, float64)] for op in (Exp, Contract)]
    >>> [len(strangers(samples)) for samples in both], len(strangers(both[0][:1] * 2))
    ([1, 2], 2)
    """
    alone: list[list[Sample]] = []
    groups: list[tuple[list[Sample], set[Type]]] = []
    for sample in samples:
        fn = function_of(sample)
        ours = type(sample.op).element is not Op.element or sample.op.native is Lowered.FOLD
        if not ours or has_complex(fn):
            alone.append([sample])
            continue
        types = {v.type for v in (*fn.params, *fn.results)}
        for group, met in groups:
            if met.isdisjoint(types):
                group.append(sample)
                met |= types
                break
        else:
            groups.append(([sample], types))
    return alone + [group for group, _ in groups]


def _executors_agree(*samples: Sample) -> None:
    """Of samples that run as one program."""
    fn = function_of(*samples)
    inputs = [x for sample in samples for x in arrays(sample)]
    want = [(sample, y) for sample in samples for y in outputs(sample.op.reference(*arrays(sample)))]
    for name, run in EXECUTORS.items():
        for got, (sample, reference) in zip(run(fn, *inputs), want, strict=True):
            assert np.asarray(got).dtype == reference.dtype, f"{sample} {name}: {np.asarray(got).dtype}"
            scale = 1.0 if sample.op.native else 0.0  # a sum in another order is exact in relation to its terms
            close(got, reference, TOLERANCE.get(dtype_of(reference), 0.0), f"{sample} {name}", scale)


@law
def commutative_ops_commute(sample: Sample) -> None:
    """Operands of an op that is said to be commutative may be exchanged."""
    if sample.op.commutative:
        x, y = arrays(sample)
        np.testing.assert_array_equal(sample.op.reference(x, y), sample.op.reference(y, x))


@law
def gradient_equals_differences(sample: Sample) -> None:
    """The cotangents of all inputs equal central differences."""
    found = _differentiable(sample)
    if found is None:
        return
    fn, inputs, exact = found
    step, tolerance = (1e-3, 1e-6) if exact else (2e-2, 2e-2)
    cts = [_random(np.asarray(y), 7 + i) for i, y in enumerate(interpret(fn, *inputs)) if _is_float(y)]
    joint = vjp(fn)
    verify(joint)
    got = iter(interpret(joint, *inputs, *cts)[len(fn.results) :])
    for want in numeric_vjp(_floats(fn), inputs, cts, step):
        if want is not None:
            close(next(got), want, tolerance, f"{sample}: gradient", scale=1.0)


@law
def second_gradient_equals_differences(sample: Sample) -> None:
    """The derivative of the gradient, in random directions, equals central differences of the gradient."""
    found = _differentiable(sample)
    if found is None or not found[2]:
        return
    fn, inputs, _ = found
    cts = [_random(np.asarray(y), 7 + i) for i, y in enumerate(interpret(fn, *inputs)) if _is_float(y)]
    joint = vjp(fn)
    gradient = Function(joint.params, joint.results[len(fn.results) :])
    points = [*inputs, *cts]
    for seed in range(2):
        tangents = [_random(x, 20 * seed + i) if _is_float(x) else None for i, x in enumerate(points)]
        want = numeric_jvp(lambda *xs: interpret(gradient, *xs), points, tangents)
        weights = [_random(w, 50 + i) for i, w in enumerate(want)]
        flows = interpret(vjp(gradient), *points, *weights)[len(gradient.results) :]
        got = sum(_dot(c, t) for c, t in zip(flows, [t for t in tangents if t is not None], strict=True))
        expected = sum(_dot(w, x) for w, x in zip(weights, want, strict=True))
        close(np.asarray(got), np.asarray(expected), 1e-6, f"{sample}: second gradient", scale=1.0)


@law
def forward_and_reverse_mode_agree(sample: Sample) -> None:
    """<ct, jvp(t)> equals <vjp(ct), t>."""
    found = _differentiable(sample)
    if found is None:
        return
    fn, inputs, exact = found
    values = interpret(fn, *inputs)
    cts = [_random(np.asarray(y), 7 + i) for i, y in enumerate(values) if _is_float(y)]
    tangents = [_random(x, 3 + i) if _is_float(x) else None for i, x in enumerate(inputs)]
    moving = [t for t in tangents if t is not None]
    try:
        forward = jvp(fn)
    except GradientError:
        return  # an op may refuse forward mode, in words
    pushed = interpret(forward, *inputs, *moving)[len(values) :]
    pulled = interpret(vjp(fn), *inputs, *cts)[len(values) :]
    left = sum(_dot(ct, t) for ct, t in zip(cts, pushed, strict=True))
    right = sum(_dot(ct, t) for ct, t in zip(pulled, moving, strict=True))
    close(np.asarray(left), np.asarray(right), 1e-9 if exact else 1e-3, f"{sample}: jvp and vjp", scale=1.0)


@law
def vmap_equals_a_loop(sample: Sample) -> None:
    """Vectorised over any of the inputs, the op gives what a loop over the examples gives."""
    fn, inputs = function_of(sample), arrays(sample)
    if not all(isinstance(t, TensorType) for t in (*fn.types, *fn.result_types)):
        return
    if not inputs:
        (got,) = interpret(Function.build(lambda: sample.op.vmap(3, ())))
        close(got, np.stack([np.asarray(sample.op.reference())] * 3), 0.0, f"{sample}: vmap")
    for mapped in _subsets(len(inputs)):
        stacked = [np.stack([x, rolled(x), x]) if m else x for x, m in zip(inputs, mapped, strict=True)]
        examples = [[x[i] if m else x for x, m in zip(stacked, mapped, strict=True)] for i in range(3)]
        want = [outputs(sample.op.reference(*map(np.asarray, e))) for e in examples]
        batched = vmap(fn, 3, mapped)
        verify(batched)
        for i, got in enumerate(interpret(batched, *stacked)):
            together = np.stack([w[i] for w in want])
            tolerance = 10 * TOLERANCE.get(dtype_of(together), 0.0)
            close(got, together, tolerance, f"{sample}: vmap over {mapped}", scale=1.0)


@law
def shards_equal_the_whole(sample: Sample) -> None:
    """Split along any named axis, the parts give the whole: side by side, or added where the axis is summed."""
    inputs = arrays(sample)
    types = [type_of(x) for x in inputs]
    out = sample.op.infer(*types)
    if not isinstance(out, TensorType):
        return
    left, right = sample.op.axes(*types).split("->")
    operands = [part.split() for part in left.split(",")] if inputs else []
    result = right.split()
    for x, names in zip((*types, out), (*operands, result), strict=True):
        assert len(names) == x.rank, f"{sample}: {names} do not name the axes of {x}"
    known = {"1", *(n for names in operands for n in names)}
    assert not inputs or known.issuperset(result), f"{sample}: no operand has all axes of {result}"
    whole = outputs(sample.op.reference(*inputs))[0]
    for name in {n for names in operands for n in names} - {"1"}:
        extents = {x.shape[n.index(name)] for x, n in zip(types, operands, strict=True) if name in n}
        extents |= {out.shape[result.index(name)]} if name in result else set()
        if any(e % 2 or e == 0 for e in extents):
            continue  # an odd axis is not split in two
        halves = [np.split(x, 2, n.index(name)) if name in n else [x, x] for x, n in zip(inputs, operands, strict=True)]
        parts = [_shard(sample.op, out, result, name, part) for part in zip(*halves, strict=True)]
        joined = np.concatenate(parts, result.index(name)) if name in result else parts[0] + parts[1]
        tolerance = 10 * TOLERANCE.get(dtype_of(whole), 0.0)
        close(joined, whole, tolerance, f"{sample}: split along {name}", scale=1.0)


def _shard(op: Op, out: TensorType, names: Sequence[str], split: str, part: Sequence[Array]) -> Array:
    shape = tuple(e // 2 if n == split else e for e, n in zip(out.shape, names, strict=True))
    types = [type_of(x) for x in part]
    local = op.local(shape, *types) if isinstance(op, Shaped) else op
    inferred = local.infer(*types)
    assert inferred == TensorType(out.dtype, shape), f"a shard of {op} has type {inferred}"
    return outputs(local.reference(*part))[0]


@law
def text_means_the_same(sample: Sample) -> None:
    """What is printed can be read, and is the same function."""
    fn = function_of(sample)
    verify(fn)
    again = parse(show(fn))
    assert again == fn, f"\nwritten:\n{fn}\nread:\n{again}"


# ------------------------------------------------------------------------------------------------ tools


def close(got: Any, want: Array, tolerance: float, what: str, scale: float = 0.0) -> None:
    """Equal up to a tolerance, relative to each number, and to the largest if `scale` says how much."""
    got = np.asarray(got)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, what)
        return
    if want.dtype.kind == "c":
        got = np.asarray(got, np.complex128)
        close(got.real, want.real, tolerance, what, scale)
        close(got.imag, want.imag, tolerance, what, scale)
        return
    exact, wide = np.asarray(want, np.float64), np.asarray(got, np.float64)
    size = float(np.max(np.abs(exact[np.isfinite(exact)]), initial=0.0))
    absolute = tolerance * max(scale * max(size, 1.0), 1e-1 if tolerance else 0.0)
    np.testing.assert_allclose(wide, exact, rtol=tolerance, atol=absolute, err_msg=what)


def _differentiable(sample: Sample) -> tuple[Function, list[Array], bool] | None:
    """The function of a smooth sample and its inputs, in double precision where the op allows it (said last)."""
    inputs = arrays(sample)
    if not sample.smooth or not any(_is_float(x) for x in inputs):
        return None
    wide = [x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if _is_float(x) else x for x in inputs]
    exact = _accepts(sample.op, [type_of(x) for x in wide])
    fn = function_of(Sample(sample.op, tuple(wide))) if exact else function_of(sample)
    if not any(t.differentiable for t in fn.result_types):
        return None
    return fn, wide if exact else inputs, exact


def _accepts(op: Op, types: Sequence[Type]) -> bool:
    try:
        out = op.infer(*types)
    except (MyceliaError, AssertionError):
        return False
    results = out.elements if isinstance(out, TupleType) else (out,)
    return all(not isinstance(t, TensorType) or not t.differentiable or t.dtype.part.bits == 64 for t in results)


def _floats(fn: Function) -> Callable[..., list[Array]]:
    """The function as NumPy sees it, with only those results that are floating."""
    return lambda *xs: [np.asarray(y) for y in interpret(fn, *xs) if _is_float(y)]


def _is_float(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def _random(like: Array, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=like.shape)
    return np.asarray(drawn + 1j * rng.normal(size=like.shape) if like.dtype.kind == "c" else drawn).astype(like.dtype)


def _dot(x: Any, y: Any) -> float:
    """The sum of products; of complex numbers, of their real parts and of their imaginary parts."""
    return float(np.real(np.sum(np.conj(np.asarray(x, np.complex128)) * np.asarray(y, np.complex128))))


def _subsets(count: int) -> Iterator[tuple[bool, ...]]:
    """Every way to choose some of the inputs; of many inputs each alone, all, and all but each."""
    if count <= 3:
        yield from (m for m in product((True, False), repeat=count) if any(m))
        return
    alone = [tuple(i == j for i in range(count)) for j in range(count)]
    yield from alone
    yield (True,) * count
    yield from (tuple(not m for m in mask) for mask in alone)
