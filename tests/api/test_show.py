"""A jitted function shows what it is at every stage, and the text of a stage is what that stage is."""

import re

import numpy as np
import pytest

import mycelia as ms
from mycelia import degradations, nn, ops
from mycelia.errors import ArgumentError
from mycelia.ir import Function
from mycelia.ir.text import parse
from mycelia.loops import Launch, parse_kernel, parse_program
from mycelia.options import STAGES
from mycelia.passes import PIPELINE
from mycelia.testing import compile


@ms.jit
def softened(x):
    y = ops.softmax(x, -1)
    if x.sum() > 1.0:
        y = ops.tanh(x) * 0.5
    return y * 2.0


def body(text):
    """What stands under the signature."""
    return text.partition("\n")[2]


@pytest.fixture(scope="module")
def called():
    softened(ms.Tensor(np.ones((3, 4), "f")))
    return softened


def test_each_stage_is_shown_under_the_signature(called):
    for stage in STAGES[1:]:
        assert called.show(stage).startswith("(f32[3, 4]) -> (f32[3, 4]):\n")


def test_the_source_is_the_source(called):
    lines = called.show("source").splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        "@ms.jit",
        "def softened(x):",
        "y = ops.softmax(x, -1)",
        "if x.sum() > 1.0:",
        "y = ops.tanh(x) * 0.5",
        "return y * 2.0",
    ]


def test_the_graph_can_be_read_and_computes_the_same(called):
    fn = parse(body(called.show("graph")))
    x = np.linspace(-2, 2, 12, dtype="f").reshape(3, 4)
    np.testing.assert_allclose(compile(fn)(x)[0], called(ms.Tensor(x)).asnumpy(), rtol=1e-6)


def test_the_program_and_its_kernels_can_be_read(called):
    program = parse_program(body(called.show("program")))
    launches = [s for s in program.block.walk() if isinstance(s, Launch)]
    kernels = re.split(r"^step \d+:\n", body(called.show("kernels")), flags=re.MULTILINE)[1:]
    assert len(kernels) == len(launches) > 0
    assert [len(parse_kernel(k).sweeps) for k in kernels] == [len(s.kernel.sweeps) for s in launches]


def test_passes_are_listed_in_order(called):
    names = re.findall(r"^(\w+): ", body(called.show("passes")), flags=re.MULTILINE)
    assert names == [run.__name__ for run in PIPELINE]


def test_the_llvm_text_is_what_llvm_takes(called):
    from llvmlite import binding

    modules = body(called.show("llvm")).split("; ModuleID")
    assert len(modules) > 1
    for module in modules[1:]:
        binding.parse_assembly("; ModuleID" + module).verify()


def test_memory_is_what_is_planned_and_no_less_than_what_lives():
    @ms.jit
    def chain(x, y):
        for _ in range(4):
            x = ops.tanh(x @ y)
        return x

    chain(*[ms.Tensor(np.ones((64, 64), "f"))] * 2)
    text = chain.show("memory").replace(",", "")
    planned, apart = (int(n) for n in re.search(r"arena: (\d+) bytes planned; (\d+) if", text).groups())
    peak = int(re.search(r"most alive at once: (\d+) bytes", text)[1])
    rows = [line.split() for line in text.splitlines() if re.match(r" +\d+ +\d+ +\d+-\d+  ", line)]
    assert apart == sum(int(row[1]) for row in rows)
    assert 0 < peak <= planned < apart
    for i, (at, size, steps, *_) in enumerate(rows):
        first, last = map(int, steps.split("-"))
        for at_2, size_2, steps_2, *_ in rows[:i]:
            first_2, last_2 = map(int, steps_2.split("-"))
            apart_in_time = last < first_2 or last_2 < first
            assert apart_in_time or int(at) + int(size) <= int(at_2) or int(at_2) + int(size_2) <= int(at)


def test_every_kind_of_arguments_is_shown():
    double = ms.jit(lambda x: x + x)
    double(ms.Tensor([1.0]))
    double(ms.Tensor([1]))
    assert re.findall(r"^\(.*$", double.show("graph"), flags=re.MULTILINE) == [
        "(f32[1]) -> (f32[1]):",
        "(i64[1]) -> (i64[1]):",
    ]


def test_pieces_are_shown_and_what_python_runs_is_marked():
    @ms.jit
    def halved(x):
        n = float(x.sum())
        return x / 2 + n

    halved(ms.Tensor([1.0, 2.0]))
    assert halved.show("graph").startswith("piece, (f32[2]) -> (")
    marked = [line for line in halved.show("source").splitlines() if line.startswith("python")]
    assert [line.split(maxsplit=2)[2] for line in marked] == ["n = float(x.sum())"]


def test_what_happened_nowhere_marks_no_line():
    @ms.jit
    def doubled(x):
        return x * 2

    doubled(ms.Tensor([1.0]))
    with degradations.concerning(doubled._interpreted.subject):
        degradations.degrade(degradations.Instead.PYTHON, "a hook waits")
    lines = doubled.show("source").splitlines()
    assert len(lines) == 3
    assert not [line for line in lines if line.startswith("python")]


def test_gradients_show_both_parts():
    net = ms.jit(nn.Dense(3, 2))
    ms.grad(lambda x: net(x).sum())(ms.Tensor(np.ones((4, 3), "f")))
    text = net.show("program")
    assert "forward, where a gradient is taken:\nprogram(" in text
    assert "backward, where a gradient is taken:\nprogram(" in text


def test_before_the_first_call_there_is_nothing_to_show():
    assert ms.jit(lambda x: x + x).show("graph") == (
        "test_before_the_first_call_there_is_nothing_to_show.<locals>.<lambda> has no program: it was not called yet, "
        "or Python runs it (see explain())"
    )


def test_a_stage_that_does_not_exist_is_an_error_with_the_list(called):
    with pytest.raises(
        ArgumentError, match=r"there is no stage 'grap' to show(.|\n)*choose one of source, graph, passes"
    ):
        called.show("grap")


def test_methods_and_cells_show_too():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2)

        @ms.jit
        def construct(self, x):
            return self.fc(x)

    net = Net()
    net(ms.Tensor(np.ones((4, 3), "f")))
    assert "invoke" in net.construct.show("program") or "launch" in net.construct.show("program")
    assert "return self.fc(x)" in net.construct.show("source")


def test_the_environment_shows_the_same_when_something_is_compiled(monkeypatch, capfd):
    monkeypatch.setenv("MYCELIA_SHOW", ",".join(STAGES))

    @ms.jit
    def tripled(x):
        return x * 3.0

    result = tripled(ms.Tensor([2.0])).tolist()
    shown = capfd.readouterr().err
    monkeypatch.delenv("MYCELIA_SHOW")
    assert result == [6.0]
    name = "test_the_environment_shows_the_same_when_something_is_compiled.<locals>.tripled"
    assert f"source of {name}:\n{tripled.show('source')}\n" in shown
    for stage in STAGES[1:]:
        assert f"{stage} of {name}:\n{body(tripled.show(stage))}\n" in shown


def test_showing_leaves_no_trace(called):
    before = ms.report()
    for stage in STAGES:
        called.show(stage)
    assert ms.report() == before


@pytest.mark.parametrize("off", ["fold", "simplify"])
def test_a_pass_that_is_switched_off_does_not_run(off):
    thrice = ms.jit(lambda x: x * 1.0 + 2.0, passes_off=(off,), verify=True)
    assert thrice(ms.Tensor([1.0])).tolist() == [3.0]
    assert f"{off}: switched off" in thrice.show("passes")
    assert ("mul(" in thrice.show("program")) == (off == "simplify")


def test_gradients_of_a_function_run_without_the_pass_too():
    plain = ms.jit(lambda x: (x * 1.0).sum(), passes_off=("simplify",))
    assert ms.grad(plain)(ms.Tensor([2.0])).tolist() == [1.0]
    assert plain.show("passes").count("simplify: switched off") == 3


def test_verification_tells_of_a_pass_that_is_wrong(monkeypatch):
    def broken(fn):
        return Function(fn.params, Function.build(lambda x, y: y, *fn.types, *fn.types).results)

    monkeypatch.setattr("mycelia.passes.NATIVE", (broken,))
    with pytest.raises(AssertionError, match="after the pass broken"):
        ms.jit(lambda x: x + 1.0, verify=True)(ms.Tensor([1.0]))


@pytest.mark.parametrize(
    ("name", "message"), [("flod", "there is no pass 'flod'"), ("inline", "cannot be switched off")]
)
def test_passes_that_cannot_be_switched_off_are_an_error_with_the_list(name, message):
    with pytest.raises(ArgumentError, match=message) as error:
        ms.jit(lambda x: x, passes_off=(name,))
    assert "shape_products, simplify" in str(error.value)


@pytest.mark.parametrize("given", ["simplify", b"fold", None, 3])
def test_passes_are_switched_off_by_a_sequence_of_names(given):
    with pytest.raises(ArgumentError, match=f"several names, not {given!r}"):
        ms.jit(lambda x: x, passes_off=given)
