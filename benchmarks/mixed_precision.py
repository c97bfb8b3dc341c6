"""Training steps in 32 and in 16 bits, beside each other: `python benchmarks/mixed_precision.py`."""

from __future__ import annotations

from time import perf_counter

import numpy as np

import mycelia as ms
from mycelia import amp, nn

ROUNDS = 30


class Lenet(nn.Cell):
    """A small network of convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(), nn.Dense(256, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
        )  # fmt: skip

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.layers(x)


def mlp() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))


def step_of(make: type | object, level: str, dtype: object, scaled: bool) -> ms.jit:
    ms.set_seed(1)
    net = make()
    manager = amp.DynamicLossScaleManager(2**10) if scaled else None
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    options = {"cast_model_type": dtype, "loss_scale_manager": manager}
    return ms.jit(amp.build_train_network(net, optimizer, nn.CrossEntropyLoss(), level, **options))


def main() -> None:
    rng = np.random.default_rng(0)
    labels = ms.Tensor(rng.integers(0, 10, 128).astype(np.int32))
    for name, make, shape in (("mlp", mlp, (128, 784)), ("lenet", Lenet, (128, 1, 28, 28))):
        x = ms.Tensor(rng.normal(size=shape).astype(np.float32))
        ways = {
            "float32": ("O0", ms.float16, False),
            "float32, scaled": ("O0", ms.float16, True),
            "float16 O2": ("O2", ms.float16, False),
            "float16 O2, scaled": ("O2", ms.float16, True),
            "bfloat16 O1": ("O1", ms.bfloat16, False),
            "bfloat16 O2": ("O2", ms.bfloat16, False),
        }
        steps = {way: step_of(make, *options) for way, options in ways.items()}
        times: dict[str, list[float]] = {way: [] for way in ways}
        for i in range(ROUNDS):
            for way, step in steps.items():
                begin = perf_counter()
                step(x, labels)
                if i > 2:
                    times[way].append(perf_counter() - begin)
        base = float(np.median(times["float32"]))
        for way, took in times.items():
            print(f"{name:6} {way:20} {np.median(took) * 1e3:8.3f} ms   {np.median(took) / base:.2f} of float32")


if __name__ == "__main__":
    main()
