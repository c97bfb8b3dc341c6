"""The shared library of oneDNN: found in its wheel, loaded once, its functions declared."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from ctypes import POINTER, c_float, c_int, c_int32, c_int64, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

from mycelia.errors import DependencyError, MyceliaError
from mycelia.onednn.constants import BEFORE_TILES, CPU_ENGINE, MAX_RANK, STREAM_IN_ORDER, Status
from mycelia.onednn.processor import tiles
from mycelia.threads.openmp import load_openmp

DISTRIBUTION = "onednn-cpu-gomp"
SONAME = "libdnnl.so.3"
REMEMBERED = 16  # primitives that the library keeps after their last owner: callers keep what they need
SAID = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")  # variables by which users tell the library what it may use


class OneDnnError(MyceliaError):
    """A call of oneDNN failed."""


class Refused(OneDnnError):
    """What was asked has no implementation in oneDNN; the caller goes another way."""


Dims = c_int64 * MAX_RANK


class ExecArg(ctypes.Structure):
    """`dnnl_exec_arg_t`: an operand's role and its memory object."""

    _fields_ = (("arg", c_int), ("memory", c_void_p))


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", c_int),
        ("minor", c_int),
        ("patch", c_int),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
        ("gpu_runtime", ctypes.c_uint),
    )


_handle = c_void_p
_new = POINTER(c_void_p)
_dims = POINTER(c_int64)

# functions that return a status
_CALLS: dict[str, list[Any]] = {
    "dnnl_set_max_cpu_isa": [c_int],
    "dnnl_set_primitive_cache_capacity": [c_int],
    "dnnl_engine_create": [_new, c_int, c_size_t],
    "dnnl_stream_create": [_new, _handle, ctypes.c_uint],
    "dnnl_memory_desc_create_with_strides": [_new, c_int, _dims, c_int, _dims],
    "dnnl_memory_desc_create_with_tag": [_new, c_int, _dims, c_int, c_int],
    "dnnl_memory_desc_destroy": [_handle],
    "dnnl_memory_desc_query": [_handle, c_int, c_void_p],
    "dnnl_memory_create": [_new, _handle, _handle, c_void_p],
    "dnnl_memory_destroy": [_handle],
    "dnnl_memory_set_data_handle": [_handle, c_void_p],
    "dnnl_post_ops_create": [_new],
    "dnnl_post_ops_destroy": [_handle],
    "dnnl_post_ops_append_eltwise": [_handle, c_int, c_float, c_float],
    "dnnl_post_ops_append_sum": [_handle, c_float, c_int32, c_int],
    "dnnl_post_ops_append_binary": [_handle, c_int, _handle],
    "dnnl_primitive_attr_create": [_new],
    "dnnl_primitive_attr_destroy": [_handle],
    "dnnl_primitive_attr_set_scratchpad_mode": [_handle, c_int],
    "dnnl_primitive_attr_set_post_ops": [_handle, _handle],
    "dnnl_primitive_desc_destroy": [_handle],
    "dnnl_primitive_desc_query": [_handle, c_int, c_int, c_void_p],
    "dnnl_primitive_create": [_new, _handle],
    "dnnl_primitive_destroy": [_handle],
    "dnnl_primitive_execute": [_handle, _handle, c_int, POINTER(ExecArg)],
    "dnnl_reorder_primitive_desc_create": [_new] + [_handle] * 5,
    "dnnl_matmul_primitive_desc_create": [_new] + [_handle] * 6,
    "dnnl_convolution_forward_primitive_desc_create": [_new, _handle, c_int, c_int]
    + [_handle] * 4
    + [_dims] * 4
    + [_handle],
    "dnnl_convolution_backward_data_primitive_desc_create": [_new, _handle, c_int]
    + [_handle] * 3
    + [_dims] * 4
    + [_handle] * 2,
    "dnnl_convolution_backward_weights_primitive_desc_create": [_new, _handle, c_int]
    + [_handle] * 4
    + [_dims] * 4
    + [_handle] * 2,
    "dnnl_pooling_forward_primitive_desc_create": [_new, _handle, c_int, c_int]
    + [_handle] * 2
    + [_dims] * 5
    + [_handle],
    "dnnl_pooling_backward_primitive_desc_create": [_new, _handle, c_int] + [_handle] * 2 + [_dims] * 5 + [_handle] * 2,
}

# functions that return a value
_VALUES: dict[str, tuple[Any, list[Any]]] = {
    "dnnl_memory_desc_get_size": (c_size_t, [_handle]),
    "dnnl_memory_desc_equal": (c_int, [_handle, _handle]),
    "dnnl_primitive_desc_query_md": (c_void_p, [_handle, c_int, c_int]),
    "dnnl_get_effective_cpu_isa": (c_int, []),
    "dnnl_version": (POINTER(_Version), []),
}


class Library:
    """The loaded library with its CPU engine and one in-order stream."""

    def __init__(self, native: ctypes.CDLL) -> None:
        self.functions: dict[str, Any] = {}
        for name, argtypes in _CALLS.items():
            self._declare(native, name, c_int, argtypes)
        for name, (restype, argtypes) in _VALUES.items():
            self._declare(native, name, restype, argtypes)
        version = self.functions["dnnl_version"]().contents
        self.version: tuple[int, int, int] = (version.major, version.minor, version.patch)
        if self.version[0] != 3:
            raise DependencyError(
                f"this oneDNN speaks another binary interface than 3.x: {self.version}",
                hint=f"install the wheel {DISTRIBUTION}",
            )
        if not tiles() and not any(name in os.environ for name in SAID):  # before the first object is made
            self.call("dnnl_set_max_cpu_isa", BEFORE_TILES)
        self.call("dnnl_set_primitive_cache_capacity", REMEMBERED)
        self.engine = self.create("dnnl_engine_create", CPU_ENGINE, 0)
        self.stream = self.create("dnnl_stream_create", self.engine, STREAM_IN_ORDER)

    def _declare(self, native: ctypes.CDLL, name: str, restype: Any, argtypes: list[Any]) -> None:
        function = getattr(native, name)
        function.restype, function.argtypes = restype, argtypes
        self.functions[name] = function

    def call(self, name: str, *arguments: Any) -> None:
        """Call `name`; anything but success is an error that names the call and its status."""
        status = self.functions[name](*arguments)
        if status:
            refused = status in (Status.unimplemented, Status.invalid_arguments)
            raise (Refused if refused else OneDnnError)(
                f"{name} answered {describe(status)}", hint="oneDNN's reasons are shown with ONEDNN_VERBOSE=all"
            )

    def create(self, name: str, *arguments: Any) -> int:
        """The address of the new object that the constructor `name` makes."""
        result = c_void_p()
        self.call(name, ctypes.byref(result), *arguments)
        assert result.value is not None, f"{name} succeeded and made nothing"
        return result.value

    def value(self, name: str, *arguments: Any) -> Any:
        """What the function `name` returns."""
        return self.functions[name](*arguments)

    def address(self, name: str) -> int:
        """Where the machine code of `name` starts, for generated code that calls it.

        >>> library().address("dnnl_primitive_execute") > 0
        True
        """
        address = ctypes.cast(self.functions[name], c_void_p).value
        assert address is not None
        return address


class Owned:
    """An object of the library that ends with its owner."""

    __slots__ = ("address", "destroy")

    def __init__(self, address: int, destroy: str) -> None:
        self.address, self.destroy = address, library().functions[destroy]

    def close(self) -> None:
        """Give it back; a second time does nothing."""
        address, self.address = self.address, 0
        if address:
            self.destroy(address)

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:  # at the end names are gone
        if not ends():  # the process gives everything back then; the library may be gone
            self.close()


def describe(status: int) -> str:
    """The status in words.

    >>> describe(3)
    'unimplemented'
    """
    return Status(status).name if status in Status._value2member_map_ else f"status {status}"


def dims(values: tuple[int, ...]) -> Any:
    """The values as the library's fixed-size array."""
    return Dims(*values)


def _find() -> Path:
    """The path of the library: where its wheel puts it, or where the wheel says."""
    usual = Path(sys.prefix) / "lib" / SONAME
    if usual.exists():
        return usual.resolve()
    from importlib import metadata  # which takes as long to load as all of this package

    try:
        files = metadata.distribution(DISTRIBUTION).files or []
    except metadata.PackageNotFoundError:
        files = []
    for path in [Path(str(f.locate())) for f in files if f.name == SONAME]:
        if path.exists():
            return path.resolve()
    raise DependencyError(f"{SONAME} is not installed", hint=f"pip install {DISTRIBUTION}")


@cache
def library() -> Library:
    """The oneDNN library of this process, loaded at the first call.

    >>> library().version[0]
    3
    """
    with _loading:  # a cache lets two threads begin; what a process may use is said to the library once
        return _loaded()


_loading = RLock()


@cache
def _loaded() -> Library:
    path = _find()
    load_openmp()
    try:
        native = ctypes.CDLL(str(path))
    except OSError as error:
        raise DependencyError(
            f"cannot load {path.name}: {error}", hint=f"reinstall the wheel {DISTRIBUTION}"
        ) from error
    return Library(native)
