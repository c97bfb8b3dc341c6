"""Run the programs with MindSpore and keep what they gave: `python record_mindspore.py` in its environment."""

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    """Write mindspore.npz and mindspore_names.json."""
    import mindspore as ms  # of another environment
    from mindspore_cases import CASES

    arrays, words = {}, {}
    for name, program in CASES.items():
        got = program(ms)
        if isinstance(got[0], str):
            words[name] = got
        else:
            arrays |= {f"{name}.{i:02}": np.asarray(a, np.float32) for i, a in enumerate(got)}
    np.savez_compressed(HERE / "mindspore.npz", **arrays)
    (HERE / "mindspore_names.json").write_text(json.dumps(words, indent=1) + "\n")
    print(f"MindSpore {ms.__version__}: {len(arrays)} arrays, {sum(map(len, words.values()))} names")


if __name__ == "__main__":
    main()
