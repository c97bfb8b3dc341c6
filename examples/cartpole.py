"""Reinforcement learning: a cart learns to balance a pole, by the policy gradient (REINFORCE).

python examples/cartpole.py            until it stands for 200 steps, or 300 rounds
python examples/cartpole.py --quick    a few rounds, to see that it runs
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import compiled_step

LONGEST = 200


class CartPole:
    """Poles on carts: place and speed of the cart, angle and speed of the pole (Barto, Sutton, Anderson, 1983)."""

    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.state = rng.uniform(-0.05, 0.05, (count, 4))

    def step(self, right: np.ndarray) -> np.ndarray:
        """Push each cart to one side; which poles still stand."""
        x, v, angle, turn = self.state.T
        force = np.where(right, 10.0, -10.0)
        sin, cos = np.sin(angle), np.cos(angle)
        pushed = (force + 0.05 * turn**2 * sin) / 1.1
        turned = (9.8 * sin - cos * pushed) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        moved = pushed - 0.05 * turned * cos / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * moved, angle + 0.02 * turn, turn + 0.02 * turned], 1)
        return (np.abs(self.state[:, 0]) < 2.4) & (np.abs(self.state[:, 2]) < np.radians(12))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="balance a pole")
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    count, longest, rounds = (4, 20, 2) if quick else (16, LONGEST, 300)
    net = nn.SequentialCell(nn.Dense(4, 64), nn.Tanh(), nn.Dense(64, 2))
    policy = ms.jit(net)

    def loss(states: ms.Tensor, actions: ms.Tensor, advantages: ms.Tensor) -> ms.Tensor:
        logs = ops.log_softmax(net(states), -1)
        return -ops.sum(ops.gather_elements(logs, 1, actions[:, None])[:, 0] * advantages) / count

    step = compiled_step(loss, nn.Adam(net.trainable_params(), 0.01))
    for number in range(rounds):
        carts, alive = CartPole(count, rng), np.ones((count,), bool)
        states = np.zeros((longest, count, 4), np.float32)  # rows of fallen poles stay 0 and count for nothing
        actions, rewards = np.zeros((longest, count), np.int32), np.zeros((longest, count), np.float32)
        for t in range(longest):
            states[t] = carts.state * alive[:, None]
            scores = policy(ms.Tensor(states[t])).asnumpy()
            right = rng.random(count) < 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
            actions[t], rewards[t] = right, alive
            alive &= carts.step(right)
        gained = np.flip(np.cumsum(np.flip(rewards, 0), 0), 0)
        advantages = rewards * (gained - gained.sum(1, keepdims=True) / np.maximum(rewards.sum(1, keepdims=True), 1))
        step(ms.Tensor(states.reshape(-1, 4)), ms.Tensor(actions.reshape(-1)), ms.Tensor(advantages.reshape(-1)))
        stood = rewards.sum(0).mean()
        if number % 10 == 0 or stood >= 0.975 * longest or number == rounds - 1:
            print(f"round {number + 1}: the poles stand for {stood:.0f} steps")
        if stood >= 0.975 * longest:
            break


if __name__ == "__main__":
    main()
