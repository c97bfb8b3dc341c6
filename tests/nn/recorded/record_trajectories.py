"""Run the optimizers with MindSpore and keep where they went: `python record_trajectories.py` in its environment."""

import sys
from pathlib import Path

from cells import save
from trajectories import OPTIMIZERS, run

HERE = Path(__file__).parent


def main() -> None:
    """Write trajectories.npz."""
    import mindspore as ms  # of another environment

    answers = {}
    for name in OPTIMIZERS:
        try:
            answers[name] = run(ms, name)
        except Exception as error:  # which the person who records must see
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    save(HERE / "trajectories.npz", answers)
    print(f"MindSpore {ms.__version__}: {len(answers)} trajectories")


if __name__ == "__main__":
    main()
