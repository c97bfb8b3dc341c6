"""What Mycelia finds on this machine, and whether it works: `python -m mycelia.doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

import mycelia as ms
from mycelia import ops
from mycelia.api.options import cache_folder, options

NEEDED = ("numpy", "llvmlite", "onednn-cpu-gomp", "ml_dtypes", "safetensors")
EXTRAS = {
    "data": ("pillow", "simplejpeg", "opencv-python-headless", "pyarrow", "soundfile", "scipy", "sentencepiece", "av",
             "cryptography"),
    "remote": ("fsspec", "aiohttp"),
    "stablehlo": ("jax", "jaxlib"),
    "iree": ("iree-base-compiler", "iree-base-runtime"),
    "parallel": ("mpi4py", "openmpi"),
}  # fmt: skip
VARIABLES = ("OMP_NUM_THREADS", "MYCELIA_CACHE", "MYCELIA_WARM", "MYCELIA_SHOW", "MYCELIA_FAULTS",
             "PYTHONDONTWRITEBYTECODE")  # fmt: skip


def versions() -> Iterator[str]:
    """What is installed."""
    yield f"mycelia {ms.__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield ", ".join(f"{name} {found(name)}" for name in NEEDED)
    for extra, names in EXTRAS.items():
        missing = [name for name in names if not found(name)]
        told = "installed" if not missing else f"not installed: {', '.join(missing)} (pip install 'mycelia[{extra}]')"
        yield f"extra {extra}: {told}"


def found(name: str) -> str:
    """The version of a package; nothing if it is not installed.

    >>> found("numpy") != "", found("no-such-package")
    (True, '')
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def machine() -> Iterator[str]:
    """The processor, as the compiler sees it, and what the environment says."""
    here = options()
    target = here.target
    vectors = f"vectors of {target.vector_bytes} bytes"
    yield f"processor {target.cpu}: {target.cores} cores, {here.threads} threads, {vectors}"
    units = ", ".join(sorted(target.short_units)) or "none"
    caches = f"caches of {target.l1 >> 10} KiB, {target.l2 >> 10} KiB and {target.l3 >> 20} MiB"
    yield f"{caches}; units for short types: {units}"
    for name in VARIABLES:
        if name in os.environ:
            yield f"{name}={os.environ[name]}"


def cache() -> Iterator[str]:
    """Where machine code is kept."""
    folder = cache_folder()
    if folder is None:
        yield "nowhere: each process compiles anew"
        return
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise OSError(f"{folder} cannot be written to: set MYCELIA_CACHE to a folder that can")
    free = shutil.disk_usage(folder).free
    yield f"{folder}: {len(os.listdir(folder))} files; {free / 2**30:.1f} GiB free"


def compiling() -> Iterator[str]:
    """Whether a function is compiled, and gives what Python gives."""
    begin = perf_counter()
    step = ms.jit(lambda x, y: ops.tanh(x @ y).sum(), fullgraph=True)
    x = ms.Tensor([[0.5, -1.0], [2.0, 0.25]])
    first = float(step(x, x).item())
    took = perf_counter() - begin
    if abs(first - float(ops.tanh(x @ x).sum().item())) > 1e-5:
        raise ArithmeticError(f"a compiled function gives {first}, which is wrong")
    slope = ms.grad(step)(x, x)
    if slope.shape != (2, 2):
        raise ArithmeticError(f"a gradient has the shape {slope.shape}")
    yield f"a function and its gradient, compiled in {took:.2f} s or found in the cache"


def products() -> Iterator[str]:
    """How fast the library multiplies."""
    x = ops.ones((512, 512))
    product = ms.jit(lambda a, b: a @ b)
    if float(product(x, x)[0, 0].item()) != 512.0:
        raise ArithmeticError("a product of matrices is wrong")
    times = []
    for _ in range(5):
        begin = perf_counter()
        product(x, x)
        times.append(perf_counter() - begin)
    yield f"a product of two matrices of 512 by 512: {2 * 512**3 / min(times) / 1e9:.0f} GFLOP/s"


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "versions": versions,
    "machine": machine,
    "cache": cache,
    "compiler": compiling,
    "library": products,
}


def main() -> int:
    """Tell all of it; 1 if something does not work."""
    bad = 0
    for name, check in CHECKS.items():
        try:
            for n, line in enumerate(check()):
                print(f"{name if not n else '':10}{line}")
        except Exception as error:  # whatever is wrong is to be told, and the next one looked at
            bad += 1
            print(f"{name:10}DOES NOT WORK: {type(error).__name__}: {error}")
    print("all is well" if not bad else f"{bad} of {len(CHECKS)} do not work")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
