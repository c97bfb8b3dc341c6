"""What is computed in a slow way is said by `explain`."""

from dataclasses import replace

import mycelia as ms
from mycelia.api import native
from mycelia.api.options import options
from mycelia.ops import matmul


def test_explain_names_products_that_plain_loops_compute(monkeypatch):
    monkeypatch.setattr(native, "options", lambda: replace(options(), without=frozenset({"shape_products"})))
    x = ms.ops.ones((128, 128), ms.float16)
    run = ms.jit(lambda x: matmul(x, x))
    assert "plain loops" not in run.explain()
    run(x)
    assert "plain loops compute f16[128, 128], a product of f16[128, 128] and f16[128, 128]" in run.explain()
    assert "at test_notes.py" in run.explain()
