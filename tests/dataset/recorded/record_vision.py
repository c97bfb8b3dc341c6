"""Record what MindSpore 2.10 answers for every vision case: `python record_vision.py` in an environment that has it.

Writes vision.npz next to this file. A case that MindSpore refuses is printed and left out. Encoded files are made by
Pillow and recorded with what MindSpore decoded from them.
"""

import io
import pathlib

import numpy as np
from vision_cases import CASES, SETS, image, inputs, opened


def files() -> dict[str, np.ndarray]:
    """An image in several encodings, as bytes."""
    from PIL import Image

    colour = Image.fromarray(image(40, 51))
    kinds = {
        "jpeg": (colour, "JPEG", {"quality": 90}),
        "jpeg_420": (colour, "JPEG", {"quality": 60, "subsampling": 2}),
        "jpeg_444": (colour, "JPEG", {"quality": 80, "subsampling": 0}),
        "jpeg_progressive": (colour, "JPEG", {"progressive": True}),
        "jpeg_grey": (colour.convert("L"), "JPEG", {}),
        "png": (colour, "PNG", {}),
        "png_grey": (colour.convert("L"), "PNG", {}),
        "png_alpha": (Image.fromarray(image(9, 11, 4)), "PNG", {}),
        "png_palette": (colour.convert("P"), "PNG", {}),
        "bmp": (colour, "BMP", {}),
        "tiff": (colour, "TIFF", {}),
    }
    encoded = {}
    for name, (picture, kind, options) in kinds.items():
        out = io.BytesIO()
        picture.save(out, kind, **options)
        encoded[name] = np.frombuffer(out.getvalue(), np.uint8)
    return encoded


def main() -> None:
    import mindspore.dataset.vision as V

    given, recorded = inputs(), {}
    for name, (expression, key, _) in CASES.items():
        try:
            out = eval(expression, {"V": V, "np": np})(*opened(given, key))
        except Exception as error:
            print(f"{name}: {str(error)[:100]!r}")
            continue
        for i, part in enumerate(out if isinstance(out, tuple) else (out,)):
            recorded[f"{name}.{i}"] = np.asarray(part)
    for name, (expression, key, calls) in SETS.items():
        transform = eval(expression, {"V": V, "np": np})
        answers = {x.tobytes(): x for x in (transform(*opened(given, key)) for _ in range(calls))}
        recorded[f"set {name}"] = np.stack([answers[k] for k in sorted(answers)])
        print(f"{name}: {len(answers)} answers")
    for name, data in files().items():
        recorded[f"file {name}"] = data
        for decoded, transform in {"array": V.Decode(), "pillow": V.Decode(True)}.items():
            recorded[f"decoded {name} {decoded}"] = np.asarray(transform(data))
    members = {kind: getattr(V, kind) for kind in ("Inter", "Border", "ImageBatchFormat", "SliceMode", "ConvertMode",
                                                   "ImageReadMode", "AutoAugmentPolicy")}  # fmt: skip
    for kind, enumeration in members.items():
        recorded[f"members {kind}"] = np.array([f"{k}={v.value}" for k, v in enumeration.__members__.items()])
    np.savez_compressed(pathlib.Path(__file__).with_name("vision.npz"), **recorded)


if __name__ == "__main__":
    main()
