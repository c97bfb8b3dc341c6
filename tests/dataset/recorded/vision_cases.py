"""The vision cases: sentences in the common names, read once by MindSpore (to record) and again by Mycelia.

A case is `name: (expression, input, tolerance)`. The expression builds the transform from `V` (the vision module);
the tolerance is the largest absolute difference of any element, in the unit of the output (levels for uint8). An
input that is a tuple is several columns; one whose name begins with "pil" is a Pillow image, in the mode that follows.

What draws at random is recorded with its draws forced where that can be, and else as a set: `SETS` holds transforms
with few possible answers, all of which MindSpore gave within a number of calls.
"""

from typing import Any

import numpy as np

INTER = ["NEAREST", "LINEAR", "CUBIC", "AREA", "ANTIALIAS", "PILCUBIC"]
WARPS = ["NEAREST", "LINEAR", "CUBIC"]


def image(height: int, width: int, channels: int = 3) -> np.ndarray:
    """A picture with a gradient, edges and texture, by formula."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    smooth = 127 + 90 * np.sin(x / 5 + c) * np.cos(y / 7 - c / 2)
    texture = (x * 31 + y * 17 + c * 47 + x * y * 7) % 61 - 30
    block = np.where((x // 4 + y // 5) % 3 == 0, 40, -10)
    return np.clip(smooth + texture + block, 0, 255).astype(np.uint8)


def inputs() -> dict[str, Any]:
    """The arrays that the cases name."""
    colour = image(18, 25)
    rng = np.random.Generator(np.random.PCG64(7))
    batch = np.stack([image(8, 9), image(8, 9)[::-1], image(8, 9)[:, ::-1]])
    boxes = np.array([[2, 3, 9, 8, 1, 0, 4], [14, 6, 10, 11, 2, 1, 5]], np.float32)
    return {
        "colour": colour,
        "grey": image(18, 25, 1)[..., 0],
        "grey1": image(18, 25, 1),
        "float": colour.astype(np.float32) / 255,
        "grey_float": image(18, 25, 1)[..., 0].astype(np.float32) / 255,
        "chw": np.ascontiguousarray(colour.transpose(2, 0, 1)),
        "rgba": image(9, 11, 4),
        "rgba_float": image(9, 11, 4).astype(np.float32) / 255,
        "row": image(1, 11),
        "column": image(12, 1),
        "pixel": image(1, 1),
        "uint16": image(9, 11).astype(np.uint16) * 200,
        "int16": image(9, 11).astype(np.int16) * 100 - 9000,
        "double": image(9, 11) / 255,
        "unit_chw": rng.random((3, 6, 5)).astype(np.float32),
        "unit_hwc": rng.random((6, 5, 3)).astype(np.float32),
        "unit_batch": rng.random((2, 3, 6, 5)).astype(np.float32),
        "batch": batch,
        "video": np.stack([batch, batch[::-1]]),
        "small": image(12, 14),
        "tiny": image(3, 3),
        "tiny_chw": np.ascontiguousarray(image(2, 3).transpose(2, 0, 1)),
        "boxed": (colour, boxes),
        "mixed": (batch, np.eye(3, dtype=np.float32)),
        **{f"pil_{mode}": colour for mode in PILLOW},
        "pil": colour,
    }


def opened(given: dict[str, Any], key: str) -> tuple[Any, ...]:
    """The columns that an input names, as a transform gets them."""
    columns = given[key] if isinstance(given[key], tuple) else (given[key],)
    if not key.startswith("pil"):
        return tuple(column.copy() for column in columns)
    from PIL import Image

    mode = key.removeprefix("pil").removeprefix("_")
    return tuple(Image.fromarray(column).convert(mode or "RGB") for column in columns)


PILLOW = ["L", "RGBA", "LA", "CMYK", "P", "YCbCr", "HSV", "1", "F", "I"]


CASES: dict[str, tuple[str, str, float]] = {
    "brightness": ("V.AdjustBrightness(1.4)", "colour", 0),
    "brightness_dark": ("V.AdjustBrightness(0.3)", "colour", 0),
    "contrast": ("V.AdjustContrast(1.7)", "colour", 0),
    "contrast_low": ("V.AdjustContrast(0.4)", "colour", 0),
    "gamma": ("V.AdjustGamma(2.2, 0.9)", "colour", 0),
    "gamma_float": ("V.AdjustGamma(0.45, 1.0)", "float", 1e-5),
    "hue": ("V.AdjustHue(0.2)", "colour", 1),
    "hue_negative": ("V.AdjustHue(-0.35)", "colour", 1),
    "saturation": ("V.AdjustSaturation(1.8)", "colour", 0),
    "saturation_grey": ("V.AdjustSaturation(0.0)", "colour", 0),
    "sharpness": ("V.AdjustSharpness(2.0)", "colour", 0),
    "sharpness_soft": ("V.AdjustSharpness(0.25)", "colour", 0),
    "auto_contrast": ("V.AutoContrast()", "colour", 0),
    "auto_contrast_cutoff": ("V.AutoContrast(cutoff=10.0, ignore=[10, 20])", "colour", 0),
    "equalize": ("V.Equalize()", "colour", 0),
    "invert": ("V.Invert()", "colour", 0),
    "posterize": ("V.Posterize(3)", "colour", 0),
    "solarize": ("V.Solarize(100)", "colour", 0),
    "solarize_band": ("V.Solarize((60, 150))", "colour", 0),
    "random_solarize": ("V.RandomSolarize((90, 90))", "colour", 0),
    "random_posterize": ("V.RandomPosterize((2, 2))", "colour", 0),
    "random_color": ("V.RandomColor((1.5, 1.5))", "colour", 1),
    "random_sharpness": ("V.RandomSharpness((1.8, 1.8))", "colour", 0),
    "random_adjust_sharpness": ("V.RandomAdjustSharpness(1.7, 1.0)", "colour", 1),
    "random_auto_contrast": ("V.RandomAutoContrast(prob=1.0)", "colour", 0),
    "random_equalize": ("V.RandomEqualize(1.0)", "colour", 0),
    "random_invert": ("V.RandomInvert(1.0)", "colour", 0),
    "random_color_adjust_brightness": ("V.RandomColorAdjust(brightness=(1.3, 1.3))", "colour", 0),
    "random_color_adjust_contrast": ("V.RandomColorAdjust(contrast=(0.6, 0.6))", "colour", 0),
    "random_color_adjust_saturation": ("V.RandomColorAdjust(saturation=(1.4, 1.4))", "colour", 0),
    "random_color_adjust_hue": ("V.RandomColorAdjust(hue=(0.1, 0.1))", "colour", 1),
    "random_lighting_zero": ("V.RandomLighting(0.0)", "colour", 0),
    "center_crop": ("V.CenterCrop((7, 12))", "colour", 0),
    "center_crop_odd": ("V.CenterCrop(8)", "colour", 0),
    "center_crop_pads": ("V.CenterCrop((30, 11))", "colour", 0),
    "crop": ("V.Crop((3, 5), (6, 9))", "colour", 0),
    "pad_constant": ("V.Pad((1, 2, 3, 4), fill_value=(9, 8, 7))", "colour", 0),
    "pad_two": ("V.Pad((1, 2), padding_mode=V.Border.CONSTANT)", "colour", 0),
    "pad_to_size": ("V.PadToSize((30, 40), fill_value=5)", "colour", 0),
    "pad_to_size_offset": ("V.PadToSize((30, 40), (3, 6), padding_mode=V.Border.EDGE)", "colour", 0),
    "horizontal_flip": ("V.HorizontalFlip()", "colour", 0),
    "vertical_flip": ("V.VerticalFlip()", "colour", 0),
    "random_horizontal_flip": ("V.RandomHorizontalFlip(1.0)", "colour", 0),
    "random_vertical_flip": ("V.RandomVerticalFlip(1.0)", "colour", 0),
    "hwc2chw": ("V.HWC2CHW()", "colour", 0),
    "normalize": ("V.Normalize([120.0, 110.0, 100.0], [50.0, 60.0, 70.0])", "colour", 1e-6),
    "normalize_chw": ("V.Normalize([120.0, 110.0, 100.0], [50.0, 60.0, 70.0], is_hwc=False)", "chw", 1e-6),
    "rescale": ("V.Rescale(1.0 / 255.0, -0.5)", "colour", 1e-6),
    "to_tensor": ("V.ToTensor()", "colour", 1e-7),
    "erase": ("V.Erase(2, 3, 4, 5, (1, 2, 3))", "colour", 0),
    "grayscale_pil": ("V.Grayscale(3)", "pil", 0),
    "random_grayscale_pil": ("V.RandomGrayscale(1.0)", "pil", 0),
    "rgb_to_hsv": ("V.RgbToHsv()", "unit_chw", 1e-6),
    "hsv_to_rgb": ("V.HsvToRgb()", "unit_chw", 1e-6),
    "gaussian_blur": ("V.GaussianBlur(3, 3.0)", "colour", 0),
    "gaussian_blur_auto": ("V.GaussianBlur((5, 7))", "colour", 0),
    "gaussian_blur_wide": ("V.GaussianBlur(9, 0.65)", "colour", 0),
    "gaussian_blur_uneven": ("V.GaussianBlur((7, 5), (1.46, 2.54))", "grey", 0),
    "saturation_strong": ("V.AdjustSaturation(2.15)", "colour", 1),
    "center_crop_pads_odd": ("V.CenterCrop((33, 12))", "colour", 0),
    "center_crop_pads_both": ("V.CenterCrop((25, 32))", "grey", 0),
    "resize_int_exact": ("V.Resize(36)", "colour", 0),
    "gaussian_blur_float": ("V.GaussianBlur((5, 3), (1.2, 0.7))", "float", 1e-6),
    "slice_patches_pad": ("V.SlicePatches(4, 3, V.SliceMode.PAD, 6)", "colour", 0),
    "slice_patches_drop": ("V.SlicePatches(4, 3, V.SliceMode.DROP)", "colour", 0),
    "perspective": (
        "V.Perspective([[0, 0], [24, 0], [24, 17], [0, 17]], [[2, 1], [22, 3], [20, 15], [1, 13]], V.Inter.LINEAR)",
        "colour", 0),
    "perspective_nearest": (
        "V.Perspective([[0, 0], [24, 0], [24, 17], [0, 17]], [[2, 1], [22, 3], [20, 15], [1, 13]], V.Inter.NEAREST)",
        "colour", 0),
    "rotate_expand": ("V.Rotate(30, V.Inter.LINEAR, expand=True)", "colour", 0),
    "rotate_90": ("V.Rotate(90, V.Inter.NEAREST, expand=True)", "colour", 0),
    "rotate_center": ("V.Rotate(-20, V.Inter.NEAREST, center=(4, 6), fill_value=(9, 99, 9))", "colour", 0),
    "rotate_grey": ("V.Rotate(15, V.Inter.LINEAR)", "grey", 0),
    "random_rotation": ("V.RandomRotation((30, 30), V.Inter.LINEAR, False)", "colour", 0),
    "affine_translate": ("V.Affine(0.0, (0.2, -0.1), 1.0, 0.0, V.Inter.NEAREST, 7)", "colour", 0),
    "random_affine": (
        "V.RandomAffine((20, 20), scale=(1.2, 1.2), shear=(5, 5), resample=V.Inter.LINEAR)", "colour", 0),
    "resized_crop": ("V.ResizedCrop(2, 3, 9, 14, (12, 8), V.Inter.LINEAR)", "colour", 0),
    "resize_int": ("V.Resize(9)", "colour", 0),
    "resize_int_up": ("V.Resize(31)", "colour", 0),
    "resize_grey": ("V.Resize((11, 40))", "grey", 0),
    "resize_float": ("V.Resize((11, 40))", "float", 1e-5),
    "resize_float_cubic": ("V.Resize((30, 40), V.Inter.CUBIC)", "float", 1e-5),
    "resize_float_area": ("V.Resize((7, 10), V.Inter.AREA)", "float", 1e-5),
    "linear_transformation": (
        "V.LinearTransformation(np.eye(90)[::-1] * 0.5, np.arange(90) / 90)", "unit_chw", 1e-6),
    "posterize_one": ("V.Posterize(0)", "colour", 0),
}  # fmt: skip
for mode in INTER:
    for name, size in {"down": (7, 10), "up": (29, 41), "mixed": (29, 11), "wide": (7, 41), "half": (9, 25)}.items():
        ties = 1 if mode == "CUBIC" else 0  # OpenCV rounds halves to even in some columns and up in others
        CASES[f"resize_{name}_{mode}"] = (f"V.Resize({size}, V.Inter.{mode})", "colour", ties)
for mode in ["NEAREST", "LINEAR", "CUBIC", "ANTIALIAS"]:
    CASES[f"pil_resize_down_{mode}"] = (f"V.Resize((7, 10), V.Inter.{mode})", "pil", 1)
    CASES[f"pil_resize_up_{mode}"] = (f"V.Resize((29, 41), V.Inter.{mode})", "pil", 1)
for mode in WARPS:
    CASES[f"rotate_{mode}"] = (f"V.Rotate(30, V.Inter.{mode})", "colour", 0)
    CASES[f"affine_{mode}"] = (f"V.Affine(15.0, (0.1, -0.1), 1.1, (1.0, 5.0), V.Inter.{mode})", "colour", 0)
    CASES[f"pil_perspective_{mode}"] = (
        "V.Perspective([[0, 0], [24, 0], [24, 17], [0, 17]], [[2, 1], [22, 3], [20, 15], [1, 13]],"
        f" V.Inter.{mode})", "pil", 0)  # fmt: skip
for border in ["EDGE", "REFLECT", "SYMMETRIC"]:
    CASES[f"pad_{border}"] = (f"V.Pad((2, 3, 4, 1), padding_mode=V.Border.{border})", "colour", 0)
for op in ["AdjustBrightness(1.4)", "AdjustContrast(1.7)", "AdjustSaturation(1.8)", "AdjustHue(0.2)", "Equalize()",
           "AutoContrast()", "AutoContrast(cutoff=10.0)", "Invert()", "CenterCrop((7, 12))", "CenterCrop((30, 11))",
           "Pad((1, 2, 3, 4), (9, 8, 7))", "RandomHorizontalFlip(1.0)", "RandomVerticalFlip(1.0)",
           "RandomColor((1.5, 1.5))", "RandomSharpness((1.8, 1.8))", "AdjustGamma(2.2, 0.9)", "ToTensor()",
           "RandomRotation((30, 30))"]:  # fmt: skip
    CASES[f"pil_{op.split('(')[0]}_{len(op)}"] = (f"V.{op}", "pil", 1)
for name in ["COLOR_RGB2RGBA", "COLOR_RGB2BGR", "COLOR_RGB2GRAY", "COLOR_BGR2GRAY", "COLOR_BGR2RGBA"]:
    CASES[f"convert_{name}"] = (f"V.ConvertColor(V.ConvertMode.{name})", "colour", 0)
for name in ["COLOR_RGBA2RGB", "COLOR_RGBA2BGR", "COLOR_RGBA2BGRA", "COLOR_RGBA2GRAY", "COLOR_BGRA2GRAY"]:
    CASES[f"convert_{name}"] = (f"V.ConvertColor(V.ConvertMode.{name})", "rgba", 0)
for name in ["COLOR_GRAY2RGB", "COLOR_GRAY2BGRA"]:
    CASES[f"convert_{name}"] = (f"V.ConvertColor(V.ConvertMode.{name})", "grey", 0)


# every transform on every kind of image that MindSpore takes; 0 unless floats are rounded at different places
ARRAYS = ["colour", "grey", "grey1", "rgba", "float", "grey_float", "rgba_float", "row", "column", "pixel", "batch",
          "video", "uint16", "int16", "double"]  # fmt: skip
CORNERS = "[[0, 0], [24, 0], [24, 17], [0, 17]]"
TONES = ["AdjustBrightness(0.55)", "AdjustContrast(1.3)", "AdjustSaturation(0.35)", "AdjustSharpness(1.6)",
         "AdjustGamma(1.7)", "AutoContrast(7.0, 40)", "Equalize()", "Invert()", "Posterize(4)",
         "Solarize((30, 140))", "Solarize(77)", "GaussianBlur((3, 5), (0.8, 1.3))", "GaussianBlur(1)",
         "RandomColor((0.7, 0.7))", "RandomSharpness((0.4, 0.4))", "RandomAdjustSharpness(0.6, 1.0)",
         "RandomAdjustSharpness(0.6, 0.0)", "RandomAutoContrast(4.0, None, 1.0)", "RandomEqualize(1.0)",
         "RandomInvert(1.0)", "RandomPosterize((5, 5))", "RandomPosterize(3)", "RandomSolarize((130, 130))",
         "RandomLighting(0.0)", "RandomColorAdjust((1.2, 1.2))",
         "RandomColorAdjust(saturation=(0.5, 0.5))"]  # fmt: skip
MOVES = ["CenterCrop((5, 7))", "CenterCrop([21, 3])", "Crop((0, 0), 1)", "Crop([2, 1], [5, 6])", "Pad(2, 7)",
         "Pad((3, 1), (1, 2, 3), V.Border.EDGE)", "Pad([0, 2, 1, 0], 0, V.Border.REFLECT)",
         "Pad((1, 1), 0, V.Border.SYMMETRIC)", "PadToSize(30, 2, 9)", "PadToSize([19, 26])",
         "PadToSize((40, 41), None, (5, 6, 7), V.Border.REFLECT)",
         "PadToSize((30, 33), (0, 5), 1, V.Border.SYMMETRIC)", "HorizontalFlip()", "VerticalFlip()",
         "RandomHorizontalFlip(1.0)", "RandomVerticalFlip(1.0)", "RandomHorizontalFlip(0.0)", "HWC2CHW()",
         "Erase(1, 2, 3, 4, 200)", "Erase(0, 0, 1, 1, (9, 8, 7), True)", "SlicePatches(2, 2)", "SlicePatches(1, 1)",
         "RandomCrop((18, 25))", "RandomCrop((20, 29), (2, 1), False, 5)", "Rescale(0.25, -1.5)",
         "Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.1])", "Normalize((0.5,), (0.25,))", "ToTensor(np.float64)",
         "ToTensor(np.float16)", "ToTensor()", "ToType(np.int32)", "ToType('float32')", "ToNumpy()"]  # fmt: skip
WARPED = ["Rotate(-37.5, V.Inter.{})", "Rotate(200, V.Inter.{}, True, None, 30)",
          "Rotate(77, V.Inter.{}, False, [3, 4], 9)", "Affine(-20.0, [0.1, 0.2], 0.8, 12.0, V.Inter.{}, 50)",
          "Affine(0.0, (0.0, 0.0), 1.7, (0.0, -15.0), V.Inter.{})", "RandomRotation([15, 15], V.Inter.{}, True)",
          "RandomAffine((0, 0), (0.3, 0.3, -0.2, -0.2), None, None, V.Inter.{})",
          "RandomAffine([-40, -40], None, [0.6, 0.6], [8, 8, -6, -6], V.Inter.{}, 11)"]  # fmt: skip


def tolerance(expression: str, given: str) -> float:
    """Rounding at different places: a few units in the last place of single precision, at the size of the values."""
    exact = not any(word in given for word in ("float", "double", "16", "pil_F"))
    if any(word in expression for word in ("Rescale", "Normalize")):
        return 2e-5
    return 0 if exact else 1 if "16" in given else 5e-5 if "CUBIC" in expression else 2e-6


for op in TONES + MOVES:
    for given in ARRAYS:
        CASES[f"{op} of {given}"] = (f"V.{op}", given, tolerance(op, given))
for op in WARPED:
    for mode in WARPS:
        for given in ["colour", "grey", "rgba", "float", "row", "batch"]:
            CASES[f"{op} {mode} of {given}"] = (f"V.{op.format(mode)}", given, tolerance(op + mode, given))
for mode in ["NEAREST", "LINEAR", "CUBIC", "AREA"]:
    for given in ["grey", "grey1", "rgba", "float", "rgba_float", "row", "column", "pixel", "batch", "video", "double"]:
        near = max(tolerance(mode, given), 1 if mode == "CUBIC" else 0)
        CASES[f"resize {mode} of {given}"] = (f"V.Resize((13, 6), V.Inter.{mode})", given, near)
        CASES[f"resize up {mode} of {given}"] = (f"V.Resize([20, 31], V.Inter.{mode})", given, near)
    CASES[f"resized crop {mode}"] = (f"V.ResizedCrop(1, 2, 15, 20, [8, 30], V.Inter.{mode})", "colour", 0)
    CASES[f"random resized crop {mode}"] = (
        f"V.RandomResizedCrop((11, 13), (1.0, 1.0), (25 / 18, 25 / 18), V.Inter.{mode})", "colour",
        1 if mode == "CUBIC" else 0)  # fmt: skip
    CASES[f"boxes, random resized crop {mode}"] = (
        f"V.RandomResizedCropWithBBox((11, 13), (1.0, 1.0), (25 / 18, 25 / 18), V.Inter.{mode})", "boxed",
        1 if mode == "CUBIC" else 0)  # fmt: skip
    CASES[f"boxes, resize {mode}"] = (
        f"V.ResizeWithBBox((9, 30), V.Inter.{mode})",
        "boxed",
        1 if mode == "CUBIC" else 0,
    )
for op in ["RandomHorizontalFlipWithBBox(1.0)", "RandomVerticalFlipWithBBox(1.0)",
           "RandomHorizontalFlipWithBBox(0.0)", "RandomCropWithBBox((18, 25))",
           "RandomCropWithBBox([22, 31], [3, 2, 3, 2], False, (1, 2, 3))", "ResizeWithBBox(9)",
           "BoundingBoxAugment(V.RandomVerticalFlip(1.0), 1.0)", "BoundingBoxAugment(V.RandomInvert(1.0), 1.0)",
           "RandomCropWithBBox((20, 25), (0, 1), False, 0, V.Border.SYMMETRIC)"]:  # fmt: skip
    CASES[f"boxes, {op}"] = (f"V.{op}", "boxed", 0)
for name in ["RgbToHsv", "HsvToRgb"]:
    for given in ["unit_chw", "unit_hwc", "unit_batch"]:
        CASES[f"{name} of {given}"] = (f"V.{name}({given == 'unit_hwc'})", given, 1e-6)
CASES["subpolicy"] = ("V.RandomSelectSubpolicy([[(V.RandomInvert(1.0), 1.0), (V.Posterize(3), 1.0)]])", "colour", 0)
for op in ["AdjustBrightness(0.55)", "AdjustContrast(1.3)", "AdjustSaturation(0.35)", "AdjustHue(-0.3)",
           "AdjustSharpness(1.6)", "AdjustGamma(1.7)", "AutoContrast(7, 40)", "AutoContrast()", "Equalize()",
           "Invert()", "Posterize(4)", "Solarize((30, 140))", "GaussianBlur(3, 0.8)", "Grayscale()", "Grayscale(3)",
           "RandomGrayscale(1.0)", "RandomGrayscale(0.0)", "RandomColor((1.7, 1.7))", "RandomSharpness((1.7, 1.7))",
           "RandomInvert(1.0)", "RandomLighting(0.0)", "CenterCrop((7, 12))", "CenterCrop((31, 12))",
           "Crop((1, 2), (5, 6))", "FiveCrop((4, 7))", "TenCrop((4, 7))", "TenCrop(5, True)", "Pad((1, 2, 3, 4), 9)",
           "Pad((1, 2), (9, 8, 7))", "Pad((3, 1), 0, V.Border.EDGE)", "Pad((3, 1), 0, V.Border.REFLECT)",
           "Pad((3, 1), 0, V.Border.SYMMETRIC)", "RandomHorizontalFlip(1.0)", "RandomVerticalFlip(1.0)",
           "HorizontalFlip()", "VerticalFlip()", "RandomRotation((20, 20), V.Inter.NEAREST, True)",
           "RandomRotation((20, 20), V.Inter.CUBIC, False, (3, 4), 40)", "Rotate(33, V.Inter.LINEAR)",
           "Affine(33.0, (0.1, 0.1), 1.1, 4.0)", "Resize(9)", "Resize((7, 40), V.Inter.CUBIC)",
           f"Perspective({CORNERS}, [[2, 1], [22, 3], [20, 15], [1, 13]], V.Inter.LINEAR)",
           "RandomPerspective(0.5, 0.0)", "RandomCrop((18, 25))", "RandomCrop((20, 29), (2, 1), False, 5)",
           "RandomResizedCrop((7, 9), (1.0, 1.0), (25 / 18, 25 / 18))", "RandomErasing(0.0)", "ToTensor()",
           "ToNumpy()", "ToPIL()", "HWC2CHW()", "ConvertColor(V.ConvertMode.COLOR_RGB2BGR)",
           "ToType('float32')"]:  # fmt: skip
    for given in ["pil", *(f"pil_{mode}" for mode in PILLOW)]:
        CASES[f"{op} of {given}"] = (f"V.{op}", given, 1e-7 if "ToTensor" in op else tolerance(op, given) * 20)
for op in ["RandomErasing(0.0)", "LinearTransformation(np.eye(90) * 2, np.zeros(90))"]:
    CASES[f"{op} of unit_chw"] = (f"V.{op}", "unit_chw", 0)

# left out: MindSpore reads memory of other pixels, has no meaning for the type, or does not look at what it passes on
for op, kinds in {
    "AdjustGamma(1.7)": ["uint16", "int16"],
    "SlicePatches(1, 1)": ["batch", "video"],
    "AdjustSharpness(1.6)": ["pil_1"],
    "Posterize(4)": ["pil_1"],
    "Solarize((30, 140))": ["pil_1"],
    "GaussianBlur(3, 0.8)": ["pil_1"],
    "Rotate(33, V.Inter.LINEAR)": ["pil_1"],
    "Affine(33.0, (0.1, 0.1), 1.1, 4.0)": ["pil_1"],
    "ToType('float32')": ["pil_1"],
    "RandomErasing(0.0)": ["pil_L", "pil_P", "pil_1", "pil_F", "pil_I"],
    "ConvertColor(V.ConvertMode.COLOR_RGB2BGR)": ["pil_L", "pil_RGBA", "pil_CMYK", "pil_P", "pil_1", "pil_F"],
}.items():
    for given in kinds:
        del CASES[f"{op} of {given}"]

SETS: dict[str, tuple[str, str, int]] = {
    "random_resize": ("V.RandomResize((7, 9))", "small", 60),
    "random_crop": ("V.RandomCrop((11, 12))", "small", 200),
    "random_crop_padded": ("V.RandomCrop((12, 14), (1, 0), False, (9, 8, 7))", "small", 100),
    "random_crop_if_needed": ("V.RandomCrop((13, 14), None, True)", "small", 100),
    "random_horizontal_flip": ("V.RandomHorizontalFlip()", "small", 30),
    "random_vertical_flip": ("V.RandomVerticalFlip()", "small", 30),
    "random_posterize": ("V.RandomPosterize((2, 6))", "small", 100),
    "random_equalize": ("V.RandomEqualize()", "small", 30),
    "cut_out": ("V.CutOut(2)", "tiny", 800),
    "cut_out_chw": ("V.CutOut(1, 2, False)", "tiny_chw", 4000),
    "uniform_augment": (
        "V.UniformAugment([V.RandomInvert(1.0), V.VerticalFlip(), V.HorizontalFlip()], 2)", "small", 300),
    "subpolicy": (
        "V.RandomSelectSubpolicy([[(V.RandomInvert(1.0), 0.5)], [(V.Posterize(3), 0.5), (V.Equalize(), 0.5)]])",
        "small", 200),
    "rand_augment": ("V.RandAugment(1, 7)", "small", 800),
    "rand_augment_all": ("V.RandAugment(1, 30, 31, V.Inter.LINEAR, 60)", "small", 800),
    "trivial_augment": ("V.TrivialAugmentWide(2)", "small", 1500),
    "auto_augment": ("V.AutoAugment()", "small", 20000),
    "auto_augment_cifar": ("V.AutoAugment(V.AutoAugmentPolicy.CIFAR10)", "small", 20000),
    "auto_augment_svhn": ("V.AutoAugment(V.AutoAugmentPolicy.SVHN)", "small", 20000),
}  # fmt: skip
