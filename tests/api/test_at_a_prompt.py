"""What functions tell of themselves can be read at a prompt, also of a large network."""

import pytest

import mycelia as ms
from mycelia import nn, ops


def deep(layers):
    """A training step that takes and changes some hundred tensors."""
    net = nn.SequentialCell([nn.Dense(4, 4) for _ in range(layers)])
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, grads = grad_fn(x)
        optimizer(grads)
        return loss

    step(ops.ones((2, 4)))
    return step


def test_what_explains_a_large_step_fits_a_screen():
    step = deep(20)
    lines = step.explain().splitlines()
    assert max(map(len, lines)) < 400
    assert len(lines) == 4
    assert lines[1].startswith("  one native call: (f32[2, 4], f32[4, 4], f32[4], ")
    assert " more) -> (f32[], " in lines[1]
    assert lines[3].startswith("    changes: global_step, moment1.0.weight, ")
    assert lines[3].endswith(" more")
    assert step.show("program").count("f32[4]") > 100  # all of it, for who wants it


def test_a_small_signature_is_told_whole():
    layer = ms.jit(nn.Dense(3, 2))
    layer(ops.ones((1, 3)))
    assert "one native call: (f32[1, 3], f32[2, 3], f32[2]) -> (f32[1, 2])" in layer.explain()


def test_texts_and_tables_show_themselves():
    step = deep(20)
    told = [step.explain(), step.show("graph"), step.show("source"), ms.report()]
    told += [step.profile(ops.ones((2, 4))), nn.summary(nn.Dense(3, 2), (1, 3))]
    assert all(repr(thing) == str(thing) for thing in told)
    assert "\n" in repr(told[0])


def test_a_profile_shows_the_slowest_steps_and_what_the_others_took_together():
    seen = deep(40).profile(ops.ones((2, 4)))
    lines = str(seen).splitlines()
    rows = lines[lines.index(next(x for x in lines if x.endswith("step"))) + 1 : lines.index("", 4)]
    assert len(seen.steps) > 31
    assert len(rows) == 31
    assert f"{len([s for s in seen.steps[30:] if s.outermost])} more" in rows[-1]


def test_a_report_tells_an_error_in_one_line():
    @ms.jit
    def wrong(x):
        return x @ ops.ones((5, 5))

    @ms.jit
    def picky(x):
        raise ValueError("no such x\nand more")

    for f in (wrong, picky):
        with pytest.raises(ValueError, match=r"inner axes differ|and more"):
            f(ops.ones((2, 3)))
    assert "runs in Python: it raises ShapeError: matmul of shapes (2, 3) and (5, 5)" in wrong.explain()
    assert "runs in Python: it raises ValueError: no such x\n" in picky.explain() + "\n"
    assert "\\n" not in wrong.explain()
