"""Ask MindSpore how it trains: `python record_training.py` in its environment writes training.json."""

import json
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Write training.json."""
    import mindspore as ms  # of another environment
    import mindspore.dataset
    from training_cases import CASES

    ms.set_context(mode=ms.PYNATIVE_MODE)
    told = {}
    for name, program in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            told[name] = program(ms, folder)
    (HERE / "training.json").write_text(json.dumps(told, indent=0) + "\n")
    print(f"MindSpore {ms.__version__}: {len(told)} trainings")


if __name__ == "__main__":
    main()
