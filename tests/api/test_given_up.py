"""What reads things that change with each call is left to Python, and is seldom looked at again."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor
from mycelia.api import ways
from mycelia.api.ways import MANY, REST, Pause
from mycelia.errors import CaptureError


def words(x: Tensor, text: str) -> Tensor:
    """Of another text another program."""
    return x + len(text) if text.startswith("1") else x - len(text)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each time that a program is compared with a call that it does not fit."""
    seen: list[int] = []
    real = ways.changed

    def counted(program: Any, root: Any) -> Any:
        seen.append(1)
        return real(program, root)

    monkeypatch.setattr(ways, "changed", counted)
    return seen


def test_other_texts_are_soon_left_to_python(looks: list[int]) -> None:
    fast, x = ms.jit(words), Tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(4 * MANY):  # for the function, and then for its only statement
            assert np.array_equal(fast(x, str(i)).asnumpy(), words(x, str(i)).asnumpy())
        known = len(looks)
        for i in range(4000, 6000):
            assert np.array_equal(fast(x, str(i)).asnumpy(), words(x, str(i)).asnumpy())
    # of 2,000 calls eleven are looked at, after 1, 3, 7, ... 1,023 others; and of the statement as many
    assert len(looks) - known <= 11 * 2 * (MANY + 1)
    assert "given up" in fast.explain()


def test_what_comes_again_is_found_again() -> None:
    fast, x = ms.jit(words), Tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(500):
            fast(x, str(i))
        (kinds,) = fast._interpreted.ways.values()
        assert kinds.pause is not None
        assert kinds.pause.calls > 100
        for _ in range(REST + 2):
            fast(x, "0")
    assert kinds.pause.calls == 0
    assert kinds.pause.left < 0  # all calls are looked at now, and each fits


def test_a_pause_grows_to_its_longest() -> None:
    pause, runs = Pause(), []
    for _ in range(13):
        pause.longer()
        waited = 0
        while not pause.ends():
            waited += 1
        runs.append(waited)
    assert runs == [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, REST, REST, REST]


def test_what_may_not_be_left_to_python_says_why_it_is_not_compiled() -> None:
    fast, x = ms.jit(words, fallback=False), Tensor([1.0, 2.0])
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(4 * MANY):
            try:
                assert fast(x, str(i)).tolist() == words(x, str(i)).tolist()
            except CaptureError as error:
                told.append(str(error))
    assert len(told) >= MANY
    assert all("it reads things that change with each call" in text for text in told)
