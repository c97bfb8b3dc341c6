"""docs/coverage.md tells which of MindSpore's names exist, and every name of the data engine does."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_coverage", DOCS / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_coverage"] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module


coverage = _load()
NAMES = coverage.load()


def test_the_page_is_up_to_date() -> None:
    written = (DOCS / "coverage.md").read_text()
    assert written == coverage.page(NAMES), "python docs/coverage.py writes it anew"


@pytest.mark.parametrize("package", coverage.COMPLETE)
def test_every_name_of_the_data_engine_that_is_used_exists(package: str) -> None:
    used = [n for n in NAMES if n.package == package and n.uses]
    assert [n.full for n in used if not n.exists()] == []


def test_every_public_name_of_the_data_engine_exists_or_is_left_out_with_a_reason() -> None:
    public = [n for n in NAMES if n.package in coverage.COMPLETE and n.elsewhere is None]
    assert [n.full for n in public if not n.exists()] == []


def test_what_is_left_out_does_not_exist() -> None:
    assert [n.full for n in NAMES if n.elsewhere is not None and n.exists()] == []


def test_modules_under_old_paths_can_be_imported() -> None:
    lines = (
        "import mycelia.dataset.vision.transforms as C",
        "import mycelia.dataset.transforms.transforms as C2",
        "import mycelia.dataset.vision.py_transforms_util",
        "import mycelia.dataset.engine.datasets_vision",
        "import mycelia.dataset.core.validator_helpers",
        "from mycelia.dataset.vision.utils import Inter, Border",
        "from mycelia.dataset.engine import config, GeneratorDataset, OBSMindDataset",
        "from mycelia.dataset.transforms.validators import check_random_transform_ops",
        "import mycelia.dataset.text.transforms, mycelia.dataset.text.utils, mycelia.dataset.audio.transforms",
        "import mycelia.dataset.audio.utils, mycelia.dataset.debug, mycelia.dataset.utils",
    )
    program = [sys.executable, "-W", "error", "-c", "\n".join(lines)]
    ran = subprocess.run(program, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_names_are_counted_once_and_in_order_of_use() -> None:
    assert len({n.full for n in NAMES}) == len(NAMES)
    for package in coverage.PACKAGES:
        uses = [n.uses for n in NAMES if n.package == package]
        assert uses
        assert uses == sorted(uses, reverse=True)


def test_names_are_taken_from_lists(tmp_path: Path) -> None:
    (tmp_path / "names_by_use.tsv").write_text("1\tmindspore.nn.Cell\t9\n2\tmindspore.dataset.vision.Inter.AREA\t2\n")
    (tmp_path / "api_names.tsv").write_text(
        "# mindspore.mindrecord (1)\nFAILED\tconst\t\n# mindspore.nn (1)\nReLU\tclass\t()\n"
    )
    (tmp_path / "class_members.tsv").write_text("# Tensor\nT\tproperty\t\n# dataset.Dataset\nmap\tmethod\t(self)\n")
    (tmp_path / "tensor_methods_by_use.tsv").write_text("# attributes\nT\t7\n")
    found = [(n.full, n.uses) for n in coverage.collect(tmp_path)]
    assert sorted(found) == [
        ("mindspore.Tensor.T", 7),
        ("mindspore.dataset.Dataset.map", 0),
        ("mindspore.dataset.vision.Inter.AREA", 2),
        ("mindspore.mindrecord.FAILED", 0),
        ("mindspore.nn.Cell", 9),
        ("mindspore.nn.ReLU", 0),
    ]
