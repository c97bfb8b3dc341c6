"""Asks MindSpore what members of Cell do: python record_members.py, where MindSpore is installed.

It is to be run in a folder of its own: MindSpore writes there.
"""

import json
from pathlib import Path

import mindspore
from members import CASES

HERE = Path(__file__).resolve().parent
told = {name: case(mindspore) for name, case in CASES.items()}
(HERE / "members.json").write_text(json.dumps(told, indent=1) + "\n")
