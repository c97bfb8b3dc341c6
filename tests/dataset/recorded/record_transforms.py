"""Record what MindSpore 2.10 answers for every case of transforms_cases.py: writes transforms.json.

For each case a list of [dtype, value], or null where MindSpore refuses.
"""

import json
import pathlib

import numpy as np
from transforms_cases import CASES


def main() -> None:
    import mindspore as ms
    import mindspore.dataset.transforms as X

    recorded = []
    for expression, inputs in CASES:
        scope = {"X": X, "np": np, "ms": ms}
        try:
            out = eval(expression, scope)(*(eval(i, scope) for i in inputs))
        except Exception as error:
            print(f"{expression} {inputs}: {str(error)[:200]!r}")
            recorded.append(None)
            continue
        parts = [np.asarray(part) for part in (out if isinstance(out, tuple) else (out,))]
        texts = [np.char.decode(p, "utf8") if p.dtype.kind == "S" else p for p in parts]
        recorded.append([[p.dtype.kind if p.dtype.kind in "US" else p.dtype.name, t.tolist()]
                         for p, t in zip(parts, texts, strict=True)])  # fmt: skip
    where = pathlib.Path(__file__).with_name("transforms.json")
    where.write_text(json.dumps(recorded, ensure_ascii=False, separators=(",", ":")), encoding="utf8")


if __name__ == "__main__":
    main()
