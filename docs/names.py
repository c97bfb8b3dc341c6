"""Records the names of MindSpore in the package, so that a missing name can be told from a wrong one.

    python docs/names.py FOLDER

FOLDER holds the lists that `docs/coverage.py` describes. Each line of `mycelia/names/mindspore.txt` is a module or a
class, and the names in it; what also is in the module it lies in, or the class it derives from, is left out.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

RECORD = Path(__file__).parents[1] / "mycelia" / "names" / "mindspore.txt"
AGAIN = ("mindspore.common", "mindspore.context")  # what these hold is found at the top too
DERIVED = {"mindspore.Parameter": "mindspore.Tensor", "mindspore.nn.Optimizer": "mindspore.nn.Cell"}


def collect(folder: Path) -> dict[str, set[str]]:
    """The names in each module and class."""
    found: dict[str, set[str]] = {"mindspore": set()}
    for file, prefix in (("api_names.tsv", ""), ("class_members.tsv", "mindspore.")):
        place = ""
        for line in (folder / file).read_text().splitlines():
            if line.startswith("# "):
                place = prefix + line[2:].split(" (")[0]
                found.setdefault(place, set())
            elif line and not line.startswith("_"):
                found[place].add(line.split("\t")[0])
    for line in (folder / "names_by_use.tsv").read_text().splitlines():
        place, _, name = line.split("\t")[1].rpartition(".")
        if place in found and not name.startswith("_"):
            found[place].add(name)
    for place in found.keys() - {"mindspore"}:
        above, _, name = place.rpartition(".")
        found[above].add(name)
    found["mindspore"].update(*(found[place] for place in AGAIN))
    for place in sorted(found, key=len, reverse=True):
        above = DERIVED.get(place) or place.rpartition(".")[0]
        if place in DERIVED or (above.count(".") and not place.rpartition(".")[2][0].isupper()):
            found[place] -= found[above]
    return found


def main() -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description="record the names of MindSpore in the package")
    parser.add_argument("folder", type=Path, help="the folder with the lists of names")
    found = collect(parser.parse_args().folder)
    lines = []
    for place in sorted(found):
        if found[place]:
            text = f"{place}: {' '.join(sorted(found[place]))}"
            lines += textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    RECORD.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
