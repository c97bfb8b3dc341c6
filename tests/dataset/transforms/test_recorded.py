"""Every transform of any column gives what MindSpore 2.10 gave, and refuses what it refused."""

import json
import pathlib

import numpy as np
import pytest

import mycelia.dataset.transforms as X
from mycelia import types
from mycelia.errors import MyceliaError
from tests.dataset.recorded import covered
from tests.dataset.recorded import transforms_cases as cases

HERE = pathlib.Path(__file__).parents[1] / "recorded"
RECORDED = json.loads((HERE / "transforms.json").read_text(encoding="utf8"))
KNOWN = [(*case, want) for case, want in zip(cases.CASES, RECORDED, strict=True) if want is not None]
REFUSED = [case for case, want in zip(cases.CASES, RECORDED, strict=True) if want is None]

ELSEWHERE = {  # what has no recorded answer, and the law that judges it instead
    "Plugin": "test_a_plugin_computes_on_a_copy_of_the_column: it needs a library compiled for one or the other",
    "Unique": "test_unique_restores_the_array: MindSpore refuses it in eager calls",
    "Slice.slices": "given one by one, as *slices",
}


def answer(expression, inputs):
    scope = {"X": X, "np": np, "ms": types}
    return eval(expression, scope)(*(eval(i, scope) for i in inputs))


@pytest.mark.many(("expression", "inputs", "want"), KNOWN, pack=100)
def test_equals_what_mindspore_answered(expression, inputs, want):
    out = answer(expression, inputs)
    parts = [np.asarray(part) for part in (out if isinstance(out, tuple) else (out,))]
    texts = [np.char.decode(p, "utf8") if p.dtype.kind == "S" else p for p in parts]
    got = [
        [p.dtype.kind if p.dtype.kind in "US" else p.dtype.name, t.tolist()] for p, t in zip(parts, texts, strict=True)
    ]
    assert got == want


@pytest.mark.many(("expression", "inputs"), REFUSED, pack=100)
def test_refuses_what_mindspore_refused(expression, inputs):
    with pytest.raises(MyceliaError):
        answer(expression, inputs)


SPOKEN_OF = covered.mentioned([expression for expression, _, _ in KNOWN], "X", X)


@pytest.mark.parametrize("name", covered.expected(X))
def test_every_transform_option_and_mode_has_a_recorded_answer(name):
    if name in ELSEWHERE:
        return
    assert name in SPOKEN_OF
    missing = covered.expected(X)[name] - SPOKEN_OF[name]
    assert not {option for option in missing if f"{name}.{option}" not in ELSEWHERE}
