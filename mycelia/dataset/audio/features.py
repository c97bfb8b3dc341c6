"""Features of spectrograms: decibels, magnitude and phase, deltas, normalisation, masks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mycelia.checks import member, number, truth, whole
from mycelia.dataset import random
from mycelia.dataset.audio.base import AudioOperation, ComplexOperation, as_complex
from mycelia.dataset.audio.modes import BorderType, ScaleType
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ShapeError
from mycelia.frozen import frozen


def to_decibels(x: Array, factor: float, reference: float, least: float, top: float | None) -> Array:
    """Factor * log10(x / reference), and nothing more than `top` below the loudest of each spectrogram.

    >>> to_decibels(np.array([[1.0, 10.0, 1e-30]]), 10.0, 1.0, 1e-10, 80.0)
    array([[  0.,  10., -70.]])
    """
    decibels = factor * (np.log10(np.maximum(x, least)) - np.log10(max(least, reference)))
    if top is None:
        return np.asarray(decibels)
    loudest = np.fmax.reduce(decibels, tuple(range(max(-3, -decibels.ndim), 0)), keepdims=True)
    return np.asarray(np.maximum(decibels, loudest - top))


@frozen
class AmplitudeToDB(AudioOperation):
    """Power or magnitude in decibels.

    >>> AmplitudeToDB()(np.array([[1.0, 100.0]]))
    array([[ 0., 20.]])
    """

    axes = 2

    stype: ScaleType = ScaleType.POWER
    ref_value: float = 1.0
    amin: float = 1e-10
    top_db: float = 80.0

    def __post_init__(self) -> None:
        member(self, "stype", self.stype, ScaleType)
        number(self, "ref_value", self.ref_value, above=0)
        number(self, "amin", self.amin, above=0)
        number(self, "top_db", self.top_db, above=0)

    def apply(self, x: Array) -> Array:
        """Ten times the logarithm of a power, twenty times that of a magnitude."""
        factor = 10.0 if self.stype == ScaleType.POWER else 20.0
        return to_decibels(x, factor, self.ref_value, self.amin, self.top_db)


@frozen
class DBToAmplitude(AudioOperation):
    """Decibels as power (`power` 1) or amplitude (0.5).

    >>> DBToAmplitude(1.0, 1.0)(np.array([20.0]))
    array([100.])
    """

    ref: float
    power: float

    def __post_init__(self) -> None:
        number(self, "ref", self.ref)
        number(self, "power", self.power)

    def apply(self, x: Array) -> Array:
        """Ref * (10^(x / 10))^power."""
        return np.asarray(self.ref * (10 ** (0.1 * x)) ** self.power)


@frozen
class Angle(ComplexOperation):
    """The angle of complex numbers (..., 2).

    >>> Angle()(np.array([[0.0, 1.0]])).round(4)
    array([1.5708])
    """

    def apply(self, pairs: Array) -> Array:
        """In radians."""
        return np.arctan2(pairs[..., 1], pairs[..., 0])


@frozen
class ComplexNorm(ComplexOperation):
    """The magnitude of complex numbers (..., 2), to a power.

    >>> ComplexNorm()(np.array([[3.0, 4.0]]))
    array([5.])
    """

    power: float = 1.0

    def __post_init__(self) -> None:
        number(self, "power", self.power, 0)

    def apply(self, pairs: Array) -> Array:
        """|z|^power."""
        return np.asarray(np.abs(as_complex(pairs)) ** self.power)


@frozen
class Magphase(ComplexOperation):
    """Magnitude, to a power, and angle of complex numbers (..., 2).

    >>> Magphase(2.0)(np.array([[3.0, 0.0]]))
    (array([9.]), array([0.]))
    """

    power: float = 1.0

    def __post_init__(self) -> None:
        number(self, "power", self.power, 0)

    def one(self, column: Any) -> Any:
        """Two answers."""
        return ComplexNorm(self.power).one(column), Angle().one(column)


@frozen
class ComputeDeltas(AudioOperation):
    """The slope of each coefficient over time, fitted within a window.

    >>> ComputeDeltas()(np.arange(8.0)[None])[0, 2:6]
    array([1., 1., 1., 1.])
    """

    win_length: int = 5
    pad_mode: BorderType = BorderType.EDGE

    def __post_init__(self) -> None:
        whole(self, "win_length", self.win_length, 3)
        member(self, "pad_mode", self.pad_mode, BorderType)

    def apply(self, spec: Array) -> Array:
        """Sum of n (c[t + n] - c[t - n]), divided by 2 sum of n^2."""
        reach = (self.win_length - 1) // 2
        n = np.arange(-reach, reach + 1)
        widths = [(0, 0)] * (spec.ndim - 1) + [(reach, reach)]
        padded = np.pad(spec, widths, self.pad_mode.value)
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, -1)
        return np.asarray(windows @ n / (n**2).sum())


@frozen
class SlidingWindowCmn(AudioOperation):
    """Features (..., time, coefficient) minus their mean, and over their deviation, within a sliding window.

    >>> SlidingWindowCmn(3, 1, center=True)(np.arange(4.0)[:, None]).ravel()
    array([-1.,  0.,  0.,  1.])
    """

    axes = 2

    cmn_window: int = 600
    min_cmn_window: int = 100
    center: bool = False
    norm_vars: bool = False

    def __post_init__(self) -> None:
        whole(self, "cmn_window", self.cmn_window, 1)
        whole(self, "min_cmn_window", self.min_cmn_window, 1)
        truth(self, "center", self.center)
        truth(self, "norm_vars", self.norm_vars)

    def bounds(self, time: int) -> tuple[Array, Array]:
        """Where the window of each frame begins and ends."""
        frame = np.arange(time)
        if self.center:
            start = frame - self.cmn_window // 2
            end = start + self.cmn_window
        else:
            start, end = frame - self.cmn_window, frame + 1
        early = start < 0
        end = np.where(early, end - start, end)
        start = np.where(early, 0, start)
        if not self.center:
            end = np.where(end > frame, np.maximum(frame + 1, self.min_cmn_window), end)
        late = end > time
        start = np.where(late, np.maximum(start - (end - time), 0), start)
        return start, np.minimum(end, time)

    def apply(self, feats: Array) -> Array:
        """Sums over windows are differences of running sums."""
        start, end = self.bounds(feats.shape[-2])
        count = (end - start)[:, None]
        zero = np.zeros_like(feats[..., :1, :])

        def mean(x: Array) -> Array:
            running = np.concatenate([zero, np.cumsum(x, -2)], -2)
            return np.asarray((running[..., end, :] - running[..., start, :]) / count)

        centred = feats - mean(feats)
        if not self.norm_vars:
            return centred
        variance = mean(feats**2) - mean(feats) ** 2
        scale = np.power(np.where(count == 1, 1.0, variance), -0.5)
        return np.where(count == 1, 0.0, centred * scale)


@frozen
class MaskAlongAxis(AudioOperation):
    """A stripe of a spectrogram (..., frequency, time) set to a value: along axis 1 frequencies, along axis 2 times.

    >>> MaskAlongAxis(1, 2, 9.0, 2)(np.zeros((1, 1, 4)))
    array([[[0., 9., 9., 0.]]])
    """

    axes = 2

    mask_start: int
    mask_width: int
    mask_value: float
    axis: int

    def __post_init__(self) -> None:
        whole(self, "mask_start", self.mask_start, 0)
        whole(self, "mask_width", self.mask_width, 1)
        number(self, "mask_value", self.mask_value)
        whole(self, "axis", self.axis, 1, 2)

    def apply(self, spec: Array) -> Array:
        """The stripe must lie inside."""
        axis = self.axis - 3
        end = self.mask_start + self.mask_width
        if end > spec.shape[axis]:
            raise ShapeError("the mask reaches outside", given={"mask": self, "shape": spec.shape})
        out = spec.copy()
        np.moveaxis(out, axis, 0)[self.mask_start : end] = self.mask_value
        return out


@frozen
class MaskAlongAxisIID(AudioOperation):
    """A stripe drawn anew for every spectrogram of (..., frequency, time), up to `mask_param` wide.

    >>> float(MaskAlongAxisIID(0, 9.0, 1)(np.zeros((1, 2, 3))).max())
    0.0
    """

    axes = 2

    mask_param: int
    mask_value: float
    axis: int

    def __post_init__(self) -> None:
        whole(self, "mask_param", self.mask_param, 0)
        number(self, "mask_value", self.mask_value)
        whole(self, "axis", self.axis, 1, 2)

    def apply(self, spec: Array) -> Array:
        """Width and place are uniform."""
        axis = self.axis - 3
        size = spec.shape[axis]
        if self.mask_param > size:
            raise ShapeError("the mask is wider than the axis", given={"mask": self, "shape": spec.shape})
        rng = random.current()
        leading = spec.shape[:-2]
        width = rng.uniform(0, self.mask_param, leading)
        start = np.floor(rng.random(leading) * (size - width)).astype(int)[..., None]
        place = np.arange(size)
        masked = (place >= start) & (place < start + np.floor(width).astype(int)[..., None])
        shaped = masked[..., :, None] if axis == -2 else masked[..., None, :]
        return np.where(shaped, self.mask_value, spec)


class Masking(AudioOperation):
    """A stripe of a spectrogram set to a value: at `mask_start`, or drawn for every spectrogram."""

    axes = 2
    width: ClassVar[str]  # the field that says how wide the stripe is
    axis: ClassVar[int]

    iid_masks: bool
    mask_start: int
    mask_value: float

    def __post_init__(self) -> None:
        truth(self, "iid_masks", self.iid_masks)
        whole(self, self.width, getattr(self, self.width), 0)
        whole(self, "mask_start", self.mask_start, 0)
        number(self, "mask_value", self.mask_value)

    def apply(self, spec: Array) -> Array:
        """A stripe without width changes nothing."""
        width: int = getattr(self, self.width)
        if self.iid_masks:
            return MaskAlongAxisIID(width, self.mask_value, self.axis).apply(spec)
        return MaskAlongAxis(self.mask_start, width, self.mask_value, self.axis).apply(spec) if width else spec


@frozen
class FrequencyMasking(Masking):
    """A stripe of frequencies set to a value: at `mask_start`, or drawn for every spectrogram.

    >>> FrequencyMasking(freq_mask_param=1)(np.ones((1, 2, 2)))
    array([[[0., 0.],
            [1., 1.]]])
    """

    width = "freq_mask_param"
    axis = 1

    iid_masks: bool = False
    freq_mask_param: int = 0
    mask_start: int = 0
    mask_value: float = 0.0


@frozen
class TimeMasking(Masking):
    """A stripe of times set to a value: at `mask_start`, or drawn for every spectrogram.

    >>> TimeMasking(time_mask_param=1)(np.ones((1, 2, 2)))
    array([[[0., 1.],
            [0., 1.]]])
    """

    width = "time_mask_param"
    axis = 2

    iid_masks: bool = False
    time_mask_param: int = 0
    mask_start: int = 0
    mask_value: float = 0.0
