"""What `mint.distributed` means: on one process by itself, and between two, with Open MPI."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from mycelia import Tensor
from mycelia.errors import MyceliaError
from mycelia.mint import distributed as d
from tests.communication import exchanges
from tests.communication.test_ranks import ROOT, STARTER, pytestmark


@pytestmark
def test_two_processes_hand_each_other_what_they_say():
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [STARTER, "-n", "2", "--map-by", ":OVERSUBSCRIBE", sys.executable, exchanges.__file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: d.all_reduce([1.0]), "tensor of all_reduce is a tensor, not list"),
        (lambda: d.all_gather([], Tensor([1.0])), "one element for each process"),
        (lambda: d.all_gather([Tensor([1, 2])], Tensor([1.0])), "writes float32 into a tensor of Int64"),
        (lambda: d.broadcast(Tensor([1.0]), 3), "process 3 is not in the group"),
        (lambda: d.reduce(Tensor([1.0]), 0, "mean"), "op of reduce is"),
        (lambda: d.send(Tensor([1.0]), 0), "not itself"),
        (lambda: d.init_process_group(world_size=8), "the world_size of this process is 1, not 8"),
        (lambda: d.init_process_group(init_method="tcp://a:1"), "init_method of init_process_group is None here"),
        (lambda: d.all_to_all_single(Tensor([1.0]), Tensor([1.0, 2.0])), "rows came"),
        (lambda: d.all_gather_into_tensor_uneven(Tensor([1.0]), Tensor([1.0]), [2]), "add up to 2"),
        (lambda: d.P2POp("send", Tensor([1.0]), 1), "a P2POp is isend or irecv"),
        (lambda: d.scatter_object_list([], ["a"]), "has a place for what comes"),
        (lambda: d.get_rank("others"), "this process is in no group 'others'"),
    ],
)
def test_what_cannot_be_handed_over_is_said(call, told):
    with pytest.raises(MyceliaError, match=told):
        call()
    assert not d.is_initialized()
