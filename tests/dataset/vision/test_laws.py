"""Laws of image transforms that hold for every image, against NumPy, SciPy, Pillow and OpenCV."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

import mycelia.dataset.vision as V
from mycelia.dataset.random import seeded
from mycelia.dataset.vision import pixels, video, warp
from mycelia.dataset.vision.colour import hsv_to_rgb, rgb_to_hsv
from mycelia.dataset.vision.resample import LOOPS, by_taps
from mycelia.errors import MyceliaError

RNG = np.random.default_rng(3)
IMAGE = RNG.integers(0, 256, (23, 31, 3)).astype(np.uint8)
RANDOM = [
    V.RandomCrop(9), V.RandomCrop(40, pad_if_needed=True), V.RandomResizedCrop(12), V.RandomHorizontalFlip(),
    V.RandomVerticalFlip(), V.RandomRotation(40), V.RandomAffine(30, (0.1, 0.2, 0, 0.1), (0.8, 1.2), 10),
    V.RandomPerspective(prob=0.9), V.RandomColor(), V.RandomSharpness(), V.RandomColorAdjust(0.4, 0.4, 0.4, 0.1),
    V.RandomPosterize((2, 7)), V.RandomSolarize(), V.RandomGrayscale(0.5), V.RandomInvert(), V.RandomEqualize(),
    V.RandomAutoContrast(), V.RandomAdjustSharpness(2.0), V.RandomLighting(0.5), V.RandomResize(13), V.CutOut(5, 2),
    V.AutoAugment(), V.AutoAugment(V.AutoAugmentPolicy.CIFAR10), V.AutoAugment(V.AutoAugmentPolicy.SVHN),
    V.RandAugment(), V.TrivialAugmentWide(), V.UniformAugment([V.Invert(), V.Equalize(), V.HorizontalFlip()]),
    V.RandomSelectSubpolicy([[(V.Invert(), 0.5), (V.Rotate(30), 0.5)], [(V.Equalize(), 1.0)]]), V.RandomErasing(1.0),
]  # fmt: skip


@pytest.mark.parametrize("transform", RANDOM, ids=lambda t: type(t).__name__)
def test_the_same_generator_gives_the_same_image(transform):
    results = []
    for _ in range(2):
        with seeded(np.random.default_rng(11)):
            results.append([transform(IMAGE) for _ in range(5)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("transform", RANDOM, ids=lambda t: type(t).__name__)
def test_the_image_given_is_left_as_it_was(transform):
    before = IMAGE.copy()
    for _ in range(10):
        transform(IMAGE)
    np.testing.assert_array_equal(IMAGE, before)


@pytest.mark.parametrize("transform", RANDOM, ids=lambda t: type(t).__name__)
def test_a_random_transform_travels_between_processes(transform):
    again = pickle.loads(pickle.dumps(transform))
    with seeded(np.random.default_rng(5)):
        a = transform(IMAGE)
    with seeded(np.random.default_rng(5)):
        b = again(IMAGE)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("transform", [V.RandomCrop(9), V.RandomRotation(40), V.RandomHorizontalFlip()])
def test_all_images_of_a_call_get_the_same_treatment(transform):
    for _ in range(5):
        a, b = transform(IMAGE, IMAGE.copy())
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("transform", [V.Resize((9, 7)), V.Rotate(20), V.CenterCrop(5), V.HorizontalFlip(), V.Invert()])
def test_a_stack_of_images_is_treated_image_by_image(transform):
    stack = np.stack([IMAGE, IMAGE[::-1]])
    np.testing.assert_array_equal(transform(stack), np.stack([transform(f) for f in stack]))


@settings(max_examples=400, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(1, 60), st.integers(1, 60),
    st.sampled_from([V.Inter.NEAREST, V.Inter.LINEAR, V.Inter.AREA]), st.sampled_from([0, 1, 3]),
)  # fmt: skip
def test_resizing_by_numpy_equals_resizing_by_opencv(rows, columns, height, width, mode, channels):
    opencv = pytest.importorskip("cv2")
    flags = {0: opencv.INTER_NEAREST, 2: opencv.INTER_LINEAR, 4: opencv.INTER_AREA}
    image = np.random.default_rng(rows).integers(0, 256, (rows, columns, 3)).astype(np.uint8)
    image = image[..., 0] if channels == 0 else image[..., :channels]
    want = opencv.resize(np.ascontiguousarray(image), (width, height), interpolation=flags[mode])
    np.testing.assert_array_equal(by_taps(image, height, width, mode).reshape(want.shape), want)


@pytest.mark.parametrize("channels", [0, 3, 4])
@pytest.mark.parametrize("mode", [V.Inter.NEAREST, V.Inter.LINEAR])
def test_a_warp_by_numpy_equals_a_warp_by_opencv(mode, channels, monkeypatch):
    pytest.importorskip("cv2")
    image = RNG.integers(0, 256, (40, 53, max(channels, 1))).astype(np.uint8)
    image = image[..., 0] if channels == 0 else image
    for forward in (
        warp.affine((20, 18), 33, (2.5, -3), 1.3, (8, 4)),
        warp.affine((20, 18), -100, (0, 9), 0.4, (0, 0)),
        warp.perspective([[0, 0], [52, 0], [52, 39], [0, 39]], [[9, 5], [50, -9], [70, 35], [-5, 45]]),
    ):
        fast = warp.warp(image, forward, 45, 50, mode, 77)
        with monkeypatch.context() as patched:
            patched.setattr(warp, "installed", lambda name: False)
            np.testing.assert_array_equal(warp.warp(image, forward, 45, 50, mode, 77), fast)


def test_a_lookup_by_numpy_equals_a_lookup_by_opencv(monkeypatch):
    table = RNG.integers(0, 256, 256).astype(np.uint8)
    fast = pixels.look_up(table, IMAGE)
    monkeypatch.setattr(pixels, "installed", lambda name: False)
    np.testing.assert_array_equal(pixels.look_up(table, IMAGE), fast)


def test_turning_hues_equals_opencv():
    opencv = pytest.importorskip("cv2")
    image = RNG.integers(0, 256, (200, 200, 3)).astype(np.uint8)
    hsv = opencv.cvtColor(image, opencv.COLOR_RGB2HSV_FULL)
    hsv[..., 0] += np.uint8(int(0.3 * 255))
    want = opencv.cvtColor(hsv, opencv.COLOR_HSV2RGB_FULL)
    difference = np.abs(V.AdjustHue(0.3)(image).astype(int) - want)
    assert difference.max() <= 1
    assert (difference > 0).mean() < 1e-4  # ties of rounding


@pytest.mark.parametrize(("mode", "name"), [(V.Inter.ANTIALIAS, "LANCZOS"), (V.Inter.PILCUBIC, "BICUBIC")])
@pytest.mark.parametrize("size", [(7, 9), (50, 60), (50, 9)])
@pytest.mark.parametrize("compiled", [True, False])
def test_antialiased_resizing_equals_pillow(mode, name, size, compiled, monkeypatch):
    pillow = pytest.importorskip("PIL.Image")
    for loop, _ in LOOPS:
        monkeypatch.setattr(loop, "ready", lambda: compiled)
    want = np.asarray(pillow.fromarray(IMAGE).resize(size[::-1], getattr(pillow.Resampling, name)))
    np.testing.assert_array_equal(V.Resize(size, mode)(IMAGE), want)
    np.testing.assert_array_equal(by_taps(IMAGE, *size, mode), want)


@pytest.mark.parametrize("mode", list(V.Inter))
def test_resizing_a_constant_image_keeps_the_constant(mode):
    np.testing.assert_array_equal(V.Resize((5, 50), mode)(np.full((20, 20, 3), 77, np.uint8)), 77)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_quarter_turn_is_exact(degrees):
    square = IMAGE[:15, :15]
    np.testing.assert_array_equal(V.Rotate(degrees)(square), np.rot90(square, degrees // 90))


@pytest.mark.parametrize(("mode", "order"), [(V.Inter.LINEAR, 1), (V.Inter.NEAREST, 0)])
def test_the_warp_interpolates_as_scipy_does(mode, order):
    image = ndimage.gaussian_filter(RNG.random((30, 40)), 2)
    forward = warp.affine((19.5, 14.5), 17, (1.5, -2.25), 1.1, (4, 3))
    inverse = np.linalg.inv(forward)
    got = warp.warp(image, forward, 30, 40, mode)
    swap = inverse[:2, :2][::-1, ::-1]
    want = ndimage.affine_transform(image, swap, inverse[:2, 2][::-1], order=order, mode="constant")
    inner = (slice(8, -8), slice(10, -10))
    tolerance = 0.02 if order == 0 else 2e-3  # positions are known to 1/32 of a pixel
    np.testing.assert_allclose(got[inner], want[inner], atol=tolerance)


def test_perspective_takes_the_given_points_to_the_given_points():
    start, end = [[0, 0], [30, 0], [30, 22], [0, 22]], [[3, 1], [25, 4], [28, 20], [2, 19]]
    moved = np.c_[start, np.ones(4)] @ warp.perspective(start, end).T
    np.testing.assert_allclose(moved[:, :2] / moved[:, 2:], end, atol=1e-9)


def test_hue_saturation_and_value_come_back_as_the_same_colour():
    colours = RNG.random((50, 3))
    np.testing.assert_allclose(hsv_to_rgb(rgb_to_hsv(colours)), colours, atol=1e-12)


def test_a_gaussian_blur_equals_scipy():
    image = RNG.random((20, 25)).astype(np.float32)
    want = ndimage.gaussian_filter(image, (1.1, 0.8), mode="mirror", radius=(3, 2))
    np.testing.assert_allclose(V.GaussianBlur((5, 7), (0.8, 1.1))(image), want, atol=1e-6)


def test_normalize_undone_is_the_image():
    mean, std = np.array([120.0, 110.0, 100.0]), np.array([50.0, 60.0, 70.0])
    out = V.Normalize(mean, std)(IMAGE)
    np.testing.assert_allclose(out * std + mean, IMAGE, atol=1e-4)
    padded = V.NormalizePad(mean, std)(IMAGE)
    np.testing.assert_array_equal(padded[..., :3], out)
    assert not padded[..., 3].any()


def test_normalize_treats_both_layouts_alike():
    mean, std = [120.0, 110.0, 100.0], [50.0, 60.0, 70.0]
    first = V.Normalize(mean, std, is_hwc=False)(IMAGE.transpose(2, 0, 1))
    np.testing.assert_array_equal(first.transpose(1, 2, 0), V.Normalize(mean, std)(IMAGE))


def test_mixup_of_a_batch_is_one_convex_combination():
    images, labels = RNG.random((4, 5, 6, 3)), np.eye(4)
    with seeded(np.random.default_rng(1)):
        mixed, shares = V.MixUpBatch(0.5)(images, labels)
    np.testing.assert_allclose(np.einsum("ij,jhwc->ihwc", shares, images), mixed, atol=1e-6)
    with seeded(np.random.default_rng(1)):
        mixed, shares = V.MixUp(4, 0.5)(images, labels)
    np.testing.assert_allclose(np.einsum("ij,jhwc->ihwc", shares, images), mixed, atol=1e-12)


@pytest.mark.parametrize("layout", list(V.ImageBatchFormat))
def test_cutmix_labels_tell_the_share_of_pixels(layout):
    images = np.arange(1, 6, dtype=np.float32)[:, None, None, None] * np.ones((5, 16, 20, 3), np.float32)
    if layout == V.ImageBatchFormat.NCHW:
        images = images.transpose(0, 3, 1, 2)
    for seed in range(10):
        with seeded(np.random.default_rng(seed)):
            mixed, labels = V.CutMixBatch(layout)(images, np.eye(5))
        shares = np.stack([(mixed == k).mean((1, 2, 3)) for k in range(1, 6)], 1)
        np.testing.assert_allclose(labels, shares, atol=1e-6)


def test_boxes_follow_the_pixels_they_mark():
    image = np.zeros((24, 30, 3), np.uint8)
    image[6:14, 9:19] = 255
    boxes = np.array([[9, 6, 10, 8, 1]], np.float32)
    for transform in [V.RandomHorizontalFlipWithBBox(1.0), V.RandomVerticalFlipWithBBox(1.0),
                      V.RandomCropWithBBox((18, 20), padding=2), V.ResizeWithBBox((48, 60)),
                      V.RandomCropWithBBox((30, 40), pad_if_needed=True)]:  # fmt: skip
        out, moved = transform(image, boxes)
        x, y, width, height = moved[0, :4].astype(int)
        inside = np.zeros(out.shape[:2], bool)
        inside[y : y + height, x : x + width] = True
        assert (out[..., 0] > 127).sum() == inside.sum()
        assert (out[..., 0] > 127)[inside].all()
    assert boxes.tolist() == [[9, 6, 10, 8, 1]]


def test_ten_crops_are_five_crops_of_the_image_and_of_its_mirror():
    ten = V.TenCrop((5, 7))(IMAGE)
    mirrored = V.FiveCrop((5, 7))(IMAGE[:, ::-1])
    for a, b in zip(ten, V.FiveCrop((5, 7))(IMAGE) + mirrored, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_image_survives_encoding_as_png(tmp_path):
    pytest.importorskip("PIL.Image")
    for image in (IMAGE, IMAGE[..., :1]):
        V.write_png(str(tmp_path / "a.png"), image, 9)
        np.testing.assert_array_equal(V.read_image(str(tmp_path / "a.png")), image)
        decoded = V.Decode()(V.encode_png(image))
        np.testing.assert_array_equal(decoded, np.broadcast_to(image, decoded.shape))


def test_an_image_nearly_survives_encoding_as_jpeg(tmp_path):
    pytest.importorskip("PIL.Image")
    smooth = V.GaussianBlur(9, 4.0)(V.Resize((64, 80))(IMAGE))
    path = str(tmp_path / "a.jpg")
    V.write_jpeg(path, smooth, quality=95)
    for decoded in (V.Decode()(V.read_file(path)), V.read_image(path), V.ToNumpy()(V.Decode(True)(V.read_file(path)))):
        assert np.abs(decoded.astype(int) - smooth).mean() < 3
    assert V.read_image(path, V.ImageReadMode.GRAYSCALE).shape == (64, 80, 1)
    assert V.RandomCropDecodeResize((11, 12))(V.read_file(path)).shape == (11, 12, 3)


def test_decoding_equals_pillow_bit_by_bit():
    pillow = pytest.importorskip("PIL.Image")
    import io

    data = V.encode_jpeg(V.Resize((120, 160))(IMAGE))
    want = np.asarray(pillow.open(io.BytesIO(data.tobytes())).convert("RGB"))
    np.testing.assert_array_equal(V.Decode()(data), want)


def test_pillow_images_come_back_as_pillow_images():
    pillow = pytest.importorskip("PIL.Image")
    for transform in [V.Resize(9), V.RandomRotation(20), V.Invert(), V.CenterCrop(5), V.RandomResizedCrop(7),
                      V.RandomAffine(20), V.RandomColorAdjust(0.4), V.RandomCrop(9), V.RandomPerspective(prob=1.0),
                      V.Grayscale(), V.RandomCrop(40, pad_if_needed=True)]:  # fmt: skip
        assert isinstance(transform(pillow.fromarray(IMAGE)), pillow.Image)


def test_transforms_of_arrays_alone_take_pillow_images_as_arrays():
    pillow = pytest.importorskip("PIL.Image")
    for transform in [V.Rotate(20), V.Affine(10.0, (0.1, 0), 1.1, 5.0), V.HorizontalFlip(), V.Crop((1, 2), 5),
                      V.AdjustSharpness(2.0), V.GaussianBlur(3), V.Posterize(3), V.Solarize(9),
                      V.RandomEqualize(1.0), V.ConvertColor(V.ConvertMode.COLOR_RGB2BGR)]:  # fmt: skip
        np.testing.assert_array_equal(transform(pillow.fromarray(IMAGE)), transform(IMAGE))


def test_a_video_comes_back_frame_by_frame(tmp_path):
    av = pytest.importorskip("av")
    path = str(tmp_path / "a.mkv")
    frames = [np.full((32, 48, 3), 20 * i, np.uint8) for i in range(10)]
    with av.open(path, "w") as container:
        stream = container.add_stream("ffv1", rate=10)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "bgr0"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    pictures, sound, rates = V.read_video(path)
    np.testing.assert_array_equal(pictures, frames)
    assert sound.shape == (1, 0)
    assert rates == {"video_fps": 10.0}
    np.testing.assert_array_equal(V.DecodeVideo()(V.read_file(path))[0], frames)
    stamps, rate = V.read_video_timestamps(path, "sec")
    np.testing.assert_allclose(stamps, np.arange(10) / 10, atol=1e-3)
    assert rate == 10.0
    np.testing.assert_array_equal(V.VideoDecoder(path).get_frames_at([3, 1, 3]), [frames[3], frames[1], frames[3]])
    known = {"width": 48, "height": 32, "duration_seconds": 1.0, "num_frames": 10, "average_fps": 10.0}
    assert V.VideoDecoder(path).metadata == known
    assert isinstance(V.VideoDecoder.metadata, property)
    assert len(V.read_video(path, 0.25, 0.55, "sec")[0]) == 3


MISTAKES = [
    (lambda: V.Resize(0), "size"),
    (lambda: V.Resize((3, 4, 5)), "size"),
    (lambda: V.Resize(3, 2), "Inter"),
    (lambda: V.RandomHorizontalFlip(1.5), "prob"),
    (lambda: V.Normalize([1.0], [0.0]), "std"),
    (lambda: V.Pad(-1), "padding"),
    (lambda: V.Crop((0, 0), 99)(IMAGE), "outside"),
    (lambda: V.RandomCrop(99)(IMAGE), "pad_if_needed"),
    (lambda: V.Posterize(9), "bits"),
    (lambda: V.GaussianBlur(4), "odd"),
    (lambda: V.Equalize()(IMAGE.astype(np.float32)), "uint8"),
    (lambda: V.Decode()(IMAGE), "encoded"),
    (lambda: V.MixUpBatch()(IMAGE, np.eye(2)), "batch"),
    (lambda: V.AdjustHue(0.7), "hue_factor"),
    (lambda: V.RandAugment(magnitude=40), "magnitude"),
    (lambda: V.Resize(3)(np.zeros(5, np.uint8)), "Decode"),
    (lambda: V.Invert().device("Ascend"), "device"),
    (lambda: V.Resize(3)(np.zeros((0, 4, 3), np.uint8)), "pixels"),
    (lambda: V.Rotate(3)(np.array([["a"]])), "pixels"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_a_mistake_is_told_in_its_own_words(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        call()
    assert isinstance(raised.value, MyceliaError)


def test_an_array_that_pillow_does_not_know_is_told():
    pytest.importorskip("PIL.Image")
    with pytest.raises(TypeError, match="Pillow has no image"):
        V.ToPIL()(np.zeros((4, 4, 3), np.float64))


def test_broken_bytes_are_an_error_that_says_so():
    pytest.importorskip("PIL.Image")
    data = V.encode_jpeg(IMAGE)
    for broken in (data[: len(data) // 3], np.arange(100, dtype=np.uint8)):
        with pytest.raises(MyceliaError, match="decoded"):
            V.Decode()(broken)


def test_a_file_without_pictures_or_sound_gives_none_of_them():
    nothing = SimpleNamespace(streams=SimpleNamespace(video=(), audio=()))
    seen, heard = video.pictures(nothing), video.sound(nothing)
    assert (seen.shape, seen.dtype, heard.shape, heard.dtype) == ((0, 1, 1, 3), np.uint8, (1, 0), np.float32)


@pytest.mark.parametrize("mode", V.ConvertMode)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_colours_that_were_converted_are_an_image_of_their_own(mode, dtype):
    given = RNG.integers(0, 256, (5, 7, {"GRAY": 1}.get(mode.name[6:10], 4 if mode.name[9] == "A" else 3))).astype(
        dtype
    )
    made = V.ConvertColor(mode)(given[..., 0] if given.shape[-1] == 1 else given)
    assert made.flags.c_contiguous
    assert not np.shares_memory(made, given)
