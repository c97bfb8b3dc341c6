"""Time Mycelia beside the other frameworks that are installed, in one run, interleaved: `make bench`.

The harness is no part of this repository. It is looked for where `--home` or the variable BENCH_HOME says, else in
`../shared/bench`; its README tells how the frameworks are installed. Nothing is installed from here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = (
    "eager_add,eager_chain10_grad,ew_chain_16M,softmax,softmax_grad,layernorm,layernorm_grad,sum_axis0,sum_axis1,"
    "matmul_1024,bmm_64x128,mlp_train,lenet_train,gpt_train,while_grad,tree_grad,hvp,hessian,per_sample_grad"
)
PEERS = "torch,torch_m,jax,jax_m"


def main() -> None:
    """Run the cases, then print how Mycelia's best way compares with the best way of any other."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--home", type=Path, default=os.environ.get("BENCH_HOME", ROOT.parent / "shared" / "bench"))
    options.add_argument("--cases", default=CASES)
    options.add_argument("--peers", default=PEERS, help="those that are not installed are left out")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seconds", type=float, default=0.4, help="of one turn")
    given = options.parse_args()
    if not (given.home / "run_all.py").is_file():
        sys.exit(f"the harness is not at {given.home}: say where it is with --home or BENCH_HOME")
    sys.path.insert(0, str(given.home))
    import common  # the harness's, for units and interpreters
    import home

    installed = [peer for peer in given.peers.split(",") if Path(common.python_of(peer)).is_file()]
    name = f"mycelia-{time.strftime('%Y%m%d-%H%M%S')}"
    paths = os.pathsep.join(filter(None, [str(ROOT / "benchmarks" / "start"), str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {
        "MYCELIA_PEER": str(ROOT / "benchmarks" / "mycelia_peer.py"),
        "MYCELIA_PYTHON": sys.executable,
        "PYTHONPATH": paths,
    }
    peers = ",".join(["mycelia", *installed])
    command = [sys.executable, given.home / "run_all.py", "--peers", peers, "--cases", given.cases, "--name", name]
    command += ["--threads", str(given.threads), "--seconds", str(given.seconds)]
    subprocess.run([str(part) for part in command], env=environment, check=True)
    report(Path(home.HOME) / "results" / f"{name}.jsonl", common)


def report(path: Path, common: object) -> None:
    """A line for each case: Mycelia's time, the best other, and the ratio; below 1 Mycelia is faster."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print(f"\n{'case':20} {'mycelia':>22} {'best other':>28} {'ratio':>7}")
    for name in dict.fromkeys(row["case"] for row in rows):
        case = common.CASES[name]  # type: ignore[attr-defined]  # a module of the harness
        scale = (1e6 if case.unit.startswith("us") else 1e3) / case.inner
        timed = sorted((row for row in rows if row["case"] == name and "min_s" in row), key=lambda row: row["min_s"])
        ours = next((row for row in timed if row["peer"] == "mycelia"), None)
        other = next((row for row in timed if row["peer"] != "mycelia"), None)
        cells = [f"{row['min_s'] * scale:.3g} {case.unit} {row['mode']}" if row else "failed" for row in (ours, other)]
        cells[1] = f"{cells[1]} {other['peer']}" if other else "none"
        ratio = f"{ours['min_s'] / other['min_s']:.2f}" if ours and other else ""
        print(f"{name:20} {cells[0]:>22} {cells[1]:>28} {ratio:>7}")


if __name__ == "__main__":
    main()
