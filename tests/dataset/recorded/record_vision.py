"""Record what MindSpore 2.10 answers for every vision case: `python record_vision.py` in an environment that has it.

Writes vision.npz next to this file. A case that MindSpore refuses is printed and left out.
"""

import pathlib

import numpy as np
from vision_cases import CASES, inputs


def main() -> None:
    import mindspore.dataset.vision as V

    arrays = inputs()
    recorded = {}
    for name, (expression, given, _) in CASES.items():
        try:
            x = V.ToPIL()(arrays[given]) if given == "pil" else arrays[given]
            out = eval(expression, {"V": V, "np": np})(x)
        except Exception as error:
            print(f"{name}: {expression}: {str(error)[:200]}")
            continue
        for i, part in enumerate(out if isinstance(out, tuple) else (out,)):
            recorded[f"{name}.{i}"] = np.asarray(part)
    np.savez_compressed(pathlib.Path(__file__).with_name("vision.npz"), **recorded)


if __name__ == "__main__":
    main()
