"""Infinities, numbers that are none, complex ones and the smallest: NumPy's answers, compiled too."""

import linecache

import numpy as np
import pytest

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor
from mycelia.errors import MyceliaError
from tests.each import each

inf, nan = np.inf, np.nan
NUMBERS = {
    "X": np.array([[1.0, -inf, nan, 2.0], [inf, 0.5, -0.0, -3.0], [0.25, 4.0, -1.0, nan]]),
    "I": np.array(inf),
    "M": np.array(-inf, "f"),
    "Z": np.array([1 + 2j, -0.5 - 0.25j, 3 - 1j, 0.75 + 4j]),
    "W": np.array([2 - 1j, 1j, -1 + 0.5j, 2.5 + 3j]),
    "C": np.array([complex(nan, 1), complex(inf, -2), complex(-inf, 0.5), 1.5 - 2.5j]),
    "L": np.array([-(2**31), -1, 7, 2**31 - 1], np.int32),
    "U": np.array([3, 1, 1], np.uint16),
    "B": np.array([True, False, True]),
    "D": np.array([False, False, True]),
    "F": np.array([1.0, inf, 3.0, -inf, 2.5, nan, 4.0, 5.0]),
}
CASES = """
max(I) min(M) amax(I, keepdims=True) var(Z) std(Z) var(Z, ddof=1) std(W) nanvar(Z) nanvar(X) nanvar(X, axis=0)
nanstd(X, axis=1) nanvar(L, ddof=1) imag(X) angle(X) round(Z) round(Z, 1) correlate(Z, W) correlate(Z, W, "full")
correlate(Z, W[:2], "same") correlate(W[:2], Z, "full") nan_to_num(C) bitwise_count(L) gradient(F) gradient(F, 2.0)
vander(L) heaviside(U, U) bincount(U) maximum(B, D) minimum(B, D) fmax(B, D) fmin(B, D) float_power(Z, 2)
float_power(Z, W) float_power(2.0, W) isclose(Z, W) isclose(Z, np.real(Z)) isclose(B, 1j * B)
isclose(C, C, equal_nan=True) median(X[:2, :2]) nanmedian(X) nanmedian(X, axis=0) nanquantile(X[0], 0.4)
"""


def cases():
    text, found = " ".join(CASES.split()), []
    while text:  # a case ends where its brackets are closed
        end = next(
            i for i in range(1, len(text) + 1) if text[i - 1] == ")" and text[:i].count("(") == text[:i].count(")")
        )
        found.append(text[:end].strip())
        text = text[end:].strip()
    return found


def answer(case, numbers, np):
    return eval(f"np.{case}", {"np": np, **numbers})


def test_odd_numbers_have_numpy_s_answers():
    tensors = {name: Tensor(x) for name, x in NUMBERS.items()}

    def check(case):
        with np.errstate(all="ignore"):
            wanted = np.asarray(answer(case, NUMBERS, np))
        found = answer(case, tensors, mnp).asnumpy()
        assert found.shape == wanted.shape
        assert found.dtype.kind == wanted.dtype.kind or {found.dtype.kind, wanted.dtype.kind} <= set("iu")
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if found.dtype.itemsize < 8 else 1e-12)

    each(check, [(case, (case,)) for case in cases()])


def test_odd_numbers_have_the_same_answers_compiled():
    fixed = [c for c in cases() if not c.startswith(("bincount", "isclose(C", "float_power(2.0"))]
    tensors = {name: Tensor(x) for name, x in NUMBERS.items()}

    text = f"def every({', '.join(NUMBERS)}):\n    return ({', '.join(f'np.{case}' for case in fixed)})\n"
    linecache.cache["<odd>"] = len(text), None, text.splitlines(keepends=True), "<odd>"
    names = {"np": mnp}
    exec(compile(text, "<odd>", "exec"), names)
    run = ms.jit(names["every"])
    compiled, eager = run(*tensors.values()), names["every"](*tensors.values())
    assert "native call" in run.explain()
    for case, mine, other in zip(fixed, compiled, eager, strict=True):
        np.testing.assert_allclose(mine.asnumpy(), other.asnumpy(), rtol=1e-12, err_msg=case)


@pytest.mark.parametrize("call", ["hypot(Z, W)", "bitwise_count(Z)", "bitwise_count(X)", "correlate(X, X)"])
def test_what_has_no_meaning_is_refused(call):
    with pytest.raises(MyceliaError):
        answer(call, {name: Tensor(x) for name, x in NUMBERS.items()}, mnp)
