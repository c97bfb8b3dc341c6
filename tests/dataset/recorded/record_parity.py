"""Record what MindSpore answers to parity_cases.py: `python record_parity.py`, with MindSpore 2.10 installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def one(name: str) -> None:
    """Print one case; in a process of its own, since some of them hang."""
    import mindspore.dataset as ds
    from mindspore import mindrecord
    from parity_cases import CASES

    with tempfile.TemporaryDirectory() as folder:
        print("\n" + json.dumps(CASES[name](ds, mindrecord, Path(folder))), flush=True)


def main() -> None:
    """Write parity.json."""
    from parity_cases import CASES

    told = {}
    for name in CASES:
        try:
            done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=40)
            told[name] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
            if done.returncode:
                print(name, done.stderr[-1500:], file=sys.stderr)
        except subprocess.TimeoutExpired:
            told[name] = None
            print(name, "hangs", file=sys.stderr)
    Path(__file__).with_name("parity.json").write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    one(sys.argv[1]) if len(sys.argv) > 1 else main()
