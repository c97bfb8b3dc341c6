"""Plans can be written down, compared, read back, watched, and told about by callbacks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import transforms, vision
from mycelia.dataset.debug import DebugHook, PrintDataHook, PrintMetaDataHook
from mycelia.dataset.flow.table import Order

from . import published

SHARED = Path(__file__).parents[3] / "shared" / "compat"


def doubled(x: np.ndarray) -> np.ndarray:
    return x * 2


def short(x: np.ndarray) -> bool:
    return len(str(x)) < 6


def read(dataset: ds.Dataset) -> list:
    return [[v.tolist() for v in row] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_a_plan_read_back_gives_the_same_rows(tmp_path):
    published.image_folder(tmp_path / "images")
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nseventeen\n")
    lines = ds.TextFileDataset(str(tmp_path / "a.txt"))
    images = ds.ImageFolderDataset(str(tmp_path / "images"), num_shards=2, shard_id=1)
    plans = [
        lines.shuffle(3).repeat(2).skip(1).take(5).rename("text", "t").project("t"),
        lines.filter(short).batch(2, drop_remainder=True),
        images.map(len, ["image"], ["size"]).batch(2).map(doubled, ["size"]),
        ds.zip(
            (lines, ds.CSVDataset(str(tmp_path / "a.txt"), column_names=["c"]).use_sampler(ds.SubsetSampler([2, 0])))
        ),
        images.project("image").padded_batch(2, pad_info={"image": ([200], 7)}),
        lines + ds.TextFileDataset(str(tmp_path / "a.txt")),
    ]
    for number, plan in enumerate(plans):
        place = tmp_path / f"{number}.json"
        told = ds.serialize(plan, str(place))
        assert json.loads(place.read_text()) == told
        functions = [short, doubled, len]
        for back in (ds.deserialize(told, functions=functions), ds.deserialize(None, str(place), functions)):
            assert ds.compare(back, plan)
            assert read(back) == read(plan)


def test_transforms_are_written_with_their_fields():
    data = ds.FakeImageDataset(4, (8, 8, 3))
    plan = data.map([vision.Resize((4, 4), vision.Inter.NEAREST), transforms.TypeCast("float32")], ["image"])
    assert read(ds.deserialize(ds.serialize(plan))) == read(plan)


def test_what_cannot_be_found_again_is_told(tmp_path):
    with pytest.raises(ds.DataError, match="rows are not in files"):
        ds.deserialize(ds.serialize(ds.NumpySlicesDataset([1], ["x"])))
    (tmp_path / "a.txt").write_text("one\n")
    plan = ds.serialize(ds.TextFileDataset(str(tmp_path / "a.txt")).map(lambda x: x))
    with pytest.raises(ds.DataError, match="no name of its own"):
        ds.deserialize(plan)


def test_hooks_see_what_goes_in_and_what_every_operation_gives_in_debug_mode():
    seen = []

    class Watch(DebugHook):
        def compute(self, *args):
            (columns,) = args
            seen.append((self.prev_op_name, self.is_first_op, [c.tolist() for c in columns]))
            return "what a hook returns is not used"

    ds.config.set_debug_mode(True, [Watch()])
    dataset = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).map([doubled, lambda x: x + 1])
    assert read(dataset) == [[3], [5]]
    assert seen[:3] == [("doubled", True, [1]), ("doubled", False, [2]), ("<lambda>", False, [3])]
    assert [s[2] for s in seen[3:]] == [[2], [4], [5]]


def test_hooks_print_as_in_mindspore(capsys):
    def both(a, b):
        return a + 1, b + 1

    ds.config.set_debug_mode(True, [PrintMetaDataHook(), PrintDataHook()])
    dataset = ds.NumpySlicesDataset({"a": [[1]], "b": [[2, 3]]}, shuffle=False).map(both, ["a", "b"])
    assert read(dataset) == [[[2], [3, 4]]]
    said, types = "[Dataset debugger] Print the [%s] of the operation [both].", "The dtype is [int64]. The shape is"
    shapes = [f"Column 0. {types} [(1,)].", f"Column 1. {types} [(2,)]."]
    ran = capsys.readouterr().out.splitlines()
    assert ran[:6] == [
        said % "INPUT",
        *shapes,
        said % "INPUT",
        "Column 0. The data is [[1]].",
        "Column 1. The data is [[2 3]].",
    ]
    assert ran[6:] == [
        said % "OUTPUT",
        *shapes,
        said % "OUTPUT",
        "Column 0. The data is [[2]].",
        "Column 1. The data is [[3 4]].",
    ]


def test_a_hook_may_stand_among_the_operations_and_random_numbers_stay_as_they_are(capsys):
    def noise(x):
        return x + ds.random.current().integers(1000)

    source = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
    ds.config.set_seed(5)
    plain = read(source.map([noise, noise]))
    assert read(source.map([noise, noise, PrintDataHook()])) == plain
    ds.config.set_debug_mode(True, [PrintMetaDataHook()])
    assert read(source.map([noise, noise])) == plain
    assert "operation [noise]" in capsys.readouterr().out


def test_callbacks_are_told_about_epochs_and_steps():
    told = []

    class Teller(ds.DSCallback):
        def ds_epoch_begin(self, ds_run_context):
            told.append(("epoch", ds_run_context.cur_epoch_num))

        def ds_step_begin(self, ds_run_context):
            told.append(("step", ds_run_context.cur_step_num_in_epoch))

    dataset = ds.NumpySlicesDataset(np.arange(4), ["x"], shuffle=False).map(doubled, callbacks=Teller(step_size=2))
    iterator = dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)
    rows = [[int(r[0]) for r in iterator] for _ in range(2)]
    assert rows == [[0, 2, 4, 6]] * 2
    assert [t for t in told if t[0] == "epoch"] == [("epoch", 1), ("epoch", 2)]
    assert told[1:3] == [("step", 1), ("step", 3)]


@pytest.mark.usefixtures("nothing_left")
def test_a_waiting_callback_holds_the_pipeline_until_training_has_made_its_step():
    state = {"scale": 1}

    class Waits(ds.WaitedDSCallback):
        def sync_step_begin(self, train_run_context, ds_run_context):
            state["scale"] = train_run_context

    waits = Waits()
    dataset = ds.NumpySlicesDataset(np.ones(4), ["x"], shuffle=False).map(lambda x: x * state["scale"], callbacks=waits)
    seen = []
    for i, row in enumerate(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        seen.append(float(row[0]))
        waits.step_end(10 * (i + 1))
    assert seen == [1, 10, 20, 30]


def test_names_that_users_type_exist():
    if not SHARED.exists():
        pytest.skip("the list of names is not here")
    used = [line.split("\t")[1] for line in (SHARED / "names_by_use.tsv").read_text().splitlines()]
    absent = []
    for name in used:
        parts = name.split(".")
        if parts[:2] not in (["mindspore", "dataset"], ["mindspore", "mindrecord"]):
            continue
        if parts[2:3] and parts[2] in ("vision", "text", "audio", "transforms"):
            continue  # their own tests ask
        try:
            __import__(".".join(["mycelia", *parts[1:]]))
        except ImportError:
            found = __import__(f"mycelia.{parts[1]}", fromlist=["x"])
            for i, part in enumerate(parts[2:]):
                try:
                    found = getattr(found, part)
                except AttributeError:
                    try:
                        found = __import__(".".join(["mycelia", parts[1], *parts[2 : 3 + i]]), fromlist=["x"])
                    except ImportError:
                        absent.append(name)
                        break
    assert absent == []


def test_the_order_of_the_epoch_before_is_let_go_when_no_row_of_it_is_asked_for():
    made = []
    order = Order(lambda epoch: made.append(epoch) or np.arange(3) + epoch)  # type: ignore[func-returns-value]
    for epoch in [0, 1, 0, 1, 0] + [1] * 40 + [0, 1]:
        np.testing.assert_array_equal(order.of(epoch), np.arange(3) + epoch)
    assert made == [0, 1]
    for _ in range(100):
        order.of(1)
    assert list(order.kept) == [1]
    order.of(0)
    assert made == [0, 1, 0]


class Asked:
    """Rows that are made when they are asked for, which is noted."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __len__(self) -> int:
        return 100

    def __getitem__(self, i: int) -> tuple[int, int]:
        self.rows.append(i)
        return i, -i


OTHERS = ds.NumpySlicesDataset({"x": [0] * 100, "y": [0] * 100}, shuffle=False)


@pytest.mark.parametrize(
    "step",
    [
        lambda d: d.project("y"), lambda d: d.rename("x", "z"), lambda d: d.map(doubled, "x"), lambda d: d.take(95),
        lambda d: ds.zip((d, OTHERS.rename(["x", "y"], ["u", "v"]))), lambda d: OTHERS + d, lambda d: d.repeat(2),
        lambda d: d.batch(1), lambda d: d.shuffle(1000), lambda d: ds.mix([d, OTHERS], [1, 1]),
        lambda d: ds.mix([d, OTHERS], [1, 1], "all"),
    ],
)  # fmt: skip
def test_rows_that_are_skipped_are_not_made(step):
    source = Asked()
    made = step(ds.GeneratorDataset(source, ["x", "y"], shuffle=False))
    last = read(made.skip(made.get_dataset_size() - 5))
    assert len(last) == 5
    assert len(source.rows) <= 5
    assert {abs(v) for row in last for v in np.ravel(row)} & {*source.rows}


def test_a_mix_with_a_dataset_that_has_no_rows_ends_or_is_told():
    some = ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False)
    none = some.filter(lambda x: False)
    for empty in (none, some.skip(3)):
        assert len(read(ds.mix([some, empty], [1, 1]))) <= 3
        for stop in ("all", "never"):
            with pytest.raises(ds.DataError, match="gave no row"):
                read(ds.mix([some, empty], [1, 1], stop))
