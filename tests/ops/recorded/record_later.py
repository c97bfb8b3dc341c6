"""What MindSpore answers to the cases of `later_cases`: writes later.json.

PYTHON tests/ops/recorded/record_later.py      PYTHON is an interpreter that has MindSpore
"""

import json
import warnings
from pathlib import Path

import mindspore as ms
import numpy as np
from later_cases import CASES, numbers  # which asks the framework that was loaded before
from mindspore import Tensor

warnings.simplefilter("ignore")
ms.set_context(mode=ms.PYNATIVE_MODE)


def plain(x):
    """Numbers as lists, rounded to what single precision tells."""
    found = x if isinstance(x, tuple | list) else (x,)
    return [np.asarray(t.asnumpy(), np.float64).round(7).tolist() for t in found]


said = {}


def total(call):
    """The sum of the first result."""

    def first(x):
        out = call(x)
        return (out[0] if isinstance(out, tuple) else out).sum()

    return first


for name, (call, shape) in CASES.items():
    x = Tensor(numbers(shape))
    try:
        said[name] = {"value": plain(call(x))}
    except Exception as error:
        print(name, "value", str(error).split("\n")[0][:150])
        continue
    try:
        said[name]["gradient"] = plain(ms.grad(total(call))(x))[0]
    except Exception as error:
        print(name, "gradient", str(error).split("\n")[0][:150])
(Path(__file__).parent / "later.json").write_text(json.dumps(said))
