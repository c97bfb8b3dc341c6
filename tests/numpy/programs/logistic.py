"""Logistic regression by gradient descent with momentum, and how good it is."""

import numpy as np


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def run(x, y, turns, rate):
    x = np.hstack([x, np.ones((x.shape[0], 1))])
    w = np.zeros(x.shape[1])
    velocity = np.zeros_like(w)
    losses = np.zeros(turns)
    for t in range(turns):
        p = sigmoid(x @ w)
        losses[t] = -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))
        gradient = x.T @ (p - y) / len(y)
        velocity = 0.9 * velocity - rate * gradient
        w += velocity
    guess = sigmoid(x @ w) > 0.5
    truth = y > 0.5
    table = np.array(
        [[np.sum(guess & truth), np.sum(guess & ~truth)], [np.sum(~guess & truth), np.sum(~guess & ~truth)]]
    )
    return w, losses, table


def inputs(size):
    i = np.arange(size * 10)
    x = np.stack([np.sin(i * 1.3), np.cos(i * 0.7), np.sin(i * 3.1) ** 2], axis=1)
    return x, (x @ np.array([2.0, -1.0, 0.5]) + 0.2 * np.sin(i * 91.7) > 0.1).astype(np.float64), 60, 0.5
