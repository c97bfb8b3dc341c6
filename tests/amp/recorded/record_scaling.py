"""Ask MindSpore about loss scales and levels: `python record_scaling.py` in its environment writes scaling.json."""

import json
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Write scaling.json."""
    import mindspore as ms  # of another environment
    import mindspore.amp
    from scaling_cases import CASES

    told = {name: program(ms) for name, program in CASES.items()}
    (HERE / "scaling.json").write_text(json.dumps(told, indent=0) + "\n")
    print(f"MindSpore {ms.__version__}: {len(told)} programs")


if __name__ == "__main__":
    main()
