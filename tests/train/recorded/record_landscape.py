"""Ask MindSpore for a landscape: `python record_landscape.py` in its environment writes landscape.npz."""

import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    """Write landscape.npz."""
    import landscape_cases as cases
    import mindspore as ms  # of another environment
    import mindspore.dataset

    def numbers(tensor: object) -> np.ndarray:
        return np.array(tensor.float_data).reshape(tuple(tensor.dims))

    with tempfile.TemporaryDirectory() as folder:
        cases.keep(ms, Path(folder))
        drawn = ms.train.SummaryLandscape(folder)
        ((_, told),) = drawn._list_landscapes(callback_fn=lambda: cases.made(ms), device_ids=[0])
    found = {axis: numbers(getattr(told.landscape, axis)) for axis in "xyz"}
    found |= {f"path.{axis}": numbers(getattr(told.loss_path.points, axis)) for axis in "xyz"}
    np.savez_compressed(HERE / "landscape.npz", **found)
    print("MindSpore", ms.__version__, {name: a.shape for name, a in found.items()})


if __name__ == "__main__":
    main()
