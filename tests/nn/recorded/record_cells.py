"""Run the cells with their oracle and keep what it gave: `python record_cells.py` in MindSpore's or PyTorch's
environment. Cells that PyTorch has are asked of PyTorch, the others of MindSpore.
"""

import importlib
import sys
from pathlib import Path

from cells import CASES, run, run_torch, save

HERE = Path(__file__).parent
FAMILIES = sorted(p.stem for p in HERE.glob("cells_*.py"))


def main() -> None:
    """Write cells_mindspore.npz or cells_torch.npz."""
    for family in FAMILIES:
        importlib.import_module(family)
    try:
        import torch as oracle  # of another environment
    except ImportError:
        import mindspore as oracle
    own = oracle.__name__ == "torch"
    answers = {}
    for name, case in CASES.items():
        if (case.torch is not None) is not own:
            continue
        try:
            answers[name] = run_torch(oracle, case) if own else run(oracle, case)
        except Exception as error:  # which the person who records must see
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    save(HERE / f"cells_{oracle.__name__}.npz", answers)
    print(f"{oracle.__name__} {oracle.__version__}: {len(answers)} cells")


if __name__ == "__main__":
    main()
