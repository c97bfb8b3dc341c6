"""Generated programs find faults: mistakes are sown into the capture one by one, and nearly all are seen."""

from __future__ import annotations

import pytest

from tests.promises.generator.faults import FAULTS, Fault
from tests.promises.generator.pool import Judge
from tests.promises.generator.writer import Writer

FIRST, MOST = 2_000_000, 250  # programs until a fault counts as not found
SEEDS = sorted(range(FIRST, FIRST + MOST), key=lambda seed: seed % 5 >= 2)  # pairs first, which are small


def found_after(fault: Fault) -> int | None:
    """How many programs it takes to see a fault; None if they do not."""
    with Judge(fault.name, limit=10.0) as judge:
        for count, seed in enumerate(SEEDS, 1):
            writer = Writer(seed, pure=seed % 25 == 24)
            if judge(writer.program(), writer.native).bad:
                return count
    return None


@pytest.mark.slow
def test_generated_programs_find_nine_faults_of_ten() -> None:
    missed = [f.name for f in FAULTS if found_after(f) is None]
    assert len(missed) <= len(FAULTS) // 10, missed


def test_faults_are_known_by_name_and_can_be_sown() -> None:
    names = [f.name for f in FAULTS]
    assert len(set(names)) == len(names) >= 50
    assert not [f.name for f in FAULTS if f.edits() is None], "stale"
