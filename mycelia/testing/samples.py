"""The samples of all ops, and what can be made of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mycelia import primitives
from mycelia.ir import Function, Mistake, Op, Sample, Value, registry
from mycelia.primitives.family import takes_complex
from mycelia.types import Array, DType, complex64, complex128, type_of

assert primitives, "importing them fills the registry"


def all_samples(*ops: type[Op]) -> Iterator[Sample]:
    """Every sample of these ops; of every op there is, if none are named.

    >>> len(list(all_samples(primitives.Exp))) > 3
    True
    """
    for op in ops or dict.fromkeys(registry.values()):
        yield from op.samples()


def all_mistakes(*ops: type[Op]) -> Iterator[tuple[type[Op], Mistake]]:
    """Every mistake that these ops promise to explain; of every op there is, if none are named.

    >>> [mistake.message for op, mistake in all_mistakes(primitives.Transpose)][0]
    'needs each axis of f32[2, 3] once'
    """
    for op in ops or dict.fromkeys(registry.values()):
        yield from ((op, mistake) for mistake in op.mistakes())


def function_of(*samples: Sample) -> Function:
    """The function that applies the op of each sample to parameters of the types of its inputs.

    >>> exp = next(all_samples(primitives.Exp))
    >>> [str(t) for t in function_of(exp, exp).types]
    ['f32[]', 'f32[]']
    """
    if len(samples) == 1:
        (sample,) = samples
        return Function.build(sample.op, *[type_of(x) for x in arrays(sample)])

    def every(*given: Value) -> tuple[Value, ...]:
        left = iter(given)
        made = [sample.op(*[next(left) for _ in sample.inputs]) for sample in samples]
        return tuple(y for m in made for y in (m if isinstance(m, tuple) else (m,)))

    return Function.build(every, *[type_of(x) for sample in samples for x in arrays(sample)])


def arrays(sample: Sample) -> list[Array]:
    """The inputs of a sample as arrays."""
    return [np.asarray(x) for x in sample.inputs]


def as_dtype(sample: Sample, dtype: DType) -> Sample:
    """The sample with its numbers as another element type; positions and conditions stay as they are.

    >>> from mycelia.types import int8
    >>> [x.dtype.name for x in as_dtype(next(all_samples(primitives.Gather)), int8).inputs]
    ['int8', 'int32']
    """
    inputs = arrays(sample)
    main = next((x.dtype for x in inputs if x.dtype.kind == "f"), inputs[0].dtype if inputs else None)
    converted = [_converted(x, dtype) if x.dtype == main else x for x in inputs]
    return Sample(sample.op, tuple(converted), sample.smooth, sample.note)


def complex_samples(op: type[Op], most: int = 4) -> list[Sample]:
    """Some of the samples of an op with complex numbers in place of real ones; none if it does not take them.

    >>> [x.dtype.name for sample in complex_samples(primitives.Exp) for x in sample.inputs]
    ['complex64', 'complex128', 'complex64', 'complex128']
    """
    found: list[Sample] = []
    for sample in op.samples() if op.in_parts is not Op.in_parts else ():
        if any(x.dtype.kind == "f" for x in arrays(sample)) and takes_complex(sample.op) and sample.smooth:
            made = as_dtype(sample, complex128 if len(found) % 2 else complex64)
            try:
                made.op.infer(*[primitives.constant(x).type for x in made.inputs])
            except Exception:
                continue  # a product of mixed types
            found.append(made)
    return found[:most]


def _converted(x: Array, dtype: DType) -> Array:
    if dtype.kind == "b":
        return np.asarray(x > 0)
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = x.real
    if dtype.is_complex:  # with something beside the real part
        other = np.random.default_rng(x.shape).uniform(-1.0, 1.0, x.shape)
        return np.asarray(x + 1j * other).astype(dtype.numpy)
    if dtype.is_integer and x.dtype.kind == "f":
        x = np.rint(np.nan_to_num(x, nan=1.0, posinf=100.0, neginf=-100.0))
    if dtype.kind == "u":
        x = np.abs(x)
    if dtype.is_integer:
        low, high = np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max
        x = np.clip(x, max(low, -(2**30)), min(high, 2**30))
    return x.astype(dtype.numpy)


def outputs(result: Any) -> tuple[Array, ...]:
    """The results of a reference as a tuple of arrays."""
    return tuple(np.asarray(y) for y in (result if isinstance(result, tuple) else (result,)))


def rolled(x: Array) -> Array:
    """Other numbers of the same kind: what a second example of a batch may hold."""
    turned: Any = np.roll(x.reshape(-1), 1).reshape(x.shape)
    if x.dtype.kind == "b":
        return np.asarray(~turned)
    return np.asarray(turned * 0.95 + 0.06 if x.dtype.kind in "fc" else turned + 1).astype(x.dtype)


def names_of(samples: Iterable[Sample]) -> Iterator[str]:
    """A short name for each sample, for the list of tests."""
    for s in samples:
        shapes = ",".join(f"{x.dtype}{list(x.shape)}".replace(" ", "") for x in arrays(s))
        attributes = ",".join(f"{k}={_brief(v)}" for k, v in s.op.attributes().items())
        yield f"{s.op.name}[{attributes}]({shapes}){' ' + s.note if s.note else ''}"


def _brief(attribute: Any) -> str:
    text = "fn" if isinstance(attribute, Function) else "data" if isinstance(attribute, np.ndarray) else str(attribute)
    return text.replace(" ", "") if len(text) < 60 and "\n" not in text else "..."
