"""Ask MindSpore what its metrics say: `python record_metrics.py` in its environment writes metrics.npz."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    """Write metrics.npz."""
    import mindspore as ms  # of another environment
    from metric_cases import CASES

    arrays = {f"{name}.{i:03}": a for name, program in CASES.items() for i, a in enumerate(program(ms))}
    np.savez_compressed(HERE / "metrics.npz", **arrays)
    print(f"MindSpore {ms.__version__}: {len(arrays)} arrays")


if __name__ == "__main__":
    main()
