"""A Kalman filter for a moving thing that is seen with noise, and its likelihood."""

import numpy as np


def run(seen, dt):
    F = np.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=np.float64)
    H = np.eye(2, 4)
    Q = 0.01 * np.eye(4)
    R = 0.25 * np.eye(2)
    x = np.zeros(4)
    P = 10.0 * np.eye(4)
    path = np.zeros((len(seen), 4))
    score = 0.0
    for t, z in enumerate(seen):
        x = F @ x
        P = F @ P @ F.T + Q
        y = z - H @ x
        S = H @ P @ H.T + R
        K = np.linalg.solve(S.T, (P @ H.T).T).T
        x = x + K @ y
        P = (np.eye(4) - K @ H) @ P
        _, logdet = np.linalg.slogdet(2 * np.pi * S)
        score -= 0.5 * (logdet + y @ np.linalg.solve(S, y))
        path[t] = x
    return path, P, score


def inputs(size):
    t = np.arange(size) * 0.1
    return np.stack([t + 0.3 * np.sin(t * 57), 0.5 * t**2 / 5 + 0.3 * np.cos(t * 91)], axis=1), 0.1
