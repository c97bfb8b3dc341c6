"""What is called as in MindSpore stays so: each difference is known and written down."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compat_signatures", HERE / "signatures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["compat_signatures"] = module
    spec.loader.exec_module(module)
    return module


signatures = _load()


def test_every_difference_is_written_down_and_none_is_old() -> None:
    known = (HERE / "recorded" / "deviations.tsv").read_text().splitlines()
    found = signatures.deviations()
    assert sorted(set(found) - set(known)) == [], "python tests/compat/signatures.py writes them down; are they meant?"
    assert sorted(set(known) - set(found)) == [], "python tests/compat/signatures.py writes them anew: these are mended"


def test_positions_do_not_shift() -> None:
    """What both have stands in the same order."""
    assert [row for row in signatures.deviations() if "order:" in row] == []
