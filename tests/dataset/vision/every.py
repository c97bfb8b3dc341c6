"""One good call of every image transform, for laws that hold for all of them."""

import enum
import inspect

import numpy as np

import mycelia.dataset.vision as V

IMAGE = np.random.default_rng(0).integers(0, 256, (12, 14, 3)).astype(np.uint8)
POINTS = [[0, 0], [13, 0], [13, 11], [0, 11]]
ARGUMENTS = {
    "AdjustBrightness": (1.2,), "AdjustContrast": (1.2,), "AdjustGamma": (1.2,), "AdjustHue": (0.1,),
    "AdjustSaturation": (1.2,), "AdjustSharpness": (1.2,), "Affine": (10.0, (0.1, 0.1), 1.1, 5.0), "CenterCrop": (5,),
    "ConvertColor": (V.ConvertMode.COLOR_RGB2BGR,), "Crop": ((1, 1), 5), "CutMixBatch": (V.ImageBatchFormat.NHWC,),
    "CutOut": (3,), "Erase": (1, 1, 2, 2), "FiveCrop": (4,), "GaussianBlur": (3,),
    "LinearTransformation": (np.eye(504), np.zeros(504)), "MixUp": (3, 0.5),
    "Normalize": ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "NormalizePad": ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "Pad": (2,),
    "PadToSize": (20,), "Perspective": (POINTS, [[1, 1], [12, 0], [13, 9], [0, 11]]), "Posterize": (3,),
    "RandomAdjustSharpness": (2.0,), "RandomAffine": (10,), "RandomCrop": (5,), "RandomCropDecodeResize": (5,),
    "RandomCropWithBBox": (5,), "RandomResize": (5,), "RandomResizedCrop": (5,), "RandomResizedCropWithBBox": (5,),
    "RandomResizeWithBBox": (5,), "RandomRotation": (10,), "RandomSelectSubpolicy": ([[(V.Invert(), 0.5)]],),
    "Rescale": (1.0, 0.0), "Resize": (5,), "ResizeWithBBox": (5,), "ResizedCrop": (1, 1, 3, 3, 5), "Rotate": (10,),
    "Solarize": (10,), "TenCrop": (4,), "ToType": (np.float32,), "UniformAugment": ([V.Invert(), V.Equalize()],),
    "BoundingBoxAugment": (V.Invert(),),
}  # fmt: skip
CLASSES = {
    name: getattr(V, name)
    for name in V.__all__
    if inspect.isclass(getattr(V, name)) and not issubclass(getattr(V, name), enum.Enum) and name != "VideoDecoder"
}
DECODERS = ("Decode", "DecodeVideo", "RandomCropDecodeResize")
TRANSFORMS = {name: kind(*ARGUMENTS.get(name, ())) for name, kind in CLASSES.items() if name not in DECODERS}


def columns(name: str) -> tuple[np.ndarray, ...]:
    """Columns that the transform takes."""
    if "BBox" in name or name == "BoundingBoxAugment":
        return IMAGE.copy(), np.array([[1, 1, 4, 4]], np.float32)
    if "Mix" in name:
        return np.stack([IMAGE] * 3), np.eye(3, dtype=np.float32)
    if name == "RandomErasing" or "Hsv" in name:
        return (np.ascontiguousarray(IMAGE.transpose(2, 0, 1)),)
    return (IMAGE.copy(),)
