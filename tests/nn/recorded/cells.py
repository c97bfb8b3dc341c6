"""Cells with their inputs: each runs once with MindSpore or PyTorch, and with Mycelia in every test.

Parameters get numbers that their names decide, so that they are the same everywhere. What is compared: the results, and
the gradients of all floating inputs and parameters of the results' sum, each element weighted differently.
"""

from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

CASES = {}


def numbers(*shape, seed=0, scale=1.0, dtype=np.float32):
    """The same numbers everywhere: this generator of NumPy's is frozen."""
    return np.asarray(np.random.RandomState(seed).standard_normal(shape) * scale, dtype)


def positive(*shape, seed=0, dtype=np.float32):
    """Numbers between 0.1 and 0.9."""
    return np.random.RandomState(seed).uniform(0.1, 0.9, shape).astype(dtype)


def integers(*shape, count, seed=0, dtype=np.int32):
    """Whole numbers below `count`."""
    return np.random.RandomState(seed).randint(0, count, shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """A cell: how `ms` makes it, and, where PyTorch is the oracle, how `torch` does, with its names of parameters."""

    make: Any
    inputs: tuple[Any, ...]
    torch: Any = None
    names: dict[str, str] = field(default_factory=dict)
    train: bool = False
    grads: bool = True
    fixed: tuple[int, ...] = ()  # floating inputs that are not differentiated


def case(name, make, *inputs, **options):
    """Register a cell."""
    assert name not in CASES, name
    CASES[name] = Case(make, inputs, **options)


def parameter(name, shape):
    """The numbers of a parameter; variances are positive."""
    made = numbers(*shape, seed=crc32(f"{name}{tuple(shape)}".encode()) % 10000, scale=0.4)
    return np.abs(made) + 0.5 if "variance" in name else made


def flat(nest):
    """The leaves of a nest of tuples, lists and dictionaries."""
    if isinstance(nest, dict):
        nest = [nest[k] for k in sorted(nest)]
    return [x for n in nest for x in flat(n)] if isinstance(nest, tuple | list) else [nest]


def rebuilt(nest, leaves):
    """The nest with other leaves, from an iterator."""
    if isinstance(nest, tuple | list):
        return type(nest)(rebuilt(n, leaves) for n in nest)
    return next(leaves)


def is_float(x):
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def weighted(outputs, sum_of, make):
    """One number in which every element of floating results has a weight of its own."""
    total = 0.0
    for i, out in enumerate(outputs):
        total = total + sum_of(out * make(numbers(*out.shape, seed=50 + i)))
    return total


def run(ms, case, compiled=lambda f: f):
    """Results and gradients, as arrays: with MindSpore, or with Mycelia under its name."""
    net = case.make(ms.nn)
    net.set_train(case.train)
    weights = sorted(net.get_parameters(), key=lambda p: p.name)
    lines = type(net).__name__ in ("Conv1d", "Conv1dTranspose")  # whose weights are planes of one row

    def shape(w):
        return (*w.shape[:2], w.shape[3]) if lines and len(w.shape) == 4 else w.shape

    for w in weights:
        w.set_data(ms.Tensor(parameter(w.name, shape(w)).reshape(w.shape).astype(w.asnumpy().dtype)))
    leaves = [ms.Tensor(x) if isinstance(x, np.ndarray) else x for x in flat(case.inputs)]

    def forward(*given):
        return [out for out in flat(net(*rebuilt(case.inputs, iter(given)))) if out is not None]

    if not case.grads:
        return [o.asnumpy() for o in compiled(forward)(*leaves)]
    trained = [w for w in weights if w.requires_grad]
    places = tuple(i for i, x in enumerate(flat(case.inputs)) if is_float(x) and i not in case.fixed)
    floats = (ms.float16, ms.float32, ms.float64)

    def loss(*given):
        outputs = forward(*given)
        kept = [out.astype(ms.float32) for out in outputs if out.dtype in floats]
        return weighted(kept, ms.ops.sum if hasattr(ms.ops, "sum") else ms.ops.reduce_sum, ms.Tensor), outputs

    step = compiled(
        ms.value_and_grad(loss, places or None, ms.ParameterTuple(trained) if trained else None, has_aux=True)
    )
    (_, outputs), grads = step(*leaves)
    return [o.asnumpy() for o in flat(outputs)] + [g.asnumpy().reshape(shape(g)) for g in flat(grads)]


def run_torch(torch, case):
    """The same with PyTorch."""
    module = case.torch(torch)
    weights = []
    if hasattr(module, "named_parameters"):
        module.train(case.train)
        module.to(torch.from_numpy(next(x for x in flat(case.inputs) if is_float(x))).dtype)
        names = case.names(module) if callable(case.names) else case.names
        found = {names.get(n, n): p for n, p in [*module.named_parameters(), *module.named_buffers()]}
        with torch.no_grad():
            for name, p in found.items():
                if p.dtype.is_floating_point:
                    p.copy_(torch.from_numpy(parameter(name, tuple(p.shape))))
        weights = [found[name] for name in sorted(found) if found[name].requires_grad]
    leaves = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in flat(case.inputs)]
    for i, x in enumerate(flat(case.inputs)):
        if is_float(x) and i not in case.fixed:
            leaves[i].requires_grad_()
    outputs = [o for o in flat(module(*rebuilt(case.inputs, iter(leaves)))) if o is not None]
    shown = [o.detach().numpy() for o in outputs]
    if not case.grads:
        return shown
    kept = [o.float() for o in outputs if o.dtype.is_floating_point]
    weighted(kept, torch.sum, torch.from_numpy).backward()
    through = [x for x in leaves if isinstance(x, torch.Tensor) and x.requires_grad] + weights
    return shown + [(torch.zeros_like(x) if x.grad is None else x.grad).numpy() for x in through]


# ---------------------------------------------------------------------------------------------------------- the records


def save(path, answers):
    """Keep the arrays of each case: all numbers of one element type in a row, and a text that says where each is."""
    rows, lines = {}, []
    for name, arrays in answers.items():
        for a in map(np.asarray, arrays):
            rows.setdefault(a.dtype.str, []).append(a.reshape(-1))
            lines.append(f"{name} {a.dtype.str} {','.join(map(str, a.shape))}")
    packed = {kind: np.concatenate(row) for kind, row in rows.items()}
    np.savez_compressed(path, lines=np.frombuffer("\n".join(lines).encode(), np.uint8), **packed)


def load(path):
    """The arrays of each case."""
    packed, answers, used = np.load(path), {}, {}
    rows = {kind: packed[kind] for kind in packed.files if kind != "lines"}
    for line in packed["lines"].tobytes().decode().splitlines():
        name, kind, extents = line.split(" ")
        shape = tuple(int(n) for n in extents.split(",") if n)
        start = used.get(kind, 0)
        used[kind] = start + int(np.prod(shape, dtype=int))
        answers.setdefault(name, []).append(rows[kind][start : used[kind]].reshape(shape))
    return answers
