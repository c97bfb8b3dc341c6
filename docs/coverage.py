"""Which of MindSpore's names exist in Mycelia: counts them and writes docs/coverage.md.

    python docs/coverage.py                  write docs/coverage.md from docs/mindspore_names.tsv
    python docs/coverage.py --names FOLDER   first take the names anew from lists of MindSpore's names

FOLDER holds `names_by_use.tsv` (rank, full name, files using it), `api_names.tsv` (every public name of a module, under
a line `# module (count)`), `class_members.tsv` (members of a class, under a line `# class`) and
`tensor_methods_by_use.tsv` (attribute, files using it). What we need of them is kept in `mindspore_names.tsv`: package,
name in it, files using it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
NAMES = DOCS / "mindspore_names.tsv"
PAGE = DOCS / "coverage.md"

PACKAGES = (
    "mindspore", "mindspore.Tensor", "mindspore.Parameter", "mindspore.nn", "mindspore.nn.Cell", "mindspore.ops",
    "mindspore.numpy",
    "mindspore.mint", "mindspore.common", "mindspore.context", "mindspore.dtype", "mindspore.amp", "mindspore.train",
    "mindspore.dataset", "mindspore.dataset.Dataset", "mindspore.dataset.vision", "mindspore.dataset.text",
    "mindspore.dataset.audio", "mindspore.dataset.transforms", "mindspore.dataset.config", "mindspore.dataset.engine",
    "mindspore.dataset.utils", "mindspore.mindrecord", "mindspore.communication", "mindspore.parallel",
    "mindspore.profiler", "mindspore.log", "mindspore.runtime", "mindspore.boost",
)  # fmt: skip
COMPLETE = tuple(p for p in PACKAGES if p.startswith(("mindspore.dataset", "mindspore.mindrecord")))
"""The packages of the data engine, of which every public name must exist."""
PUBLIC = (*COMPLETE, "mindspore.nn", "mindspore.ops", "mindspore.mint", "mindspore.Parameter")
"""The packages whose every public name is counted, used or not."""

_ASCEND = "an operator of one kind of processor (Ascend)"
ELSEWHERE = {
    "mindspore.ops": {
        **dict.fromkeys(
            (
                "NPUAllocFloatStatus",
                "NPUClearFloatStatus",
                "NPUGetFloatStatus",
                "DynamicRNN",
                "DynamicGRUV2",
                "FusedWeightScaleApplyMomentum",
                "FusedCastAdamWeightDecay",
                "AdamNoUpdateParam",
                "auto_generate.GenerateEodMaskV2",
                "op_info_register.TBERegOp",
                "op_info_register.op_info_register",
            ),
            _ASCEND,
        ),
        "CustomOpBuilder": 'needs the C++ headers of MindSpore; `ops.Custom` with "aot" takes functions of C',
        **dict.fromkeys(("Pull", "Push", "MapCacheIdx", "make_map_parameter"), "talks to a parameter server"),
        **dict.fromkeys(
            [
                "ApplyRotaryPosEmb",
                "BasicLSTMCell",
                "BatchToSpaceNDV2",
                "DepthwiseConv2dNative",
                "FusedAdaFactor",
                "FusedAdaFactorWithGlobalNorm",
                "GroupTopk",
                "PagedAttention",
                "PagedAttentionMask",
                "ReshapeAndCache",
                "TensorDump",
                "flash_attention_score",
                "fused_infer_attention_score",
                "incre_flash_attention",
                "lightning_indexer",
                "moe_distribute_combine",
                "moe_distribute_dispatch",
                "moe_init_routing_v2",
                "multi_scale_deformable_attn_function",
                "nsa_compress",
                "nsa_compress_attention",
                "nsa_select_attention",
                "prompt_flash_attention",
                "ring_attention_update",
                "rotated_iou",
                "sparse_flash_attention",
                "speed_fusion_attention",
                "tensordump",
                "nn_ops.FlashAttentionScore",
                "_inner_ops.PsROIPooling",
                "AiCPURegOp",
                "AkgAscendRegOp",
                "AkgGpuRegOp",
                "CpuRegOp",
                "TBERegOp",
            ],
            _ASCEND,
        ),
        **dict.fromkeys(
            [
                "AllGatherV",
                "AlltoAllV",
                "AlltoAllVC",
                "BatchISendIRecv",
                "NeighborExchange",
                "NeighborExchangeV2",
                "Receive",
                "ReduceScatterV",
                "Reshard",
                "Send",
                "all_gather_matmul",
                "all_to_all_v_c",
                "comm_ops._VirtualDataset",
                "distribute",
                "gather_into_tensor",
                "matmul_reduce_scatter",
                "reshard",
                "scatter_tensor",
                "set_comm_ops_inplace",
            ],
            "several devices with parts of unequal size, or layouts over them; `mint.distributed` has what one needs",
        ),
        **dict.fromkeys(
            [
                "CopyWithSlice",
                "DtypeToEnum",
                "DumpGradient",
                "GeSwitch",
                "GetNext",
                "J",
                "Merge",
                "Morph",
                "MoveTo",
                "PyExecute",
                "Reusing",
                "SliceGetItem",
                "UpdateState",
                "arg_dtype_cast",
                "arg_handler",
                "array_reduce",
                "broadcast_gradient_args",
                "cpp_create_prim_instance_helper",
                "embed",
                "env_get",
                "environ_add",
                "environ_create",
                "environ_get",
                "environ_set",
                "gen_extend_func",
                "gen_ops_def",
                "gen_ops_prim",
                "geswitch",
                "get_vm_impl_fn",
                "hyper_add",
                "is_dynamic_sequence_element_unknown",
                "is_sequence_shape_unknown",
                "is_sequence_value_unknown",
                "is_tensor_bool_cond",
                "iter_converter",
                "linalg_ops",
                "merge",
                "ms_hasnext",
                "ms_next",
                "other_ops",
                "pyboost_inner_prim",
                "recompute_block",
                "reduced_shape",
                "ref_to_embed",
                "signature",
                "switch",
                "switch_layer",
                "tensor_operator_registry",
                "zip_operation",
            ],
            "a word of MindSpore's compiler, or a module of its own files; programs say it in Python",
        ),
        **dict.fromkeys(
            [
                "ExtractGlimpse",
                "FractionalAvgPool",
                "FusedSparseAdam",
                "FusedSparseLazyAdam",
                "MapUniform",
                "ResizeArea",
                "SampleDistortedBoundingBoxV2",
                "ScaleAndTranslate",
                "SubAndFilter",
            ],
            "deprecated in MindSpore, which is about to remove it",
        ),
    },
    "mindspore.nn": {
        **dict.fromkeys(
            [
                "AdaSumByDeltaWeightWrapCell",
                "AdaSumByGradWrapCell",
                "OptTFTWrapper",
                "PipelineGradReducer",
                "VirtualDatasetCellTriple",
                "wrap.cell_wrapper._VirtualDatasetCell",
                "wrap.loss_scale.shard_grad_scale",
            ],
            "several devices of one kind",
        ),
        **dict.fromkeys(("MatrixDiag", "MatrixDiagPart"), "fails in MindSpore 2.10 on a processor"),
        "GetNextSingleOp": "takes rows from the queue of a device; here a dataset is an iterator",
    },
    "mindspore.Parameter": {
        **dict.fromkeys(
            [
                "assign_value_cpp",
                "getitem_index_info",
                "hooks",
                "index",
                "index_of_parent_",
                "init_flag",
                "is_init",
                "key",
                "param_info",
                "parent_tensor_",
                "remove_hook",
                "set_cast_dtype",
                "set_device_address",
                "set_init_flag",
                "set_param_info",
                "setitem_index_info",
                "symbolic_shape",
                "virtual_flag",
            ],
            "how MindSpore's C++ tensors keep their books",
        ),
        **dict.fromkeys(
            ("set_", "storage", "untyped_storage"),
            "memory belongs to arrays, not to storages: `data_ptr`, `get_bytes`, and views that share it",
        ),
        **dict.fromkeys(("offload", "offload_file_path"), "everything is in the memory of the processor"),
        **dict.fromkeys(("cache_enable", "cache_shape"), "a cache of a parameter server"),
        "add_pipeline_stage": "stages of a pipeline over several devices",
    },
    "mindspore.Tensor": {
        **dict.fromkeys(
            (
                "assign_value_cpp",
                "delta_seed",
                "getitem_index_info",
                "hooks",
                "index",
                "index_of_parent_",
                "init_flag",
                "is_init",
                "param_info",
                "parent_tensor_",
                "remove_hook",
                "set_cast_dtype",
                "set_device_address",
                "set_init_flag",
                "set_param_info",
                "setitem_index_info",
                "symbolic_shape",
                "virtual_flag",
            ),
            "how MindSpore's C++ tensors keep their books",
        ),
        **dict.fromkeys(
            ("set_", "storage", "untyped_storage"),
            "memory belongs to arrays, not to storages: `data_ptr`, `get_bytes`, and views that share it",
        ),
        "delete_": "memory is given back when nothing holds the tensor",
        **dict.fromkeys(("offload", "offload_file_path"), "everything is in the memory of the processor"),
    },
    "mindspore.nn.Cell": {
        **dict.fromkeys(
            (
                "compile_cache",
                "exist_names",
                "exist_objs",
                "get_func_graph_proto",
                "global_cells",
                "phase_cache",
                "total_instance_count",
                "IGNORE_LIST",
                "T_destination",
                "cell_init_args",
            ),
            "how MindSpore's compiler keeps its books; here `jit(net).show(...)` tells what was compiled",
        ),
        **dict.fromkeys(
            ("get_mixed_precision_type", "set_mixed_precision_type"),
            "takes a number of MindSpore's C++ code; `to_float` says which type a cell computes in",
        ),
        **dict.fromkeys(
            ("parallel_parameter_merge_net_dict", "parallel_parameter_name_list"),
            "filled by MindSpore's compiler for several devices",
        ),
        "set_boost": "an approximation for one kind of device",
        "register_saved_tensors_hooks": "what is kept for the way back is chosen by the compiler: `recompute`, `keep`",
    },
    "mindspore.dataset.Dataset": {
        **dict.fromkeys(
            ("create_ir_tree", "parse", "parse_tree", "pre_parse", "post_parse", "pre_process", "iterator_bootstrap"),
            "builds MindSpore's C++ tree; here the tree is `Dataset.plan`",
        ),
        **dict.fromkeys(
            ("recv", "send"), "hands rows from process to process of a group; there is no `communication` to do it with"
        ),
        "copy_batch_size": "how MindSpore's own copies of a dataset are told what `get_batch_size` says",
        "input_indexs": "the order of columns in a device queue; here `project` puts columns in order",
    },
}
"""Names that are left out, by package, with the reason; they are not counted."""


@dataclass(frozen=True)
class Name:
    """A name of MindSpore, the package it is counted in, and how many public files use it.

    >>> Name("mindspore.nn", "Cell", 5).full
    'mindspore.nn.Cell'
    """

    package: str
    name: str
    uses: int

    @property
    def full(self) -> str:
        """As a program would write it."""
        return f"{self.package}.{self.name}"

    @property
    def elsewhere(self) -> str | None:
        """Why it is left out, if it is."""
        return ELSEWHERE.get(self.package, {}).get(self.name)

    def exists(self) -> bool:
        """Whether the same path leads to something in Mycelia.

        >>> Name("mindspore.nn", "Cell", 5).exists(), Name("mindspore.nn", "Sell", 0).exists()
        (True, False)
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of old names: they exist
            return self._leads_somewhere()

    def _leads_somewhere(self) -> bool:
        parts = ["mycelia", *self.full.split(".")[1:]]
        found: Any = None
        for count in range(len(parts), 0, -1):
            try:
                found = import_module(".".join(parts[:count]))
            except ModuleNotFoundError:
                continue
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # an old name exists, too
            for part in parts[count:]:
                if part != "Parameter" and self.package == "mindspore.Parameter":
                    found = found([0.0], name="w")  # what a parameter has
                if not hasattr(found, part):
                    return False
                found = getattr(found, part)
        return True


def package_of(full: str) -> str:
    """The package that a full name is counted in: the longest that it lies in.

    >>> package_of("mindspore.dataset.vision.Inter.LINEAR"), package_of("mindspore.dataset.config")
    ('mindspore.dataset.vision', 'mindspore.dataset')
    """
    return max((p for p in PACKAGES if full.startswith(f"{p}.")), key=len)


def sections(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a list in sections: the section's name and the first field of the line."""
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            section = line[2:].split(" (")[0]
        elif line:
            yield section, line.split("\t")[0]


def collect(folder: Path) -> list[Name]:
    """The names that MindSpore's lists hold, by package and by use."""
    uses: dict[tuple[str, str], int] = {}
    for line in (folder / "names_by_use.tsv").read_text().splitlines():
        _, full, count = line.split("\t")
        if "." in full:  # not the package itself
            package = package_of(full)
            uses[package, full.removeprefix(f"{package}.")] = int(count)
    attributes = dict(
        line.split("\t")
        for line in (folder / "tensor_methods_by_use.tsv").read_text().splitlines()
        if not line.startswith("#")
    )
    for section, name in sections(folder / "api_names.tsv"):
        if section in PUBLIC and not name.startswith("_"):
            uses.setdefault((section, name), 0)
    for section, name in sections(folder / "class_members.tsv"):
        if f"mindspore.{section}" == "mindspore.Tensor":
            uses.setdefault(("mindspore.Tensor", name), int(attributes.get(name, 0)))
        elif f"mindspore.{section}" == "mindspore.nn.Cell":
            uses.setdefault(("mindspore.nn.Cell", name), 0)
        elif f"mindspore.{section}" in PUBLIC:
            uses.setdefault((f"mindspore.{section}", name), 0)
    names = (Name(package, name, count) for (package, name), count in uses.items())
    return sorted(names, key=lambda n: (PACKAGES.index(n.package), -n.uses, n.name))


def save(names: list[Name], path: Path = NAMES) -> None:
    """Keep names in a file."""
    path.write_text("".join(f"{n.package}\t{n.name}\t{n.uses}\n" for n in names))


def load(path: Path = NAMES) -> list[Name]:
    """The names that `save` kept."""
    rows = (line.split("\t") for line in path.read_text().splitlines())
    return [Name(package, name, int(uses)) for package, name, uses in rows]


INTRODUCTION = """# Which of MindSpore's names exist

Written by `python docs/coverage.py`; the names are those of MindSpore 2.10 that 6,074 public files use, with how many
of them do. Of `ops`, `nn`, `mint`, `dataset` and `mindrecord` every public name counts, used or not; of `Tensor`,
`Parameter`, `Cell` and `Dataset` every member.
A name exists when its path leads to something under `mycelia` too; where it means something else,
[differences.md](differences.md) says so. The share by use weighs a name with the files that use it.
"""


def page(names: list[Name]) -> str:
    """The page: a table of packages, the missing names of each in order of use, and names that are left out."""
    counted = [n for n in names if n.elsewhere is None]
    missing = [n for n in counted if not n.exists()]
    table = ["| package | names | exist | share | share by use |", "|---|---:|---:|---:|---:|"]
    lists, total, lost = [], sum(n.uses for n in counted), sum(n.uses for n in missing)
    for package in PACKAGES:
        all_here = [n for n in counted if n.package == package]
        none_here = [n for n in missing if n.package == package]
        used, unmet = sum(n.uses for n in all_here), sum(n.uses for n in none_here)
        table.append(_row(f"`{package}`", len(all_here), len(none_here), used, unmet))
        if none_here:
            told = ", ".join(f"`{n.name}` {n.uses}" if n.uses else f"`{n.name}`" for n in none_here)
            lists.append(f"### {package}: {len(none_here)}\n\n{told}\n")
    table.append(_row("**all**", len(counted), len(missing), total, lost))
    apart = [f"- `{n.full}`: {n.elsewhere}" for n in names if n.elsewhere is not None]
    parts = [INTRODUCTION, "\n".join(table) + "\n", "## Missing, in order of use\n", *lists]
    return "\n".join([*parts, "## Left out\n", *apart]) + "\n"


def _row(title: str, names: int, missing: int, uses: int, lost: int) -> str:
    share = f"{(names - missing) / names:.0%}"
    by_use = f"{(uses - lost) / uses:.0%}" if uses else ""
    return f"| {title} | {names} | {names - missing} | {share} | {by_use} |"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description="write docs/coverage.md")
    parser.add_argument("--names", type=Path, metavar="FOLDER", help="take the names anew from lists in this folder")
    folder = parser.parse_args().names
    if folder is not None:
        save(collect(folder))
    PAGE.write_text(page(load()))


if __name__ == "__main__":
    main()
