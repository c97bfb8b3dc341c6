"""Expressions that mean the same with SciPy's names and with ours: their values, gradients, and compiled values."""

import linecache
import warnings

import numpy as np
import scipy
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats

import mycelia as ms
import mycelia.numpy as mnp
import mycelia.scipy
from mycelia import Tensor

PACKAGES = (
    "cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "spatial", "special",
    "stats",
)  # fmt: skip
THEIRS = {"np": np, **{name: getattr(scipy, name) for name in PACKAGES}}
OURS = {"np": mnp, **{name: getattr(mycelia.scipy, name) for name in PACKAGES if hasattr(mycelia.scipy, name)}}


def leaves(found):
    if isinstance(found, tuple | list):
        return [leaf for part in found for leaf in leaves(part)]
    return [found]


def array_of(x):
    return x.asnumpy() if isinstance(x, Tensor) else np.asarray(x)


def names_in(case, arrays):
    return [n for n in dict.fromkeys(compile(case, "case", "eval").co_names) if n in arrays]


def same_values(case, arrays, exact=1e-10, ours=None, theirs=None):
    """Ours are SciPy's, also their shapes and kinds of numbers."""
    got = leaves(eval(case, {**OURS, **(ours or {}), **{n: Tensor(x) for n, x in arrays.items()}}))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = leaves(eval(case, {**THEIRS, **(theirs or {}), **arrays}))
    assert len(got) == len(wanted)
    for mine, other in zip(map(array_of, got), map(np.asarray, wanted), strict=True):
        assert mine.shape == other.shape
        bound = exact if mine.dtype.itemsize >= 8 else 3e-6
        np.testing.assert_allclose(mine, other, rtol=bound, atol=bound)


def smooth_names(case, arrays):
    return [n for n in names_in(case, arrays) if arrays[n].dtype == np.float64 and np.isfinite(arrays[n]).all()]


def gradients_are_slopes(case, arrays, step=1e-6, bound=2e-4, symmetric=""):
    """Along one random direction; of what is a step or a bool there is nothing to compare."""
    names = smooth_names(case, arrays)
    tensors = {n: Tensor(x) for n, x in arrays.items()}

    def number(*xs):
        found = leaves(eval(case, {**OURS, **tensors, **dict(zip(names, xs, strict=True))}))
        found = [o for o in found if isinstance(o, Tensor)]
        found = [part for o in found for part in ([o.real(), o.imag()] if o.dtype.is_complex else [o])]
        return sum((o * o * 0.3 + o).sum() for o in found if o.dtype.is_float)

    rng = np.random.default_rng(1)
    inputs = [arrays[n] for n in names]
    along = [rng.normal(size=x.shape) for x in inputs]
    along = [d + np.swapaxes(d, -1, -2) if n in symmetric else d for n, d in zip(names, along, strict=True)]
    gradients = ms.grad(number, range(len(names)))(*map(Tensor, inputs))
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    slope = sum(float((g.asnumpy() * d).sum()) for g, d in zip(gradients, along, strict=True))
    ends = [number(*[Tensor(x + s * step * d) for x, d in zip(inputs, along, strict=True)]).item() for s in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=bound, atol=bound)


def compiled_is_eager(cases, arrays, name):
    """One function that gives what all expressions give; Python finds its source as that of a file."""
    lines = [f"def pack({', '.join(arrays)}):", "    return [", *[f"        {case}," for case in cases], "    ]"]
    file, source = f"<{name}>", "\n".join(lines) + "\n"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(OURS)
    exec(compile(source, file, "exec"), space)
    tensors = [Tensor(x) for x in arrays.values()]
    for case, got, wanted in zip(cases, ms.jit(space["pack"])(*tensors), space["pack"](*tensors), strict=True):
        for mine, other in zip(leaves(got), leaves(wanted), strict=True):
            assert getattr(mine, "dtype", None) == getattr(other, "dtype", None), case
            a, b = array_of(mine), array_of(other)
            bound = 1e-9 if a.dtype.itemsize >= 8 else 3e-6
            np.testing.assert_allclose(a, b, rtol=bound, atol=bound, err_msg=case)


def cases_of(text):
    return [case.strip() for case in text.strip().replace("\n", "; ").split("; ")]
