"""Pictures of functions: nothing overlaps, lines go down and through no box, and all that is said stands there."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import mycelia as ms
from mycelia import primitives as p
from mycelia.errors import ArgumentError
from mycelia.ir import Function
from mycelia.ir.drawing import draw
from mycelia.ir.layered import place
from mycelia.primitives import Callee
from mycelia.testing import all_samples, function_of
from mycelia.testing.samples import names_of
from mycelia.types import TensorType, bool_, float32
from tests.each import each
from tests.fuzz.programs import pulled_back, random_case

V = TensorType(float32, (3,))


def texts(svg):
    root = ElementTree.fromstring(svg)
    return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]


def count(svg, name, style):
    return len(re.findall(rf'<{name} class="[^"]*\b{style}\b', svg))


@pytest.mark.parametrize("seed", range(30))
def test_boxes_do_not_touch_and_lines_pass_no_box(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    ranks = sorted(int(r) for r in rng.integers(0, 8, n))
    lines = [(a, b) for a in range(n) for b in range(n) if ranks[a] < ranks[b] and rng.random() < 0.1]
    sizes = [(float(rng.integers(10, 200)), float(rng.integers(10, 90))) for _ in range(n)]
    placed = place(sizes, ranks, lines)
    boxes = [(*corner, corner[0] + w, corner[1] + h) for corner, (w, h) in zip(placed.corners, sizes, strict=True)]
    for i, a in enumerate(boxes):
        assert a[0] >= -1e-6
        assert a[2] <= placed.width + 1e-6
        assert a[3] <= placed.height + 1e-6
        for b in boxes[:i]:
            assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    for (a, b), passes in zip(lines, placed.passes, strict=True):
        assert len(passes) == ranks[b] - ranks[a] - 1
        for across, top, bottom in passes:
            assert not any(x0 <= across <= x1 and y0 < bottom and top < y1 for x0, y0, x1, y1 in boxes)
        assert boxes[a][3] < boxes[b][1]


def test_what_reads_one_value_stands_straight_below_it():
    placed = place([(40, 10), (60, 10), (20, 10)], [0, 1, 2], [(0, 1), (1, 2)])
    centres = [x + w / 2 for (x, _), w in zip(placed.corners, (40, 60, 20), strict=True)]
    assert max(centres) - min(centres) < 1e-6


def test_a_graph_shows_its_values_and_their_types():
    svg = draw(Function.build(lambda x, y: p.reduce_sum(p.tanh(x * y + 1.5)), V, V))
    found = texts(svg)
    for text in ("%0", "%1", "multiply", "add 1.5", "tanh", "sum", "return 0", "f32[3]", "dims=(0,)"):
        assert text in found
    assert count(svg, "path", "line") == 6  # two into the product, then a chain down to the result
    assert count(svg, "path", "order") == 0


def test_effects_are_marked_and_their_order_is_drawn():
    say = Callee(print, "say")

    def fn(x):
        for _ in range(3):
            p.HostCall(say, ())(x)
        return x

    svg = draw(Function.build(fn, V))
    assert count(svg, "rect", "effect") == 3
    assert count(svg, "path", "order") == 2
    assert [t for t in texts(svg) if "host_call" in t] == ["host_call !1", "host_call !2", "host_call !3"]


def test_functions_inside_ops_are_boxes_inside_boxes():
    then, otherwise = (Function.build(f, V) for f in (p.sin, lambda x: p.cos(p.cos(x))))
    svg = draw(Function.build(lambda c, x: p.Cond(then, otherwise)(c, x)[0], TensorType(bool_, ()), V))
    assert count(svg, "rect", "inside") == 2
    found = texts(svg)
    assert {"cond", "then", "otherwise", "sin"} <= set(found)
    assert found.count("cos") == 2


def test_a_parameter_that_is_read_far_below_stands_there_again():
    def deep(x):
        y = x
        for _ in range(12):
            y = p.sin(y)
        return y + x

    assert texts(draw(Function.build(deep, V))).count("%0") == 2


def test_every_op_can_be_drawn():
    def check(sample):
        fn = function_of(sample)
        svg = draw(fn)
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert draw(fn) == svg

    samples = list(all_samples())
    each(check, zip(names_of(samples), [(s,) for s in samples], strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_can_be_drawn(seed):
    case = pulled_back(random_case(seed), seed) or random_case(seed)
    assert ElementTree.fromstring(case.fn.draw()).tag.endswith("svg")


def test_a_jitted_function_is_drawn_as_it_was_captured():
    halved = ms.jit(lambda x: ms.ops.tanh(x) / 2)
    with pytest.raises(ArgumentError, match="was not called yet"):
        halved.draw()
    halved(ms.Tensor([1.0]))
    assert "tanh" in texts(halved.draw())
