"""Checkpoints and datasets."""

import tempfile
from pathlib import Path

import numpy as np

import mycelia as ms
from mycelia import dataset as ds
from mycelia import nn
from tests.errors.collect import mistake

NET, OTHER = nn.Dense(3, 4), nn.Dense(5, 4)
FOLDER = Path(tempfile.mkdtemp())


@mistake(jit=False)
def a_checkpoint_that_is_not_there():
    return ms.load_checkpoint("nowhere/net.ckpt")


@mistake(jit=False)
def a_checkpoint_without_its_ending():
    return ms.load_checkpoint("nowhere/net")


@mistake(jit=False)
def a_checkpoint_of_something_else():
    return ms.save_checkpoint([1, 2], str(FOLDER / "a.ckpt"))


@mistake(jit=False)
def a_checkpoint_with_other_words():
    ms.save_checkpoint(NET)


@mistake(jit=False)
def a_file_that_is_no_checkpoint():
    (FOLDER / "b.ckpt").write_bytes(b"not a checkpoint")
    return ms.load_checkpoint(str(FOLDER / "b.ckpt"))


@mistake(jit=False)
def an_empty_checkpoint():
    (FOLDER / "c.ckpt").write_bytes(b"")
    return ms.load_checkpoint(str(FOLDER / "c.ckpt"))


@mistake(jit=False)
def parameters_of_another_network():
    return ms.load_param_into_net(NET, OTHER.parameters_dict())


@mistake(jit=False)
def arguments_in_the_other_order():
    return ms.load_param_into_net(OTHER.parameters_dict(), NET)


@mistake(jit=False)
def a_path_in_place_of_parameters():
    return ms.load_param_into_net(NET, "net.ckpt")


@mistake(jit=False)
def a_batch_of_zero():
    return ds.NumpySlicesDataset([1, 2, 3], ["x"]).batch(0)


@mistake(jit=False)
def columns_that_are_not_there():
    return next(iter(ds.NumpySlicesDataset([1, 2, 3], ["x"]).project(["y"])))


@mistake(jit=False)
def batches_of_rows_of_other_shapes():
    def rows():
        yield (np.zeros(2),)
        yield (np.zeros(3),)

    return list(ds.GeneratorDataset(rows, ["x"]).batch(2))


@mistake(jit=False)
def a_function_that_fails_on_a_row():
    data = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).map(lambda x: x / "2", ["x"])
    return list(data)


@mistake(jit=False)
def columns_of_other_lengths():
    return ds.NumpySlicesDataset(([1, 2, 3], [1, 2]), ["x", "y"])


@mistake(jit=False)
def a_shuffle_of_nothing():
    return ds.NumpySlicesDataset([1, 2, 3], ["x"]).shuffle(0)


@mistake(jit=False)
def a_dataset_joined_with_a_list():
    return ds.NumpySlicesDataset([1, 2, 3], ["x"]).concat([4, 5])


@mistake(jit=False)
def columns_renamed_to_nothing():
    return ds.NumpySlicesDataset([1, 2, 3], ["x"]).rename("x")


@mistake(jit=False)
def shares_that_are_no_list():
    return ds.NumpySlicesDataset([1, 2, 3], ["x"]).split(2)
