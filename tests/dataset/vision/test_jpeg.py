"""The decoder of rectangles gives what libjpeg-turbo gives, to the last bit, or leaves the file to it."""

from __future__ import annotations

import io
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mycelia.dataset import random, vision
from mycelia.dataset.vision import codec, jpeg

pillow = pytest.importorskip("PIL.Image")


def encoded(image: np.ndarray, **options) -> np.ndarray:
    if options.get("subsampling") == "4:4:0":  # which Pillow does not write
        simple = pytest.importorskip("simplejpeg")
        return np.frombuffer(simple.encode_jpeg(image, options.get("quality", 75), colorsubsampling="440"), np.uint8)
    out = io.BytesIO()
    pillow.fromarray(image).save(out, "JPEG", **options)
    return np.frombuffer(out.getvalue(), np.uint8)


def library(data: np.ndarray) -> np.ndarray:
    return np.array(pillow.open(io.BytesIO(data.tobytes())).convert("RGB"))


def picture(rng: np.random.Generator, height: int, width: int, channels: int = 3) -> np.ndarray:
    """Smooth shapes, edges and noise."""
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / f) + np.cos(y / g) for f, g in rng.uniform(1, 40, (channels, 2))], 2)
    image = 128 + 60 * waves + rng.normal(0, rng.choice([0, 3, 40]), (height, width, channels))
    image[height // 3 :, width // 2 :] += rng.choice([0, 90])
    return image.clip(0, 255).astype(np.uint8).squeeze()


def pixels(data, box=None):
    about = jpeg.header_of(data)
    assert about is not None
    return jpeg.pixels(data, about, box)


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0", "4:4:0"])
@pytest.mark.parametrize("quality", [5, 50, 90, 100])
def test_whole_pictures_equal_the_library(subsampling, quality):
    rng = np.random.default_rng(quality)
    for _ in range(8):
        data = encoded(
            picture(rng, *(rng.integers(1, 90, 2) + np.array([0, 4]))),
            quality=quality,
            subsampling=subsampling,
            optimize=bool(rng.integers(2)),
        )
        np.testing.assert_array_equal(pixels(data), library(data))


def test_grey_pictures_equal_the_library():
    rng = np.random.default_rng(0)
    for quality in (10, 75, 100):
        data = encoded(picture(rng, *rng.integers(1, 90, 2), 1).reshape(-1, 1), quality=quality)
        np.testing.assert_array_equal(pixels(data), library(data))
        data = encoded(picture(rng, 33, 47, 1), quality=quality)
        np.testing.assert_array_equal(pixels(data), library(data))


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0", "4:4:0"])
def test_every_rectangle_is_that_part_of_the_whole(subsampling):
    rng = np.random.default_rng(1)
    for _ in range(6):
        height, width = (int(v) for v in rng.integers(5, 120, 2))
        data = encoded(picture(rng, height, width), quality=85, subsampling=subsampling)
        whole = library(data)
        for _ in range(25):
            h, w = int(rng.integers(1, height + 1)), int(rng.integers(1, width + 1))
            top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
            np.testing.assert_array_equal(
                pixels(data, (top, left, h, w)), whole[top : top + h, left : left + w], f"{(top, left, h, w)}"
            )


def test_files_of_other_kinds_are_left_to_the_library():
    rng = np.random.default_rng(2)
    image = picture(rng, 40, 50)
    for data in (
        encoded(image, progressive=True),
        encoded(image, restart_marker_blocks=3),
        encoded(picture(rng, 40, 3), subsampling="4:2:0"),
    ):
        assert jpeg.header_of(data) is None
        np.testing.assert_array_equal(vision.Decode()(data), library(data))
    out = io.BytesIO()
    pillow.fromarray(np.dstack([image, image[..., :1]]), "CMYK").save(out, "JPEG")
    assert jpeg.header_of(np.frombuffer(out.getvalue(), np.uint8)) is None
    out = io.BytesIO()
    pillow.fromarray(image).save(out, "JPEG", keep_rgb=True)
    assert jpeg.header_of(np.frombuffer(out.getvalue(), np.uint8)) is None


def test_long_headers_and_thumbnails_are_no_obstacle():
    rng = np.random.default_rng(3)
    for repeated in (3, 2000):
        data = encoded(picture(rng, 40, 50), exif=b"Exif\0\0" + b"\xff\xda\0\x08" * repeated, comment=b"x" * 5000)
        np.testing.assert_array_equal(pixels(data), library(data))
        np.testing.assert_array_equal(vision.Decode()(data), library(data))


def test_a_file_that_is_cut_off_is_an_error():
    data = encoded(picture(np.random.default_rng(4), 60, 60))
    for end in (3, 100, 400, 700, len(data) // 2, len(data) - 2):
        with pytest.raises(ValueError, match="decode"):
            vision.Decode()(data[:end])


def test_pixels_whose_last_bits_are_missing_are_left_to_the_library():
    """An end marker comes too early: what libraries then invent is theirs."""
    rng = np.random.default_rng(7)
    for size in range(8, 40):
        data = encoded(picture(rng, size, 47 - size), quality=2 * size)
        np.testing.assert_array_equal(pixels(data), library(data))
        for cut in (1, 2, 3, 9):
            short = np.concatenate([data[: -2 - cut], data[-2:]])
            assert pixels(short) is None, (size, cut)
            if cut < 9:
                np.testing.assert_array_equal(vision.Decode()(short), library(short))


def test_flipped_bits_never_reach_outside_the_arrays():
    """The routines run as Python over arrays that refuse an index outside; and both answers are the same."""
    rng = np.random.default_rng(5)
    whole = encoded(picture(rng, 20, 24), quality=60, subsampling="4:2:0")
    about = jpeg.header_of(whole)
    for _ in range(25):
        data = whole.copy()
        for place in rng.integers(about.start, len(data) - 2, 3):
            data[place] ^= 1 << rng.integers(8)
        box = (2, 3, 13, 15)
        fast = jpeg.pixels(data, about, box)
        slow = interpreted(data, about, box)
        if fast is None:
            assert slow is None
        else:
            np.testing.assert_array_equal(fast, slow)


def interpreted(data, about, box):
    """`pixels` by the same routines as Python."""

    class Plain(np.ndarray):
        def __getitem__(self, i):
            assert 0 <= i < len(self)
            return int(np.ndarray.__getitem__(self, i))

        def __setitem__(self, i, value):
            assert 0 <= i < len(self)
            np.ndarray.__setitem__(self, i, np.array(value & ((1 << 64) - 1), np.uint64).astype(self.dtype))

    def plainly(fn):
        return lambda *args: fn(*(a.reshape(-1).view(Plain) if isinstance(a, np.ndarray) else a for a in args))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jpeg, "_scan", plainly(jpeg.bits.scan))
        patch.setattr(jpeg, "_paint", plainly(jpeg.colour.paint))
        with np.errstate(over="ignore"):
            return jpeg.pixels(data, about, box)


def test_broken_files_are_told_or_decoded_as_the_library_does():
    rng = np.random.default_rng(6)
    whole = encoded(picture(rng, 50, 64), quality=80)
    for _ in range(150):
        data = whole.copy()
        for place in rng.integers(2, len(data), int(rng.integers(1, 4))):
            data[place] = rng.integers(256)
        try:
            image = vision.Decode()(data)
        except ValueError:
            continue
        assert image.dtype == np.uint8
        assert image.ndim == 3


def test_baseline_files_need_no_library(monkeypatch):
    data = encoded(picture(np.random.default_rng(7), 30, 40))
    expected = library(data)
    monkeypatch.setattr(codec, "installed", lambda name: False)
    np.testing.assert_array_equal(vision.Decode()(data), expected)


def test_a_crop_while_decoding_equals_a_crop_after_decoding():
    data = encoded(picture(np.random.default_rng(8), 70, 90))
    for seed in range(10):
        with random.seeded(np.random.default_rng(seed)):
            ours = vision.RandomCropDecodeResize((20, 31))(data)
        with random.seeded(np.random.default_rng(seed)):
            np.testing.assert_array_equal(ours, vision.RandomResizedCrop((20, 31))(library(data)))


def segment(data: np.ndarray, kind: int) -> slice:
    """Where the first segment of a kind lies."""
    at = data.tobytes().find(bytes([255, kind]))
    return slice(at, at + 2 + int.from_bytes(data[at + 2 : at + 4].tobytes(), "big"))


def spliced(data: np.ndarray, place: slice, new: bytes) -> np.ndarray:
    raw = data.tobytes()
    return np.frombuffer(raw[: place.start] + new + raw[place.stop :], np.uint8)


FRAME, CODES, SCALES, SCAN = 0xC0, 0xC4, 0xDB, 0xDA


def test_an_end_that_stands_before_the_picture_is_no_end():
    """The routines run until the end marker: one in a comment must not let them run out of the file."""
    data = encoded(picture(np.random.default_rng(9), 40, 40))
    scan = segment(data, SCAN)
    comment = b"\xff\xfe\0\x04\xff\xd9"
    cut = spliced(data[: scan.stop], slice(scan.start, scan.start), comment)
    assert jpeg.header_of(cut) is None
    with pytest.raises(ValueError, match="decode"):
        vision.Decode()(cut)


@pytest.mark.parametrize("progressive", [False, True])
def test_a_small_file_that_claims_a_huge_picture_is_told_and_takes_no_memory(progressive):
    data = encoded(np.zeros((40, 40, 3), np.uint8), progressive=progressive).copy()
    at = segment(data, 0xC2 if progressive else FRAME).start
    for size in (b"\xff\xff\xff\xff", b"\x23\x28\x23\x28"):
        data[at + 5 : at + 9] = np.frombuffer(size, np.uint8)
        with pytest.raises(ValueError, match=r"claims .* pixels, which cannot be decoded from"):
            vision.Decode()(data)


def test_a_bomb_of_another_format_is_told_as_every_broken_file():
    data = vision.encode_png(np.zeros((3, 3), np.uint8)).tobytes()
    size = b"IHDR" + (50000).to_bytes(4, "big") * 2 + data[24:29]
    bomb = data[:12] + size + zlib.crc32(size).to_bytes(4, "big") + data[33:]
    with pytest.raises(ValueError, match="not an image that can be decoded"):
        vision.Decode()(np.frombuffer(bomb, np.uint8))


def test_headers_that_the_library_refuses_are_refused():
    data = encoded(picture(np.random.default_rng(10), 30, 40, 1))
    frame, scales, codes, scan = (segment(data, kind) for kind in (FRAME, SCALES, CODES, SCAN))
    at = frame.start
    broken = {
        "no quantisation table": spliced(data, scales, b""),
        "two frames": spliced(data, slice(at, at), data[frame].tobytes()),
        "no sampling": spliced(data, slice(at + 11, at + 12), b"\x00"),
        "sampling of five": spliced(data, slice(at + 11, at + 12), b"\x15"),
        "an AC table for DC": spliced(data, slice(scan.start + 6, scan.start + 7), b"\x40"),
        "a code of ones": spliced(data, codes, b"\xff\xc4\0\x15\0\x02" + bytes(15) + b"\0\x01"),
    }
    assert jpeg.header_of(data) is not None
    for what, file in broken.items():
        assert jpeg.header_of(file) is None, what
        with pytest.raises(ValueError, match="decode"):
            vision.Decode()(file)


@pytest.mark.parametrize("kind", [FRAME, CODES, SCALES, SCAN])
def test_a_segment_that_is_cut_anywhere_is_refused_in_words(kind):
    """Its own length is right: what it says of the things in it is not."""
    data = encoded(picture(np.random.default_rng(10), 30, 40))
    whole = segment(data, kind)
    for length in range(whole.stop - whole.start - 4):
        cut = bytes([255, kind]) + (2 + length).to_bytes(2, "big") + data[whole][4 : 4 + length].tobytes()
        assert jpeg.header_of(spliced(data, whole, cut)) is None, length


@pytest.mark.parametrize(
    "box", [(-1, 0, 2, 2), (0, -1, 2, 2), (0, 0, 0, 2), (0, 0, 2, 0), (29, 0, 2, 2), (0, 39, 2, 2)], ids=str
)
def test_a_rectangle_outside_its_picture_is_refused(box):
    data = encoded(picture(np.random.default_rng(10), 30, 40))
    with pytest.raises(ValueError, match="outside its picture"):
        pixels(data, box)


@pytest.mark.parametrize(
    "place",
    [np.empty((5, 4, 3), "u1"), np.empty((4, 5, 3), "i2"), np.empty((4, 10, 3), "u1")[:, ::2]],
    ids=["shape", "type", "steps"],
)
def test_a_place_that_does_not_fit_is_not_written(place):
    data = encoded(picture(np.random.default_rng(10), 30, 40))
    with pytest.raises(ValueError, match="does not fit"):
        jpeg.pixels(data, jpeg.header_of(data), (1, 2, 4, 5), place)


def test_pictures_that_are_parts_of_others_are_written_as_they_look():
    part = picture(np.random.default_rng(10), 30, 40)[::2, ::-3]
    for encode in (vision.encode_jpeg, vision.encode_png):
        np.testing.assert_array_equal(encode(part), encode(part.copy()))


def test_coefficients_beyond_all_measure_are_left_to_the_library():
    """Libraries count in 16 bits, which such coefficients overflow."""
    rng = np.random.default_rng(11)
    for seed in range(12):
        data = encoded(picture(rng, 40, 48), quality=100, subsampling="4:2:0").copy()
        scale = segment(data, SCALES)
        data[scale.start + 5 : scale.stop] = 255
        if seed % 2:
            body = slice(segment(data, SCAN).stop, -2)
            data[body] = rng.integers(0, 255, len(data[body]), np.uint8)
        about = jpeg.header_of(data)
        ours = jpeg.pixels(data, about)
        if ours is not None:
            np.testing.assert_array_equal(ours, library(data))
        np.testing.assert_array_equal(vision.Decode()(data), library(data))


def test_whatever_is_decoded_from_a_damaged_file_is_what_the_library_gives():
    rng = np.random.default_rng(12)
    seen = 0
    for turn in range(300):
        whole = encoded(picture(rng, *rng.integers(5, 40, 2)), quality=int(rng.choice([10, 75, 100])))
        data = whole.copy()
        for place in rng.integers(2, len(data) - 2, int(rng.integers(1, 4))):
            data[place] = rng.integers(256) if turn % 2 else data[place] ^ (1 << rng.integers(8))
        about = jpeg.header_of(data)
        ours = None if about is None else jpeg.pixels(data, about)
        if ours is not None:
            try:
                expected = library(data)
            except OSError:  # of what follows the last block, which is not looked at
                continue
            np.testing.assert_array_equal(ours, expected)
            seen += 1
    assert seen > 50


def test_threads_decode_side_by_side():
    rng = np.random.default_rng(13)
    files = [encoded(picture(rng, *rng.integers(5, 150, 2))) for _ in range(24)]
    with ThreadPoolExecutor(8) as pool:
        for data, ours in zip(files * 4, pool.map(pixels, files * 4), strict=True):
            np.testing.assert_array_equal(ours, library(data))
