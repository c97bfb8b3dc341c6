"""Transforms become JSON and come back as they were; operations are taken apart and put together."""

import functools
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mycelia
import mycelia.dataset as ds
import mycelia.dataset.audio as A
import mycelia.dataset.text as T
import mycelia.dataset.transforms as X
import mycelia.dataset.vision as V
from mycelia.dataset.describing import Nameable, described, named
from mycelia.dataset.transforms.transforms import TensorOperation
from mycelia.errors import ArgumentError

TESTS = Path(__file__).parents[1]


def _module(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, TESTS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


audio_cases, transforms_cases = _module("recorded/audio_cases.py"), _module("recorded/transforms_cases.py")
every = _module("vision/every.py")
PACKAGES = {"A": A, "X": X, "np": np}


def _all() -> list[TensorOperation]:
    made = [kind(*every.ARGUMENTS.get(name, ())) for name, kind in every.CLASSES.items()]
    for expression in {e for e, *_ in [*audio_cases.CASES.values(), *transforms_cases.CASES]}:
        try:
            made.append(eval(expression, PACKAGES))  # the tests' own sentences
        except (mycelia.errors.MyceliaError, NameError, AttributeError, TypeError):
            continue  # a case of what is refused
    made += [T.CaseFold(), T.Ngram([2, 3], ("_", 1), separator="-"), T.NormalizeUTF8(T.NormalizeForm.NFC)]
    made += [
        T.RegexReplace("a", "b", False),
        T.SlidingWindow(3),
        T.ToNumber(np.int8),
        T.Truncate(3),
        X.Plugin("a", "b"),
    ]
    made += [T.SentencePieceTokenizer(T.SentencePieceVocab(b"\x00\xff"), T.SPieceTokenizerOutType.INT)]
    vocab = T.Vocab.from_list(["[UNK]", "a"])
    made += [T.Lookup(vocab, "[UNK]"), T.BertTokenizer(vocab), T.WordpieceTokenizer(vocab)]
    made += [X.TypeCast(mycelia.float32), X.TypeCast(np.dtype("int8")), X.TypeCast(np.uint8), X.Unique()]
    return [m for m in made if isinstance(m, TensorOperation)]


ALL = _all()


@pytest.mark.many("kind", sorted({type(t) for t in ALL}, key=lambda k: k.__name__), pack=100, ids=lambda k: k.__name__)
def test_a_transform_comes_back_from_json(kind):
    for transform in (t for t in ALL if type(t) is kind):
        told = transform.to_json()
        again = kind.from_json(told)
        assert type(again) is kind
        assert again.to_json() == told
        known = Nameable(named([kind] if kind is X.Plugin else []))
        assert type(known.operation(json.loads(json.dumps(described(transform))))) is kind


def test_the_json_of_a_transform_has_its_name_its_module_and_its_parameters():
    told = json.loads(V.Resize((3, 4), V.Inter.AREA).to_json())
    assert sorted(told) == ["python_module", "tensor_op_name", "tensor_op_params"]
    assert told["tensor_op_name"] == "Resize"
    assert V.Resize.from_json(json.dumps(told["tensor_op_params"])) == V.Resize([3, 4], V.Inter.AREA)


def test_a_transform_from_json_does_what_it_did():
    image = np.random.default_rng(0).integers(0, 256, (9, 8, 3)).astype(np.uint8)
    steps = X.Compose([V.Resize((5, 4)), V.Normalize([1.0] * 3, [2.0] * 3), V.HWC2CHW(), X.TypeCast(np.float16)])
    assert np.array_equal(X.Compose.from_json(steps.to_json())(image), steps(image))
    ends = X.Concatenate(0, np.array([7], np.int8), np.array([9], np.int8))
    again = X.Concatenate.from_json(ends.to_json())
    assert again(np.array([8], np.int8)).tolist() == [7, 8, 9]
    parts = X.Slice.from_json(X.Slice(slice(0, 2), ..., [1]).to_json())
    assert (
        parts(np.arange(12).reshape(3, 2, 2)).tolist()
        == X.Slice(slice(0, 2), ..., [1])(np.arange(12).reshape(3, 2, 2)).tolist()
    )


def test_a_vocabulary_goes_with_the_plan_of_a_dataset(tmp_path):
    (tmp_path / "a.txt").write_text("b\na\n")
    lookup = T.Lookup(T.Vocab.from_list(["<u>", "a"]), "<u>")
    dataset = ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False).map(lookup, "text")
    dataset.to_json(str(tmp_path / "plan.json"))
    again = ds.deserialize(json_filepath=str(tmp_path / "plan.json"))
    assert [int(r[0]) for r in again.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [0, 1]


def test_what_cannot_be_json_is_told():
    class Remembers(TensorOperation):
        def __init__(self, word):
            self.letters = list(word)

    with pytest.raises(ArgumentError, match="does not tell its parameters"):
        Remembers("ab").to_json()
    with pytest.raises(ArgumentError, match="Vectors"):
        T.ToVectors(T.Vectors({"a": np.array([1.0])})).to_json()
    with pytest.raises(ArgumentError, match="JSON of Fill, not of Mask"):
        X.Mask.from_json(X.Fill(3).to_json())
    with pytest.raises(ds.DataError, match="no name of its own"):
        X.Compose.from_json(X.Compose([lambda x: x]).to_json())


def test_functions_are_described_by_name_and_objects_without_parameters_by_class():
    for operation in (len, np.sqrt, np.float32, json.dumps):
        assert Nameable(named([operation])).operation(described(operation)) is operation
    assert isinstance(Nameable().operation(described(X.Duplicate())), X.Duplicate)
    assert "function" in described(functools.partial(int, base=2))


def test_composed_operations_are_taken_apart_and_plain_functions_put_together():
    inner = X.Compose([abs, X.Compose([float])])
    assert X.Compose.decompose([inner, int]) == [abs, float, int]
    fill = X.Fill(3)
    assert X.Compose.reduce([abs, float, fill, fill, int]) == [X.Compose([abs, float]), fill, fill, int]
    assert X.Compose.reduce([]) == []
    inner.release_resource()
    assert inner(-2) == 2.0
