"""Of every name of mycelia.numpy: gradients are slopes, and compiled is eager."""

import linecache

import numpy
import pytest

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor
from tests.numpy.cases import ARRAYS, CASES
from tests.numpy.test_equals_numpy import TENSORS, check, leaves

FLOATS = [name for name, x in ARRAYS.items() if x.dtype.kind == "f" and name not in "NZ"]


def inputs_of(case):
    """The floating arrays that a case is about."""
    names = compile(case, "case", "eval").co_names
    return [name for name in FLOATS if name in names]


def floating(found):
    return [t for t in leaves(found) if isinstance(t, Tensor) and t.dtype.is_float]


OTHERWISE = ("np.linalg.qr", "np.spacing", "np.nextafter", 'np.sum(F, dtype="float32")')  # too coarse for differences
SMOOTH = [case for case in CASES if inputs_of(case) and not case.startswith(OTHERWISE)]


@pytest.mark.many("case", SMOOTH, pack=100)
def test_gradients_are_slopes(case):
    """Along one random direction; of what is a step or a bool there is nothing to compare."""
    code, names = compile(case, "case", "eval"), inputs_of(case)

    def number(*xs):
        found = floating(eval(code, {"np": mnp, **TENSORS, **dict(zip(names, xs, strict=True))}))
        return sum((o * o * 0.3 + o).sum() for o in found)

    rng = numpy.random.default_rng(1)
    arrays = [ARRAYS[n] for n in names]
    if not floating(eval(code, {"np": mnp, **TENSORS})):
        return
    along = [rng.normal(size=x.shape) for x in arrays]
    gradients = ms.grad(number, range(len(names)))(*map(Tensor, arrays))
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    slope = sum(float((g.asnumpy() * d).sum()) for g, d in zip(gradients, along, strict=True))
    step = 1e-6
    ends = [number(*[Tensor(x + s * step * d) for x, d in zip(arrays, along, strict=True)]).item() for s in (1, -1)]
    numpy.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=2e-4, atol=2e-4)


# --------------------------------------------------------------------------------------------------------- compiled

LAMBDAS = [case for case in CASES if "lambda" not in case]
PACKS = [LAMBDAS[i : i + 30] for i in range(0, len(LAMBDAS), 30)]


def function_of(pack, number):
    """One function that gives what all expressions of a pack give; Python finds its source as that of a file."""
    names = ", ".join(ARRAYS)
    lines = [f"def pack({names}):", "    return [", *[f"        {case}," for case in pack], "    ]"]
    file = f"<pack {number}>"
    source = "\n".join(lines) + "\n"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"np": mnp}
    exec(compile(source, file, "exec"), space)
    return space["pack"]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PACKS)))
def test_compiled_is_eager(number):
    pack = function_of(PACKS[number], number)
    compiled = ms.jit(pack)
    for case, got, wanted in zip(PACKS[number], compiled(*TENSORS.values()), pack(*TENSORS.values()), strict=True):
        a, b = leaves(got), leaves(wanted)
        assert [getattr(t, "dtype", None) for t in a] == [getattr(t, "dtype", None) for t in b], case
        check(a, [t.asnumpy() if isinstance(t, Tensor) else t for t in b])
