"""Every image transform gives what MindSpore 2.10 gave, within the tolerance that its case states."""

import inspect
import pathlib

import numpy as np
import pytest

import mycelia.dataset.vision as V
from mycelia.dataset.random import seeded
from tests.dataset.recorded import vision_cases as cases

HERE = pathlib.Path(__file__).parents[1] / "recorded"
RECORDED = dict(np.load(HERE / "vision.npz"))
INPUTS = cases.inputs()
KNOWN = [name for name in cases.CASES if f"{name}.0" in RECORDED]


def columns(key):
    """The columns that an input names."""
    if key.startswith("pil"):
        pytest.importorskip("PIL.Image")
    return cases.opened(INPUTS, key)


@pytest.mark.many("name", KNOWN, pack=100)
def test_equals_what_mindspore_answered(name):
    expression, given, tolerance = cases.CASES[name]
    out = eval(expression, {"V": V, "np": np})(*columns(given))
    parts = out if isinstance(out, tuple) else (out,)
    for i, part in enumerate(parts):
        want = RECORDED[f"{name}.{i}"]
        got = np.asarray(part)
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=0, atol=tolerance)
    assert f"{name}.{len(parts)}" not in RECORDED


POLICIES = [name for name in cases.SETS if "augment" in name and name != "uniform_augment"]


@pytest.mark.parametrize("name", [name for name in cases.SETS if name not in POLICIES])
def test_chance_reaches_the_answers_that_mindspore_reached(name):
    expression, given, calls = cases.SETS[name]
    transform = eval(expression, {"V": V, "np": np})
    with seeded(np.random.default_rng(0)):
        reached = {np.ascontiguousarray(transform(*columns(given))).tobytes() for _ in range(calls)}
    wanted = {answer.tobytes() for answer in RECORDED[f"set {name}"]}
    assert reached == wanted


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_reaches_the_answers_that_mindspore_reached_but_keeps_moved_images_in_view(name):
    expression, given, calls = cases.SETS[name]
    policy, rng = eval(expression, {"V": V, "np": np}), np.random.default_rng(3)
    (image,) = columns(given)
    reached = set()
    for _ in range(min(calls, 6000)):
        drawn = policy.draw(rng, *image.shape[:2])
        if "Move" not in repr(drawn):
            reached.add(np.ascontiguousarray(drawn(image)).tobytes())
        elif "Move" in repr(drawn).partition("transforms")[2][:20]:
            assert len(np.unique(drawn(image))) > 1
    blank = {answer.tobytes() for answer in RECORDED[f"set {name}"] if len(np.unique(answer)) == 1}
    assert reached == {answer.tobytes() for answer in RECORDED[f"set {name}"]} - blank
    assert len(blank) <= 1


ENUMERATIONS = ["Inter", "Border", "ImageBatchFormat", "SliceMode", "ConvertMode", "ImageReadMode", "AutoAugmentPolicy"]


@pytest.mark.parametrize("kind", ENUMERATIONS)
def test_modes_have_the_members_of_mindspore(kind):
    names = [member.partition("=")[0] for member in RECORDED[f"members {kind}"].tolist()]
    assert set(names) <= set(getattr(V, kind).__members__)


FILES = [name.removeprefix("file ") for name in RECORDED if name.startswith("file ")]


@pytest.mark.parametrize("name", FILES)
def test_files_decode_to_what_mindspore_decoded(name, tmp_path):
    pytest.importorskip("PIL.Image")
    data = RECORDED[f"file {name}"]
    np.testing.assert_array_equal(V.Decode()(data), RECORDED[f"decoded {name} array"])
    np.testing.assert_array_equal(V.ToNumpy()(V.Decode(True)(data)), RECORDED[f"decoded {name} pillow"])
    np.testing.assert_array_equal(
        V.RandomCropDecodeResize((9, 11), (1.0, 1.0), (1.275, 1.275))(data),
        V.RandomResizedCrop((9, 11), (1.0, 1.0), (1.275, 1.275))(V.Decode()(data)),
    )
    V.write_file(str(tmp_path / "a"), data)
    np.testing.assert_array_equal(V.read_file(str(tmp_path / "a")), data)


# what has no answer of MindSpore to compare with, and the test that holds it to another oracle
ELSEWHERE = {
    "CutMixBatch": "test_cutmix_labels_tell_the_share_of_pixels",
    "MixUp": "test_mixup_of_a_batch_is_one_convex_combination",
    "MixUpBatch": "test_mixup_of_a_batch_is_one_convex_combination",
    "RandomResizeWithBBox": "test_augmenting_boxes_changes_nothing_outside_them",
    "RandomCropDecodeResize": "test_files_decode_to_what_mindspore_decoded",
    "Decode": "test_files_decode_to_what_mindspore_decoded",
    "DecodeVideo": "test_a_video_comes_back_frame_by_frame",
    "VideoDecoder": "test_a_video_comes_back_frame_by_frame",
    "read_video": "test_a_video_comes_back_frame_by_frame",
    "read_video_timestamps": "test_a_video_comes_back_frame_by_frame",
    "NormalizePad": "test_normalize_undone_is_the_image",
    "encode_jpeg": "test_decoding_equals_pillow_bit_by_bit",
    "write_jpeg": "test_an_image_nearly_survives_encoding_as_jpeg",
    "read_image": "test_an_image_nearly_survives_encoding_as_jpeg",
    "encode_png": "test_an_image_survives_encoding_as_png",
    "write_png": "test_an_image_survives_encoding_as_png",
    "read_file": "test_files_decode_to_what_mindspore_decoded",
    "write_file": "test_files_decode_to_what_mindspore_decoded",
    "get_image_size": "test_kinds_of_images_are_told_apart",
    "get_image_num_channels": "test_kinds_of_images_are_told_apart",
    "not_random": "test_a_mark_says_that_a_function_does_not_draw",
    **dict.fromkeys(ENUMERATIONS, "test_modes_have_the_members_of_mindspore"),
}


def test_every_public_name_has_a_recorded_answer_or_another_oracle():
    expressions = [cases.CASES[name][0] for name in KNOWN] + [expression for expression, _, _ in cases.SETS.values()]
    tests = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    for name in V.__all__:
        if inspect.ismodule(getattr(V, name)):
            continue
        if name in ELSEWHERE:
            law = tests.partition(f"def {ELSEWHERE[name]}(")[2].partition("\ndef ")[0]
            assert law, name
            assert name in ENUMERATIONS or f"V.{name}" in law, name
        else:
            assert any(f"V.{name}(" in expression for expression in expressions), name
