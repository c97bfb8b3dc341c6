"""The price of an American put: a binomial tree backwards in time, and Black and Scholes for the European one."""

import numpy as np


def tree(spot, strike, rate, sigma, years, n):
    dt = years / n
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    price = spot * up ** np.arange(n, -n - 1, -2)
    value = np.maximum(strike - price, 0)
    for _ in range(n - 1, -1, -1):
        value = np.exp(-rate * dt) * (p * value[:-1] + (1 - p) * value[1:])
        price = price[:-1] / up
        value = np.maximum(value, strike - price)
    return value[0]


def normal(x):
    t = 1 / (1 + 0.2316419 * np.abs(x))
    poly = np.polyval([1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530, 0.0], t)
    tail = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * poly
    return np.where(x >= 0, 1 - tail, tail)


def european(spot, strike, rate, sigma, years):
    d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * np.sqrt(years))
    d2 = d1 - sigma * np.sqrt(years)
    return strike * np.exp(-rate * years) * normal(-d2) - spot * normal(-d1)


def run(spots, strike, rate, sigma, years, n):
    american = np.array([tree(s, strike, rate, sigma, years, n) for s in spots])
    plain = european(spots, strike, rate, sigma, years)
    return american, plain, american - plain


def inputs(size):
    return np.linspace(80.0, 120.0, 5), 100.0, 0.05, 0.2, 1.0, size
