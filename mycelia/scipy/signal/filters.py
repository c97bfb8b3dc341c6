"""Filters: recurrences in time, in both directions, of medians and polynomials; trends."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import fft
from mycelia.numpy.creation import asarray
from mycelia.numpy.padding import pad
from mycelia.numpy.products import together
from mycelia.ops.arguments import axis_of, floated
from mycelia.scipy.signal.convolution import convolve
from mycelia.types import float64

__all__ = [
    "butter",
    "detrend",
    "filtfilt",
    "freqz",
    "hilbert",
    "hilbert2",
    "lfilter",
    "lfilter_zi",
    "medfilt",
    "resample",
    "savgol_coeffs",
    "savgol_filter",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "sosfreqz",
    "upfirdn",
    "wiener",
]  # fmt: skip


def _padded(x: Tensor, count: int) -> Tensor:
    return ops.cat([x, ops.zeros((count - x.shape[0],), x.dtype)], 0) if count > x.shape[0] else x


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal filtered along an axis: a[0] y[n] = b[0] x[n] + ... + b[m] x[n-m] - a[1] y[n-1] - ... - a[k] y[n-k].
    With `zi`, the state at the beginning, the state at the end comes too.

    The recurrence is computed in log2(n) rounds, in each of which all numbers look twice as far back: in vectors, and
    differentiable in the signal and in the filter.

    >>> lfilter([1.0], [1.0, -0.5], [1.0, 0.0, 0.0]).tolist()
    [1.0, 0.5, 0.25]
    """
    up, down, signal = map(floated, together(b, a, x))
    if up.ndim > 1 or down.ndim > 1 or not up.size or not down.size:
        raise ShapeError("a filter is given by two vectors", given={"b": up.shape, "a": down.shape})
    up, down = (ops.reshape(v, (-1,)) for v in (up, down))
    order = max(up.shape[0], down.shape[0])
    up, down = _padded(up, order) / down[0], _padded(down, order) / down[0]
    where = axis_of(signal, axis)
    moved = ops.moveaxis(signal, where, -1)
    n = moved.shape[-1]
    state = None
    if zi is not None:
        state = ops.moveaxis(asarray(zi, signal.dtype), where, -1)
        if state.shape[-1] != order - 1:
            raise ShapeError(f"a state has {order - 1} numbers", given={"zi": asarray(zi).shape})
        state = ops.broadcast_to(state, (*moved.shape[:-1], order - 1))
    driven = _driven(up, moved, n, state)
    out = _recurred(down, driven) if order > 1 and n else driven
    if state is None:
        return ops.moveaxis(out, -1, where)
    final = _final(up, down, moved, out, state, order - 1)
    return ops.moveaxis(out, -1, where), ops.moveaxis(final, -1, where)


def _driven(up: Tensor, x: Tensor, n: int, state: Tensor | None) -> Tensor:
    """The part of the recurrence without what was given before."""
    rank = x.ndim
    wide = pad(x, [(0, 0)] * (rank - 1) + [(up.shape[0] - 1, 0)])
    out = sum(up[k] * wide[..., up.shape[0] - 1 - k : up.shape[0] - 1 - k + n] for k in range(up.shape[0]))
    if state is not None and state.shape[-1]:
        kept = state[..., :n]
        out = out + pad(kept, [(0, 0)] * (rank - 1) + [(0, n - kept.shape[-1])])
    return out


def _recurred(down: Tensor, driven: Tensor) -> Tensor:
    """y[n] = w[n] - a[1] y[n-1] - ...: a state of the last outputs, multiplied by one matrix at each step."""
    order, n = down.shape[0] - 1, driven.shape[-1]
    unit = ops.eye(order, dtype=down.dtype)
    step = ops.cat([ops.reshape(-down[1:], (1, -1)), unit[:-1]], 0)
    states = ops.expand_dims(driven, -1) * unit[0]
    reach = 1
    while reach < n:
        earlier = pad(states, [(0, 0)] * (states.ndim - 2) + [(reach, 0), (0, 0)])[..., :n, :]
        states = states + ops.matmul(earlier, step.T)
        reach *= 2
        step = ops.matmul(step, step) if reach < n else step
    return states[..., 0]


def _final(up: Tensor, down: Tensor, x: Tensor, y: Tensor, state: Tensor, count: int) -> Tensor:
    n, rank = x.shape[-1], x.ndim
    if not count:
        return state
    late = pad(state, [(0, 0)] * (rank - 1) + [(0, n)])[..., n : n + count]  # what has not yet been given
    wide, given = (pad(v, [(0, 0)] * (rank - 1) + [(count, 0)]) for v in (x, y))
    end = wide.shape[-1]
    parts = []
    for i in range(count):
        total = late[..., i]
        for j in range(count - i):
            place = end - 1 - j
            total = total + up[i + 1 + j] * wide[..., place] - down[i + 1 + j] * given[..., place]
        parts.append(total)
    return ops.stack(parts, -1)


def lfilter_zi(b: Any, a: Any) -> Tensor:
    """The state in which a filter gives a constant for a constant from the beginning.

    >>> [round(v, 4) for v in lfilter_zi([1.0], [1.0, -0.5]).tolist()]
    [1.0]
    """
    up, down = map(floated, together(b, a))
    order = max(up.shape[0], down.shape[0])
    up, down = _padded(up, order) / down[0], _padded(down, order) / down[0]
    size = order - 1
    if not size:
        return ops.zeros((0,), up.dtype)
    unit = ops.eye(size, dtype=up.dtype)
    first = ops.cat([ops.expand_dims(down[1:], 1), ops.zeros((size, size - 1), up.dtype)], 1)
    upper = ops.pad(unit[:-1, :-1], (1, 0, 0, 1)) if size > 1 else ops.zeros_like(unit)
    right = up[1:] - down[1:] * up[0]
    return ops.squeeze(ops.matrix_solve(unit + first - upper, ops.expand_dims(right, 1)), -1)


def _extended(x: Tensor, axis: int, padtype: Any, padlen: int) -> Tensor:
    if padtype not in ("even", "odd", "constant", None):
        raise ArgumentError(f"there is no padding {padtype!r}", hint='"odd", "even", "constant" or None')
    if not padlen or padtype is None:
        return x
    if x.shape[axis] <= padlen:
        raise ShapeError(f"a signal must be longer than the {padlen} numbers added", given={"shape": x.shape})
    around = [(padlen, padlen) if i == axis else (0, 0) for i in range(x.ndim)]
    if padtype == "constant":
        return pad(x, around, "edge")
    return pad(x, around, "reflect", reflect_type=padtype)


def filtfilt(b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None) -> Tensor:
    """A signal filtered forwards and backwards, so that nothing moves in time; its ends are continued first.

    >>> filtfilt([1.0], [1.0], [1.0, 2.0, 3.0, 4.0]).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    up, down, signal = map(floated, together(b, a, x))
    where = axis_of(signal, axis)
    edge = 3 * max(up.shape[0], down.shape[0]) if padlen is None else padlen
    edge = 0 if padtype is None else edge
    wide = ops.moveaxis(_extended(signal, where, padtype, edge), where, -1)
    state = lfilter_zi(up, down)
    forth, _ = lfilter(up, down, wide, -1, state * wide[..., :1])
    turned = ops.flip(forth, (forth.ndim - 1,))
    back, _ = lfilter(up, down, turned, -1, state * turned[..., :1])
    out = ops.flip(back, (back.ndim - 1,))
    out = out[..., edge : out.shape[-1] - edge] if edge else out
    return ops.moveaxis(out, -1, where)


def _sections(sos: Any) -> Tensor:
    found = floated(asarray(sos))
    if found.ndim != 2 or found.shape[1] != 6:
        raise ShapeError("sections are rows of six numbers: three of b, three of a", given={"sos": found.shape})
    return found


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through filters of order 2, one after the other.

    >>> sosfilt([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]], [1.0, 0.0, 0.0]).tolist()
    [1.0, 0.5, 0.25]
    """
    sections, signal = together(_sections(sos), floated(asarray(x)))
    where = axis_of(signal, axis)
    states = []
    for i in range(sections.shape[0]):
        up, down = sections[i, :3], sections[i, 3:]
        if zi is None:
            signal = lfilter(up, down, signal, where)
        else:
            signal, state = lfilter(up, down, signal, where, asarray(zi)[i])
            states.append(state)
    return signal if zi is None else (signal, ops.stack(states))


def sosfilt_zi(sos: Any) -> Tensor:
    """The states in which filters give a constant for a constant from the beginning.

    >>> sosfilt_zi([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).shape
    (1, 2)
    """
    sections = _sections(sos)
    scale, found = ops.ones((), sections.dtype), []
    for i in range(sections.shape[0]):
        up, down = sections[i, :3], sections[i, 3:]
        found.append(scale * lfilter_zi(up, down))
        scale = scale * (ops.sum(up) / ops.sum(down))
    return ops.stack(found)


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None) -> Tensor:
    """A signal through filters of order 2, forwards and backwards.

    >>> sosfiltfilt([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]], [1.0, 2.0, 3.0, 4.0, 5.0], padlen=1).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    sections, signal = together(_sections(sos), floated(asarray(x)))
    count = sections.shape[0]
    numbers = sections.numbers()
    least = 2 * count + 1 - min(int((numbers[:, 2] == 0).sum()), int((numbers[:, 5] == 0).sum()))
    edge = 0 if padtype is None else 3 * least if padlen is None else padlen
    where = axis_of(signal, axis)
    wide = ops.moveaxis(_extended(signal, where, padtype, edge), where, -1)
    state = sosfilt_zi(sections)
    state = ops.reshape(state, (count, *[1] * (wide.ndim - 1), 2))
    forth, _ = sosfilt(sections, wide, -1, state * wide[..., :1])
    turned = ops.flip(forth, (forth.ndim - 1,))
    back, _ = sosfilt(sections, turned, -1, state * turned[..., :1])
    out = ops.flip(back, (back.ndim - 1,))
    out = out[..., edge : out.shape[-1] - edge] if edge else out
    return ops.moveaxis(out, -1, where)


def butter(N: int, Wn: Any, btype: str = "low", output: str = "ba", fs: float | None = None) -> Any:
    """The filter of Butterworth of order N, which lets pass what is below ("low") or above ("high") a frequency; as
    vectors b and a ("ba"), or as filters of order 2 ("sos").

    >>> [[round(v, 4) for v in t.tolist()] for t in butter(1, 0.5)]
    [[0.5, 0.5], [1.0, 0.0]]
    """
    kind = {"low": "low", "lowpass": "low", "lp": "low", "high": "high", "highpass": "high", "hp": "high"}.get(btype)
    if kind is None:
        raise ArgumentError(f"there is no kind {btype!r}", hint='"low" or "high"')
    if output not in ("ba", "sos"):
        raise ArgumentError(f"there is no output {output!r}", hint='"ba" or "sos"')
    share = float(Wn) if fs is None else 2.0 * float(Wn) / fs
    if not 0 < share < 1:
        raise ArgumentError("a frequency lies between 0 and half the sampling rate", given={"Wn": Wn, "fs": fs})
    if N < 1:
        raise ArgumentError(f"the order is 1 or more, not {N}")
    warped = 4.0 * numpy.tan(numpy.pi * share / 2)
    analog = -numpy.exp(1j * numpy.pi * numpy.arange(-N + 1, N, 2) / (2 * N))
    poles = warped * analog if kind == "low" else warped / analog
    gain = warped**N if kind == "low" else 1.0
    zeros = numpy.full(N, -1.0 if kind == "low" else 1.0)
    fast = 4.0 + 0j
    if kind == "low":
        gain = gain * numpy.real(1 / numpy.prod(fast - poles))
    else:
        gain = numpy.real(fast**N / numpy.prod(fast - poles)) * numpy.real(1 / numpy.prod(-analog))
    poles = (fast + poles) / (fast - poles)
    if output == "ba":
        return Tensor(gain * numpy.poly(zeros)), Tensor(numpy.real(numpy.poly(poles)))
    return Tensor(_paired(zeros, poles, gain))


def _paired(zeros: Any, poles: Any, gain: float) -> Any:
    """Sections of order 2: those whose poles are nearest to the circle come last."""
    left = sorted((p for p in poles if p.imag > 1e-12), key=lambda p: abs(1 - abs(p)))
    real = [p.real for p in poles if abs(p.imag) <= 1e-12]
    rows = [numpy.concatenate([numpy.poly(zeros[:2]), numpy.real(numpy.poly([p, p.conjugate()]))]) for p in left]
    rows.extend(numpy.array([1.0, -zeros[0], 0.0, 1.0, -p, 0.0]) for p in real)
    rows.reverse()
    rows[0][:3] *= gain
    return numpy.array(rows)


def freqz(b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, fs: float = 2 * numpy.pi) -> tuple[Tensor, Tensor]:
    """Frequencies, and how a filter answers to them.

    >>> freqz([1.0], worN=4)[1].shape
    (4,)
    """
    up, down = together(floated(ops.reshape(asarray(b), (-1,))), floated(ops.reshape(asarray(a), (-1,))))
    if isinstance(worN, int) and not isinstance(worN, bool):
        turns = numpy.linspace(0, 2 * numpy.pi if whole else numpy.pi, worN, endpoint=False)
    else:
        turns = 2 * numpy.pi * asarray(worN).numbers().astype("float64") / fs
    return Tensor(turns * (fs / (2 * numpy.pi))), _answer(up, turns) / _answer(down, turns)


def _answer(weights: Tensor, turns: Any) -> Tensor:
    waves = numpy.exp(-1j * turns[:, None] * numpy.arange(weights.shape[0]))
    waves = waves.astype("complex128" if weights.dtype is float64 else "complex64")
    return ops.squeeze(ops.matmul(Tensor(waves), ops.expand_dims(ops.cast(weights, Tensor(waves).dtype), 1)), -1)


def sosfreqz(sos: Any, worN: Any = 512, whole: bool = False, fs: float = 2 * numpy.pi) -> tuple[Tensor, Tensor]:
    """Frequencies, and how filters of order 2, one after the other, answer to them.

    >>> sosfreqz([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]], 4)[1].shape
    (4,)
    """
    sections = _sections(sos)
    out: Any = None
    for i in range(sections.shape[0]):
        places, one = freqz(sections[i, :3], sections[i, 3:], worN, whole, fs)
        out = one if out is None else out * one
    return places, out


# ---------------------------------------------------------------------------------------------------- other filters


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0) -> Tensor:
    """A signal without its straight line, or without its mean ("constant"), piece by piece between break points.

    >>> [round(abs(v), 4) for v in detrend([1.0, 2.0, 3.0]).tolist()]
    [0.0, 0.0, 0.0]
    """
    if type not in ("linear", "l", "constant", "c"):
        raise ArgumentError(f"there is no trend {type!r}", hint='"linear" or "constant"')
    x = floated(asarray(data))
    where = axis_of(x, axis)
    if type in ("constant", "c"):
        return x - ops.mean(x, where, True)
    moved = ops.moveaxis(x, where, -1)
    n = moved.shape[-1]
    breaks = sorted({0, n, *numpy.atleast_1d(numpy.asarray(bp)).astype(int).tolist()})
    if breaks[0] < 0 or breaks[-1] > n:
        raise ArgumentError("break points lie inside of the signal", given={"bp": bp, "length": n})
    parts = []
    for first, last in pairwise(breaks):
        piece = moved[..., first:last]
        time = numpy.arange(1, last - first + 1) / (last - first)
        line = numpy.stack([time, numpy.ones_like(time)], 1)
        off = numpy.eye(last - first) - line @ numpy.linalg.pinv(line)
        parts.append(ops.matmul(piece, cast(Tensor(off), x.dtype)))
    return ops.moveaxis(ops.cat(parts, moved.ndim - 1), -1, where)


def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Tensor:
    """The analytic signal, whose imaginary part is turned by a quarter.

    >>> hilbert([1.0, 0.0, -1.0, 0.0]).shape
    (4,)
    """
    signal = floated(asarray(x))
    if signal.dtype.kind == "c":
        raise ArgumentError("hilbert takes real signals", hint="give the real part")
    where = axis_of(signal, axis)
    count = signal.shape[where] if N is None else N
    if count <= 0:
        raise ArgumentError(f"N is positive, not {count}")
    weights = numpy.zeros(count)
    weights[0] = 1
    weights[1 : (count + 1) // 2] = 2
    if count % 2 == 0:
        weights[count // 2] = 1
    spectrum = fft.fft(signal, count, where)
    shape = [count if i == where else 1 for i in range(signal.ndim)]
    return fft.ifft(spectrum * ops.cast(Tensor(weights.reshape(shape)), spectrum.dtype), axis=where)


def hilbert2(x: Any, N: Any = None) -> Tensor:
    """The analytic signal of two axes.

    >>> hilbert2([[1.0, 0.0], [0.0, 1.0]]).shape
    (2, 2)
    """
    signal = floated(asarray(x))
    if signal.ndim != 2:
        raise ShapeError("hilbert2 takes signals of two axes", given={"x": signal.shape})
    sizes = signal.shape if N is None else (N, N) if isinstance(N, int) else tuple(N)
    spectrum = fft.fft2(signal, sizes)
    halves = []
    for n in sizes:
        weights = numpy.zeros(n)
        weights[0] = 1
        weights[1 : (n + 1) // 2] = 2
        if n % 2 == 0:
            weights[n // 2] = 1
        halves.append(weights)
    return fft.ifft2(spectrum * ops.cast(Tensor(numpy.outer(*halves)), spectrum.dtype))


def _windows(x: Tensor, sizes: Any) -> Tensor:
    """All numbers around each number, along a last axis; zeros beyond the signal."""
    for n in sizes:
        if n % 2 == 0:
            raise ArgumentError(f"a window has an odd number of elements, not {n}")
    wide = pad(x, [(n // 2, n // 2) for n in sizes])
    places = numpy.ndindex(*sizes)
    parts = [wide[tuple(slice(i, i + e) for i, e in zip(p, x.shape, strict=True))] for p in places]
    return ops.stack(parts, -1)


def medfilt(volume: Any, kernel_size: Any = None) -> Tensor:
    """The median of a window around each number, with zeros beyond the signal.

    >>> medfilt([1.0, 9.0, 2.0]).tolist()
    [1.0, 2.0, 2.0]
    """
    x = asarray(volume)
    sizes = (3,) * x.ndim if kernel_size is None else kernel_size
    sizes = (sizes,) * x.ndim if isinstance(sizes, int) else tuple(sizes)
    around = _windows(x, sizes)
    return ops.sort(around, -1)[0][..., around.shape[-1] // 2]


def wiener(im: Any, mysize: Any = None, noise: float | None = None) -> Tensor:
    """A signal nearer to the mean around each number, the more the less it varies there.

    >>> wiener([1.0, 1.0, 1.0, 1.0, 1.0]).shape
    (5,)
    """
    x = floated(asarray(im))
    sizes = (3,) * x.ndim if mysize is None else mysize
    sizes = (sizes,) * x.ndim if isinstance(sizes, int) else tuple(sizes)
    count = float(numpy.prod(sizes))
    kernel = ops.ones(sizes, x.dtype)
    mean = convolve(x, kernel, "same") / count
    variance = convolve(x * x, kernel, "same") / count - mean * mean
    level = ops.mean(variance) if noise is None else noise
    quiet = variance < level
    safe = ops.where(quiet, ops.ones_like(variance), variance)
    return ops.where(quiet, mean, mean + (x - mean) * (1.0 - level / safe))


def savgol_coeffs(
    window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, pos: int | None = None, use: str = "conv"
) -> Tensor:
    """The weights that give the value, or a derivative, of a polynomial fitted to a window.

    >>> [round(v, 4) for v in savgol_coeffs(3, 1).tolist()]
    [0.3333, 0.3333, 0.3333]
    """
    if polyorder >= window_length:
        raise ArgumentError("a polynomial is of lower order than its window is long")
    if use not in ("conv", "dot"):
        raise ArgumentError(f"use is conv or dot, not {use!r}")
    half = window_length // 2
    middle = (half if window_length % 2 else half - 0.5) if pos is None else pos
    if deriv > polyorder:
        return Tensor(numpy.zeros(window_length))
    places = numpy.arange(-middle, window_length - middle, dtype="float64")
    places = places[::-1] if use == "conv" else places
    table = places ** numpy.arange(polyorder + 1)[:, None]
    wanted = numpy.zeros(polyorder + 1)
    wanted[deriv] = float(numpy.prod(numpy.arange(1, deriv + 1))) / delta**deriv
    return Tensor(numpy.linalg.lstsq(table, wanted, rcond=None)[0])


def savgol_filter(
    x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1, mode: str = "interp"
) -> Tensor:
    """A signal smoothed, or differentiated, by polynomials fitted to windows (Savitzky and Golay).

    >>> [round(v, 4) for v in savgol_filter([1.0, 2.0, 3.0, 4.0], 3, 1).tolist()]
    [1.0, 2.0, 3.0, 4.0]
    """
    edges = {"mirror": "reflect", "constant": "constant", "nearest": "edge", "wrap": "wrap", "interp": "edge"}
    if mode not in edges:
        raise ArgumentError(f"there is no mode {mode!r}", hint=", ".join(edges))
    signal = floated(asarray(x))
    where = axis_of(signal, axis)
    moved = ops.moveaxis(signal, where, -1)
    n, half = moved.shape[-1], window_length // 2
    if mode == "interp" and window_length > n:
        raise ArgumentError(f"a window of {window_length} is longer than the signal of {n}")
    weights = savgol_coeffs(window_length, polyorder, deriv, delta, use="dot").numbers()
    before, after = half, window_length - 1 - half
    wide = pad(moved, [(0, 0)] * (moved.ndim - 1) + [(before, after)], edges[mode])
    out = sum(float(w) * wide[..., k : k + n] for k, w in enumerate(weights))
    if mode == "interp":
        out = _ends(out, moved, window_length, polyorder, deriv, delta, half)
    return ops.moveaxis(out, -1, where)


def _ends(out: Tensor, x: Tensor, width: int, order: int, deriv: int, delta: float, half: int) -> Tensor:
    """At both ends the polynomial of the whole first or last window is taken."""
    if not half:
        return out
    rows = [savgol_coeffs(width, order, deriv, delta, pos=p, use="dot").numbers() for p in range(width)]
    first, last = (cast(Tensor(numpy.array(part)), x.dtype) for part in (rows[:half], rows[width - half :]))
    left = ops.matmul(x[..., :width], first.T)
    right = ops.matmul(x[..., x.shape[-1] - width :], last.T)
    return ops.cat([left, out[..., half : x.shape[-1] - half], right], x.ndim - 1)


def resample(x: Any, num: int, axis: int = 0) -> Tensor:
    """A periodic signal at other times, by its spectrum.

    >>> [round(v, 4) for v in resample([1.0, 0.0, -1.0, 0.0], 2).tolist()]
    [1.0, -1.0]
    """
    signal = floated(asarray(x))
    where = axis_of(signal, axis)
    moved = ops.moveaxis(signal, where, -1)
    n = moved.shape[-1]
    spectrum = fft.rfft(moved)
    least = min(num, n)
    kept = spectrum[..., : least // 2 + 1]
    if least % 2 == 0 and num != n:
        scale = numpy.ones(kept.shape[-1])
        scale[-1] = 2.0 if num < n else 0.5
        kept = kept * ops.cast(Tensor(scale), kept.dtype)
    missing = num // 2 + 1 - kept.shape[-1]
    if missing > 0:
        kept = pad(kept, [(0, 0)] * (kept.ndim - 1) + [(0, missing)])
    return ops.moveaxis(fft.irfft(kept, num) * (num / n), -1, where)


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1) -> Tensor:
    """A signal with zeros between its numbers, convolved with h, of which every so-many-th number is kept.

    >>> upfirdn([1.0, 1.0], [1.0, 2.0], 2).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    weights, signal = together(asarray(h), asarray(x))
    if up < 1 or down < 1:
        raise ArgumentError("up and down are 1 or more", given={"up": up, "down": down})
    where = axis_of(signal, axis)
    moved = ops.moveaxis(signal, where, -1)
    n = moved.shape[-1]
    apart = ops.expand_dims(moved, -1)
    apart = pad(apart, [(0, 0)] * moved.ndim + [(0, up - 1)])
    apart = ops.reshape(apart, (*moved.shape[:-1], n * up))[..., : (n - 1) * up + 1]
    shaped = ops.reshape(weights, (*[1] * (moved.ndim - 1), -1))
    return ops.moveaxis(convolve(apart, shaped)[..., ::down], -1, where)
