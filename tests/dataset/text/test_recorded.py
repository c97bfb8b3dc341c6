"""Every text transform gives what MindSpore 2.10 gave, and refuses what it refused: strings and numbers are equal."""

import json
import pathlib

import numpy as np
import pytest

import mycelia.dataset as D
import mycelia.dataset.text as T
from mycelia import types
from mycelia.errors import MyceliaError
from tests.dataset.recorded import covered
from tests.dataset.recorded import text_cases as cases

HERE = pathlib.Path(__file__).parents[1] / "recorded"
RECORDED = json.loads((HERE / "text.json").read_text(encoding="utf8"))
KNOWN = [(*case, want) for case, want in zip(cases.CASES, RECORDED, strict=True) if want is not None]
REFUSED = [case for case, want in zip(cases.CASES, RECORDED, strict=True) if want is None]

ELSEWHERE = {  # what has no recorded answer, and why
    f"{name}.table": "the constructor is our own: MindSpore makes these by class methods only"
    for name in ("CharNGram", "FastText", "GloVe", "Vectors", "Vocab")
} | {
    "SentencePieceVocab.model": "the constructor is our own: MindSpore makes these by class methods only",
    "SentencePieceModel.UNIGRAM": "test_sentencepiece_trains_saves_and_cuts: its training differs by library version",
}


@pytest.fixture(scope="module")
def scope(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for name, text in cases.FILES.items():
        (folder / name).write_text(text, encoding="utf8")
    vocab = T.Vocab.from_list(cases.VOCAB)
    return {"T": T, "D": D, "np": np, "ms": types, "vocab": vocab, "path": lambda name: str(folder / name)}


@pytest.mark.many(("expression", "inputs", "want"), KNOWN)
def test_equals_what_mindspore_answered(scope, expression, inputs, want):
    if "SentencePiece" in expression:
        pytest.importorskip("sentencepiece")
    out = eval(expression, scope)(*map(np.array, inputs))
    parts = [np.asarray(part) for part in (out if isinstance(out, tuple) else (out,))]
    if parts[0].dtype.kind == "S":
        parts[0] = np.char.decode(parts[0], "latin1")
    kinds = [p.dtype.kind + ("" if p.dtype.kind in "US" else str(p.itemsize)) for p in parts]
    assert [[k, p.tolist()] for k, p in zip(kinds, parts, strict=True)] == want


@pytest.mark.many(("expression", "inputs"), REFUSED)
def test_refuses_what_mindspore_refused(scope, expression, inputs):
    with pytest.raises(MyceliaError):
        eval(expression, scope)(*map(np.array, inputs))


OURS = {"HubTokenizer"}  # which MindSpore has not: its tests are test_hub.py's
SPOKEN_OF = covered.mentioned([expression for expression, _, _ in KNOWN], "T", T)


@pytest.mark.parametrize("name", [n for n in covered.expected(T) if n not in OURS])
def test_every_transform_option_and_mode_has_a_recorded_answer(name):
    assert name in SPOKEN_OF
    missing = covered.expected(T)[name] - SPOKEN_OF[name]
    assert not {option for option in missing if f"{name}.{option}" not in ELSEWHERE}
