"""What is computed in a slow way is said by `explain`."""

import sys
from dataclasses import replace

import mycelia as ms
from mycelia.ops import matmul


def test_explain_names_products_that_plain_loops_compute(monkeypatch):
    options = sys.modules["mycelia.api.options"]
    poor = replace(options._host(), short_units=frozenset())  # a processor without units for short types
    monkeypatch.setattr(options, "_host", lambda: poor)
    x = ms.ops.ones((128, 128), ms.float16)
    run = ms.jit(lambda x: matmul(x, x), passes_off=("shape_products",))
    assert "plain loops" not in run.explain()
    run(x)
    assert "plain loops compute f16[128, 128], a product of f16[128, 128] and f16[128, 128]" in run.explain()
    assert "at test_notes.py" in run.explain()
