"""What is said about typical mistakes: eagerly and under jit the same, with the line, the values, and what to try.

`golden/` holds the texts, one file for each group; `pytest tests/errors --update-golden` writes them anew.
"""

from importlib import import_module
from pathlib import Path

import pytest

from mycelia.errors import MyceliaError
from tests.errors.collect import GROUPS, Mistake, told

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("mistakes/*.py"))
for name in NAMES:
    import_module(f"tests.errors.mistakes.{name}")
ALL = [pytest.param(m, id=f"{g}-{n}") for g, found in sorted(GROUPS.items()) for n, m in found.items()]

# what Python says itself about a line of the user, where nothing of ours is asked
PYTHONS = {
    "a_tensor_that_is_called",
    "a_variable_that_only_one_branch_sets",
}


@pytest.mark.parametrize("group", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_what_is_said(group: str, request: pytest.FixtureRequest) -> None:
    said = "\n\n".join(f"# {m.name}\n{told(m.eagerly())}" for m in GROUPS[group].values()) + "\n"
    path = HERE / "golden" / f"{group}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(said)
    assert said == path.read_text(), "if this is better, run pytest tests/errors --update-golden"


@pytest.mark.many("mistake", ALL, pack=100)
def test_a_mistake_is_explained_where_it_was_made(mistake: Mistake) -> None:
    error = mistake.eagerly()
    if mistake.function.__name__ in PYTHONS:
        assert not isinstance(error, MyceliaError)
        return
    assert isinstance(error, MyceliaError)
    assert error.where is not None
    assert Path(error.where.file).parent.name == "mistakes"
    text = str(error)
    assert "^^" in text, "the place is underlined"
    assert text.splitlines()[-1].startswith("hint: "), "there is something to try"


@pytest.mark.many("mistake", [p for p in ALL if p.values[0].jit], pack=25)
@pytest.mark.filterwarnings("ignore")
def test_jit_says_what_python_says(mistake: Mistake) -> None:
    assert told(mistake.compiled()) == told(mistake.eagerly())


def test_there_are_many() -> None:
    assert len(ALL) >= 200
    assert len([p for p in ALL if p.values[0].jit]) >= 150
    assert {path.stem for path in HERE.glob("golden/*.txt")} == set(NAMES)
