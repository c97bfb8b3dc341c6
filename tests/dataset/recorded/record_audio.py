"""Record what MindSpore 2.10 answers for every audio case: `python record_audio.py` in an environment that has it.

Writes audio.npz next to this file. A case that MindSpore refuses is printed and left out.
"""

import pathlib

import numpy as np
from audio_cases import CASES, inputs


def main() -> None:
    import mindspore.dataset.audio as A

    arrays = inputs()
    recorded = {}
    for name, (expression, given, _) in CASES.items():
        try:
            x = arrays[given]
            out = eval(expression, {"A": A, "np": np})(x)
        except Exception as error:
            print(f"{name}: {expression}: {str(error)[:200]}")
            continue
        for i, part in enumerate(out if isinstance(out, tuple) else (out,)):
            recorded[f"{name}.{i}"] = np.asarray(part)
    np.savez_compressed(pathlib.Path(__file__).with_name("audio.npz"), **recorded)


if __name__ == "__main__":
    main()
