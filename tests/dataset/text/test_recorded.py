"""Every text transform gives what MindSpore 2.10 gave: strings and integers equal, floats equal."""

import importlib.util
import json
import pathlib
import sys

import numpy as np
import pytest

import mycelia.dataset.text as T
from mycelia import types

HERE = pathlib.Path(__file__).parents[1] / "recorded"
spec = importlib.util.spec_from_file_location("text_cases", HERE / "text_cases.py")
assert spec is not None
assert spec.loader is not None
cases = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cases
spec.loader.exec_module(cases)

RECORDED = json.loads((HERE / "text.json").read_text(encoding="utf8"))
KNOWN = [(*case, want) for case, want in zip(cases.CASES, RECORDED, strict=True) if want is not None]


@pytest.fixture(scope="module")
def scope(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for name, text in cases.FILES.items():
        (folder / name).write_text(text, encoding="utf8")
    vocab = T.Vocab.from_list(cases.VOCAB)
    return {"T": T, "np": np, "ms": types, "vocab": vocab, "path": lambda name: str(folder / name)}


@pytest.mark.parametrize(("expression", "inputs", "want"), KNOWN, ids=[f"{i}-{k[0][:50]}" for i, k in enumerate(KNOWN)])
def test_equals_what_mindspore_answered(scope, expression, inputs, want):
    out = eval(expression, scope)(*map(np.array, inputs))
    parts = [np.asarray(part) for part in (out if isinstance(out, tuple) else (out,))]
    if parts[0].dtype.kind == "S":
        parts[0] = np.char.decode(parts[0], "latin1")
    kinds = [p.dtype.kind + ("" if p.dtype.kind in "US" else str(p.itemsize)) for p in parts]
    assert [[k, p.tolist()] for k, p in zip(kinds, parts, strict=True)] == want
