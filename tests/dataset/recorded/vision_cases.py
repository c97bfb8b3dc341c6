"""The vision cases: sentences in the common names, read once by MindSpore (to record) and again by Mycelia.

A case is `name: (expression, input, tolerance)`. The expression builds the transform from `V` (the vision module);
the tolerance is the largest absolute difference of any element, in the unit of the output (levels for uint8).
"""

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


def inputs() -> dict[str, np.ndarray]:
    """The arrays that the cases name."""
    colour = image(18, 25)
    rng = np.random.Generator(np.random.PCG64(7))
    return {
        "colour": colour,
        "grey": image(18, 25, 1)[..., 0],
        "float": colour.astype(np.float32) / 255,
        "chw": np.ascontiguousarray(colour.transpose(2, 0, 1)),
        "rgba": image(9, 11, 4),
        "unit_chw": rng.random((3, 6, 5)).astype(np.float32),
        "batch": np.stack([image(8, 9), image(8, 9)[::-1], image(8, 9)[:, ::-1]]),
        "pil": colour,
    }


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
