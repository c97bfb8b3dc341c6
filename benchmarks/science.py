"""Thirty cases of a scientist's day, compiled, against the best of NumPy with SciPy, PyTorch and JAX, in one run.

    python benchmarks/science.py --peers FOLDER [--only WORD …] [--rounds 5] [--turns 1]

FOLDER holds environments `torch` and `jax` (their bin/python is run with this file); a peer that is not there is left
out. Each case takes the least of some rounds, after one that is not counted; the ratio is ours over the best other.
Libraries are run one after the other; with more turns, all of them again, so that a busy minute is nobody's alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FFT = [1 << k for k in range(16, 23)]
CASES = {
    **{f"chain {n} {t}": ("chain", (n,), t) for n, t in ((10**5, "f4"), (10**6, "f4"), (10**7, "f4"), (10**6, "f8"))},
    "sum": ("sum", (4000, 1000), "f4"),
    "mean of columns": ("mean", (4000, 1000), "f4"),
    "max of rows": ("max", (4000, 1000), "f4"),
    "variance": ("var", (4000, 1000), "f8"),
    "logsumexp": ("logsumexp", (4000, 1000), "f4"),
    "norm": ("norm", (10**7,), "f4"),
    **{f"matmul {n} {t}": ("matmul", (n, n), t) for n, t in ((256, "f4"), (1000, "f4"), (1000, "f8"))},
    "matmul batches": ("matmul", (64, 128, 128), "f4"),
    **{f"fft {n}": ("fft", (n,), "c8") for n in FFT},
    "sort": ("sort", (10**7,), "f4"),
    "cumsum": ("cumsum", (10**7,), "f4"),
    "cumsum of rows": ("cumsum", (3000, 3000), "f8"),
    "svd": ("svd", (1000, 1000), "f4"),
    "cholesky f4": ("cholesky", (1000, 1000), "f4"),
    "cholesky f8": ("cholesky", (1000, 1000), "f8"),
    "solve": ("solve", (1000, 1000), "f8"),
    "csr times vector": ("spmv", (100_000, 20), "f4"),
    "outer difference": ("pairs", (2000, 3), "f4"),
}


def drawn(kind: str, shape: tuple[int, ...], dtype: str) -> list[np.ndarray]:
    """The arrays of a case."""
    rng = np.random.default_rng(0)
    if kind == "spmv":
        rows, each = shape
        columns = np.sort(rng.integers(0, rows, (rows, each)), 1).astype(np.int32).ravel()
        ends = (np.arange(rows + 1) * each).astype(np.int32)
        return [ends, columns, rng.normal(size=rows * each).astype(dtype), rng.normal(size=rows).astype(dtype)]
    x = rng.normal(size=shape)
    if dtype == "c8":
        return [(x + 1j * rng.normal(size=shape)).astype(np.complex64)]
    if kind == "cholesky":
        x = x @ x.T / shape[0] + np.eye(shape[0])
    return [x.astype(dtype), rng.normal(size=shape).astype(dtype)] if kind == "matmul" else [x.astype(dtype)]


def written(m: Any) -> dict[str, Callable[..., Any]]:
    """The cases in NumPy's words, which are ours and JAX's too."""
    return {
        "chain": lambda x: m.exp(-x * x) * m.sin(3 * x) + m.sqrt(abs(x) + 1),
        "sum": m.sum,
        "mean": lambda x: m.mean(x, 0),
        "max": lambda x: m.max(x, 1),
        "var": lambda x: m.var(x, 0),
        "logsumexp": lambda x: m.log(m.sum(m.exp(x - m.max(x, 1, keepdims=True)), 1)),
        "norm": lambda x: m.sqrt(m.sum(x * x)),
        "matmul": m.matmul,
        "fft": m.fft.fft,
        "sort": m.sort,
        "cumsum": lambda x: m.cumsum(x, -1),
        "svd": lambda x: m.linalg.svd(x, full_matrices=False),
        "cholesky": m.linalg.cholesky,
        "solve": lambda x: m.linalg.solve(x, x[:, :8]),
        "pairs": lambda x: m.sum(m.abs(x[:, None, :] - x[None, :, :]), -1),
    }


def of_numpy() -> tuple[dict[str, Any], Any, Any]:
    import scipy.fft
    import scipy.sparse

    def times(ends: Any, columns: Any, values: Any, x: Any) -> Any:
        return scipy.sparse.csr_array((values, columns, ends), (x.size, x.size)) @ x

    return {**written(np), "fft": scipy.fft.fft, "spmv": times}, lambda x: x, lambda y: y


def of_mycelia() -> tuple[dict[str, Any], Any, Any]:
    import mycelia as ms
    import mycelia.numpy as mnp
    from mycelia import ops

    def times(ends: Any, columns: Any, values: Any, x: Any) -> Any:
        return ops.csr_mv(ms.CSRTensor(ends, columns, values, (x.shape[0], x.shape[0])), ops.expand_dims(x, 1))

    found = {name: ms.jit(f) for name, f in written(mnp).items()}
    # results are read where they are: no other library copies them
    return {**found, "spmv": ms.jit(times)}, ms.Tensor, lambda y: [t.numbers() for t in _leaves(y)]


def of_jax() -> tuple[dict[str, Any], Any, Any]:
    import jax
    from jax.experimental import sparse

    jax.config.update("jax_enable_x64", True)

    def times(ends: Any, columns: Any, values: Any, x: Any) -> Any:
        return sparse.CSR((values, columns, ends), shape=(x.shape[0], x.shape[0])) @ x

    found = {name: jax.jit(f) for name, f in written(jax.numpy).items()}
    return {**found, "spmv": jax.jit(times)}, jax.numpy.asarray, jax.block_until_ready


def of_torch() -> tuple[dict[str, Any], Any, Any]:
    import torch

    def times(ends: Any, columns: Any, values: Any, x: Any) -> Any:
        return torch.sparse_csr_tensor(ends, columns, values, (x.numel(), x.numel())) @ x

    found = {
        **written(torch),
        "mean": lambda x: torch.mean(x, 0),
        "max": lambda x: torch.amax(x, 1),
        "var": lambda x: torch.var(x, 0, correction=0),
        "logsumexp": lambda x: torch.logsumexp(x, 1),
        "sort": lambda x: torch.sort(x).values,
        "spmv": times,
    }
    return found, torch.from_numpy, lambda y: y


def _leaves(y: Any) -> list[Any]:
    return list(y) if isinstance(y, tuple | list) else [y]


LIBRARIES = {"numpy": of_numpy, "mycelia": of_mycelia, "torch": of_torch, "jax": of_jax}


def timed(library: str, only: list[str], rounds: int) -> dict[str, float]:
    """Seconds of each case; nan where the library has none."""
    functions, given, done = LIBRARIES[library]()
    found = {}
    for name, (kind, shape, dtype) in CASES.items():
        if only and not any(word in name for word in only):
            continue
        inputs = [given(x) for x in drawn(kind, shape, dtype)]
        try:
            done(functions[kind](*inputs))
            best = float("inf")
            for _ in range(rounds):
                start = time.perf_counter()
                done(functions[kind](*inputs))
                best = min(best, time.perf_counter() - start)
            found[name] = best
        except Exception as error:
            print(f"{library}: {name}: {error}", file=sys.stderr)
            found[name] = float("nan")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, help="a folder with environments torch and jax")
    parser.add_argument("--only", nargs="*", default=[], help="cases with one of these words in their names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--library", choices=LIBRARIES, help="print the seconds of one library, as JSON")
    options = parser.parse_args()
    if options.library:
        print(json.dumps(timed(options.library, options.only, options.rounds)))
        return
    found: dict[str, dict[str, float]] = {}
    for library in list(LIBRARIES) * options.turns:
        python = sys.executable
        if library in ("torch", "jax"):
            python = str(options.peers / library / "bin" / "python") if options.peers else ""
            if not Path(python).exists():
                continue
        command = [python, __file__, "--library", library, "--rounds", str(options.rounds), "--only", *options.only]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds = json.loads(run.stdout.splitlines()[-1])
        found[library] = {name: min(t, found.get(library, seconds)[name]) for name, t in seconds.items()}
    ours = found.pop("mycelia")
    within = 0
    for name, seconds in ours.items():
        others = {lib: t[name] for lib, t in found.items() if t[name] == t[name]}
        best = min(others, key=others.__getitem__)
        ratio = seconds / others[best]
        within += ratio <= 1.0
        print(
            f"{name:22s} {seconds * 1e3:10.3f} ms   {best:6s} {others[best] * 1e3:10.3f} ms   {ratio:6.2f}", flush=True
        )
    print(f"{within} of {len(ours)} at most 1.0 of the best")


if __name__ == "__main__":
    main()
