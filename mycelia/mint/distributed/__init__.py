"""Processes that work together, by the names of PyTorch: results are written into tensors that the caller gives.

Processes are started by `mpiexec`; one that was started alone is a group of one, and everything works there too. Ranks
are those among all processes. With `async_op` a handle is given, whose `wait` ends the work.
"""

from mycelia.mint.distributed.collectives import (
    all_gather,
    all_gather_into_tensor,
    all_gather_into_tensor_uneven,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    reduce_scatter_tensor_uneven,
    scatter,
)
from mycelia.mint.distributed.membership import (
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
    new_group,
)
from mycelia.mint.distributed.messages import (
    P2POp,
    all_gather_object,
    batch_isend_irecv,
    broadcast_object_list,
    gather_object,
    irecv,
    isend,
    recv,
    recv_object_list,
    scatter_object_list,
    send,
    send_object_list,
)
from mycelia.ops.store import TCPStore

__all__ = [
    "P2POp", "TCPStore", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object",
    "all_reduce", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend", "get_global_rank",
    "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "irecv",
    "is_available", "is_initialized", "isend", "new_group", "recv", "recv_object_list", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "reduce_scatter_tensor_uneven", "scatter", "scatter_object_list", "send",
    "send_object_list",
]  # fmt: skip
