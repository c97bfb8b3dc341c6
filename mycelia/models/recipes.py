"""How such networks are trained, as functions: a compiled step, a classifier, two networks against one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from mycelia import checks, nn, ops
from mycelia.api.grad import value_and_grad
from mycelia.api.jit import jit
from mycelia.eager import Tensor
from mycelia.models.gan import Discriminator, Generator, is_real
from mycelia.train.model import Model


def compiled_step(loss: Callable[..., Tensor], optimizer: nn.Optimizer, largest: float | None = None) -> Any:
    """A step of training as one native call: `loss` of its arguments, gradients, and an update. The norm of all
    gradients together is cut to `largest`.

    >>> net = nn.Dense(2, 1)
    >>> step = compiled_step(lambda x: net(x).sum(), nn.SGD(net.trainable_params(), 0.1), largest=1.0)
    >>> step(ops.ones((4, 2))).item() > step(ops.ones((4, 2))).item()
    True
    """
    gradient = value_and_grad(loss, None, optimizer.parameters)

    def step(*args: Any) -> Tensor:
        value, gradients = gradient(*args)
        if largest is not None:
            gradients = ops.clip_by_global_norm(gradients, largest)
        optimizer(gradients)
        return value  # type: ignore[no-any-return]

    return jit(step)


def warm_cosine(rate: float, steps: int, warmup: int = 0) -> list[float]:
    """A learning rate for each step: rising evenly at first, then half a cosine down to nothing.

    >>> [round(r, 3) for r in warm_cosine(1.0, 5, warmup=2)]
    [0.5, 1.0, 1.0, 0.75, 0.25]
    """
    checks.whole("warm_cosine", "steps", steps, least=1)
    checks.whole("warm_cosine", "warmup", warmup, least=0)
    rest = max(steps - warmup, 1)
    return [
        rate * (n + 1) / warmup if n < warmup else rate * 0.5 * (1 + math.cos(math.pi * (n - warmup) / rest))
        for n in range(steps)
    ]


def classifier(
    net: nn.Cell, data: Any, epochs: int, rate: float = 0.1, *, momentum: float = 0.9, weight_decay: float = 1e-4,
    smoothing: float = 0.0, level: str = "O0", warmup: int = 0,
) -> Model:  # fmt: skip
    """A `Model` of a classifier of pictures as they are trained since ResNet: momentum, decayed weights of layers (not
    of biases and normalisations), a warm cosine; ready to `train` and `fit` on batches of `data`.

    >>> import numpy as np
    >>> from mycelia.dataset import NumpySlicesDataset
    >>> rows = {"x": np.ones((8, 4), np.float32), "y": np.zeros(8, np.int32)}
    >>> data = NumpySlicesDataset(rows, shuffle=False).batch(4)
    >>> net = nn.Dense(4, 2)
    >>> classifier(net, data, epochs=2, rate=0.01).train(2, data)
    """
    steps = checks.whole("classifier", "epochs", epochs, least=1) * data.get_dataset_size()
    rates = warm_cosine(rate, steps, warmup)
    layers = [p for p in net.trainable_params() if len(p.shape) > 1]
    others = [p for p in net.trainable_params() if len(p.shape) <= 1]
    groups: list[dict[str, Any]] = [{"params": layers, "weight_decay": weight_decay}]
    groups += [{"params": others, "weight_decay": 0.0}] if others else []
    groups.append({"order_params": net.trainable_params()})
    optimizer = nn.Momentum(groups, rates, momentum)
    loss = nn.CrossEntropyLoss(label_smoothing=smoothing)
    return Model(net, loss, optimizer, metrics={"accuracy"}, amp_level=level)


def adversarial_steps(
    generator: Generator, discriminator: Discriminator, rate: float = 2e-4
) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """A step of both networks of a GAN: the loss of who tells, and of who makes, after each has learnt.

    >>> step = adversarial_steps(Generator(8, 2, 4), Discriminator(8, 4))
    >>> [x.shape for x in step(ops.zeros((3, 8)))]
    [(), ()]
    """
    tells = compiled_step(
        lambda real, made: is_real(discriminator(real), True) + is_real(discriminator(made), False),
        nn.Adam(discriminator.trainable_params(), rate, beta1=0.5),
    )
    makes = compiled_step(
        lambda noise: is_real(discriminator(generator(noise)), True),
        nn.Adam(generator.trainable_params(), rate, beta1=0.5),
    )

    def step(real: Tensor) -> tuple[Tensor, Tensor]:
        noise = ops.randn((real.shape[0], generator.noise))
        return tells(real, generator(noise)), makes(ops.randn(noise.shape))

    return step


def freeze(cells: Iterable[nn.Cell]) -> int:
    """Train these cells no more, as transfer learning does with what was learnt elsewhere; how many weights rest.

    >>> freeze([nn.Dense(2, 3)])
    9
    """
    resting = [p for cell in cells for p in cell.get_parameters()]
    for p in resting:
        p.requires_grad = False
    return sum(p.size for p in resting)
