"""Record what MindSpore 2.10 answers for every text case: `python record_text.py` in an environment that has it.

Writes text.json next to this file: for each case a list of [dtype, value], or null where MindSpore refuses.
"""

import json
import pathlib
import tempfile

import numpy as np
from text_cases import CASES, FILES, VOCAB


def main() -> None:
    import mindspore as ms
    import mindspore.dataset as D
    import mindspore.dataset.text as T

    folder = pathlib.Path(tempfile.mkdtemp())
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf8")
    scope = {"T": T, "D": D, "np": np, "ms": ms, "vocab": T.Vocab.from_list(VOCAB)}
    scope["path"] = lambda name: str(folder / name)
    recorded = []
    for expression, inputs in CASES:
        try:
            out = eval(expression, scope)(*map(np.array, inputs))
        except Exception as error:
            print(f"{expression} {inputs}: {str(error)[:300]!r}")
            recorded.append(None)
            continue
        parts = [np.asarray(part) for part in (out if isinstance(out, tuple) else (out,))]
        if parts[0].dtype.kind == "S":
            parts[0] = np.char.decode(parts[0], "latin1")
        recorded.append([[p.dtype.kind + ("" if p.dtype.kind in "US" else str(p.itemsize)), p.tolist()] for p in parts])
    where = pathlib.Path(__file__).with_name("text.json")
    where.write_text(json.dumps(recorded, ensure_ascii=False, separators=(",", ":")), encoding="utf8")


if __name__ == "__main__":
    main()
