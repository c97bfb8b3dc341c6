"""A time series: a GRU foretells the next day from the last thirty, beside guessing that nothing changes.

`--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import compiled_step

DAYS = 30


class Forecast(nn.Cell):
    """The next number of a series, as a change of the last one."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gru, self.head = nn.GRU(1, hidden, batch_first=True), nn.Dense(hidden, 1)

    def construct(self, past: ms.Tensor) -> ms.Tensor:
        seen, _ = self.gru(past[:, :, None])
        return past[:, -1] + self.head(seen[:, -1])[:, 0]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="foretell a series")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    t = np.arange(2000)
    series = np.sin(t / 7) + 0.5 * np.sin(t / 31) + 0.1 * rng.normal(size=t.size)
    windows = np.lib.stride_tricks.sliding_window_view(series, DAYS + 1).astype(np.float32)
    learning, testing = windows[:1500], windows[1500:]
    net = Forecast(8 if quick else 32)
    step = compiled_step(lambda x, y: ops.mean(ops.square(net(x) - y)), nn.Adam(net.trainable_params(), 5e-3), 1.0)
    for _ in range(10 if quick else 600):
        batch = learning[rng.integers(0, len(learning), 32)]
        step(ms.Tensor(batch[:, :-1].copy()), ms.Tensor(batch[:, -1].copy()))
    guessed = net(ms.Tensor(testing[:, :-1].copy())).asnumpy()
    ours, same = (float(np.sqrt(np.mean((x - testing[:, -1]) ** 2))) for x in (guessed, testing[:, -2]))
    print(f"off by {ours:.3f}; who says that nothing changes is off by {same:.3f}")


if __name__ == "__main__":
    main()
