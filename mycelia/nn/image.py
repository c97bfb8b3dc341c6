"""Images: how near two are to each other, their gradients, their middle, and grids of another size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.ops.convolution import paddings
from mycelia.types import Array, float32


def images(owner: str, *given: Tensor) -> list[Tensor]:
    """Images (N, C, H, W) of one shape, as floating numbers; those of whole numbers as shares of the largest.

    >>> images("PSNR", Tensor([[[[255]]]], "uint8"))[0].tolist()
    [[[[1.0]]]]
    """
    shapes = {x.shape for x in given}
    if len(shapes) > 1 or given[0].ndim != 4 or len({x.dtype for x in given}) > 1:
        raise ShapeError(
            f"{owner} takes images (N, C, H, W) of one shape and type",
            given={f"img{i + 1}": f"{x.shape} of {x.dtype!r}" for i, x in enumerate(given)},
        )
    return [cast(x, float32) / largest(x) for x in given]


def largest(x: Tensor) -> float:
    """The largest number that images of this type hold: 1 where they are floating."""
    return 1.0 if x.dtype.is_float else float(np.iinfo(x.dtype.numpy).max)


class PSNR(Cell):
    """The peak signal-to-noise ratio in decibels: 10 log10(max_val^2 / mean square difference).

    >>> f"{PSNR()(ops.zeros((1, 1, 2, 2)), ops.full((1, 1, 2, 2), 0.1)).item():.2f}"
    '20.00'
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = checks.number(self.cls_name, "max_val", max_val, above=0)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        x, y = images(self.cls_name, img1, img2)
        peak = self.max_val / largest(img1)
        return 10.0 / math.log(10.0) * ops.log(peak * peak / ops.mean(ops.square(x - y), (1, 2, 3)))  # type: ignore[no-any-return]


class Similarity(Cell):
    """What SSIM and MSSSIM share: means, variances and covariances in windows of a Gaussian."""

    def __init__(self, max_val: float, filter_size: int, filter_sigma: float, k1: float, k2: float) -> None:
        super().__init__()
        self.max_val = checks.number(self.cls_name, "max_val", max_val, above=0)
        self.filter_size = checks.whole(self.cls_name, "filter_size", filter_size, least=1)
        self.filter_sigma = checks.number(self.cls_name, "filter_sigma", filter_sigma, above=0)
        self.k1, self.k2 = (
            checks.number(self.cls_name, "k1", k1, above=0),
            checks.number(self.cls_name, "k2", k2, above=0),
        )
        self.window = Tensor(gaussian(self.filter_size, self.filter_sigma))

    def compared(self, x: Tensor, y: Tensor, peak: float) -> tuple[Tensor, Tensor]:
        """The mean similarity of each channel, and that of contrast and structure alone: (N, C) each."""
        batch, channels, height, width = x.shape
        if min(height, width) < self.filter_size:
            raise ShapeError(
                f"images of {height} x {width} are smaller than a window of {self.filter_size}",
                hint="choose filter_size",
            )
        x, y = (t.reshape((batch * channels, 1, height, width)) for t in (x, y))

        def mean(t: Tensor) -> Tensor:
            return ops.conv2d(t, self.window, pad_mode="valid")

        first, second = (self.k1 * peak) ** 2, (self.k2 * peak) ** 2
        mx, my = mean(x), mean(y)
        contrast = (2.0 * (mean(x * y) - mx * my) + second) / (mean(x * x) - mx * mx + mean(y * y) - my * my + second)
        alike = (2.0 * mx * my + first) / (mx * mx + my * my + first) * contrast
        both = [ops.mean(t.reshape((batch, channels, -1)), 2) for t in (alike, contrast)]
        return both[0], both[1]


def gaussian(size: int, sigma: float) -> Array:
    """A window of weights that add up to 1, as a weight of a convolution.

    >>> gaussian(3, 1.0).shape
    (1, 1, 3, 3)
    """
    at = np.arange(-size // 2 + 1, size // 2 + 1, dtype=np.float32) ** 2
    window = np.exp(-(at[:, None] + at) / (2 * sigma**2))
    return (window / window.sum())[None, None].astype(np.float32)  # type: ignore[no-any-return]


class SSIM(Similarity):
    """The structural similarity of images, at most 1.

    >>> f"{SSIM(filter_size=3)(ops.ones((1, 1, 8, 8)), ops.ones((1, 1, 8, 8))).item():.4f}"
    '1.0000'
    """

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        x, y = images(self.cls_name, img1, img2)
        return ops.mean(self.compared(x, y, self.max_val / largest(img1))[0], 1)


class MSSSIM(Similarity):
    """The structural similarity at several scales, each half the size of the one before.

    >>> same = ops.ones((1, 1, 64, 64))
    >>> f"{MSSSIM(filter_size=3)(same, same).item():.4f}"
    '1.0000'
    """

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: tuple[float, ...] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.power_factors = tuple(checks.number(self.cls_name, "power_factors", f) for f in power_factors)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        x, y = images(self.cls_name, img1, img2)
        total: Any = 1.0
        for i, power in enumerate(self.power_factors):
            alike, contrast = self.compared(x, y, self.max_val / largest(img1))
            part = alike if i + 1 == len(self.power_factors) else contrast
            total = total * ops.relu(part) ** power
            x, y = (ops.avg_pool2d(t, 2, 2) for t in (x, y))
        return ops.mean(total, 1)


class ImageGradients(Cell):
    """The differences to the next row and to the next column, with zeros at the end.

    >>> dy, dx = ImageGradients()(Tensor([[[[1.0, 3.0]]]]))
    >>> dx.tolist(), dy.tolist()
    ([[[[2.0, 0.0]]]], [[[[0.0, 0.0]]]])
    """

    def construct(self, images: Tensor) -> tuple[Tensor, Tensor]:
        if images.ndim != 4:
            raise ShapeError(f"ImageGradients takes (N, C, H, W), not shape {images.shape}")
        rows, columns = images[:, :, 1:] - images[:, :, :-1], images[:, :, :, 1:] - images[:, :, :, :-1]
        return ops.pad(rows, (0, 0, 0, 1)), ops.pad(columns, (0, 1))


class CentralCrop(Cell):
    """The middle of images (N, C, H, W) or (C, H, W): this share of height and width.

    >>> CentralCrop(0.5)(ops.ones((3, 4, 4))).shape
    (3, 2, 2)
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        self.central_fraction = checks.number(self.cls_name, "central_fraction", central_fraction, above=0, most=1)

    def construct(self, image: Tensor) -> Tensor:
        if image.ndim not in (3, 4):
            raise ShapeError(f"CentralCrop takes (N, C, H, W) or (C, H, W), not shape {image.shape}")
        height, width = image.shape[-2:]
        top, left = (int((n - n * self.central_fraction) / 2) for n in (height, width))
        return image[..., top : height - top, left : width - left]  # type: ignore[no-any-return]


class PixelShuffle(Cell):
    """Channels as finer pixels: (*, C r^2, H, W) to (*, C, H r, W r).

    >>> PixelShuffle(2)(ops.ones((1, 4, 3, 3))).shape
    (1, 1, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = checks.whole(self.cls_name, "upscale_factor", upscale_factor, least=1)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Pixels as more channels: (*, C, H r, W r) to (*, C r^2, H, W).

    >>> PixelUnshuffle(2)(ops.ones((1, 1, 6, 6))).shape
    (1, 4, 3, 3)
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = checks.whole(self.cls_name, "downscale_factor", downscale_factor, least=1)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """Channels taken from the groups in turn.

    >>> ChannelShuffle(2)(Tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]])).reshape((4,)).tolist()
    [1.0, 3.0, 2.0, 4.0]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = checks.whole(self.cls_name, "groups", groups, least=1)

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[1] % self.groups:
            raise ShapeError(f"{self.groups} groups do not divide the channels of shape {x.shape}", hint="axis 1")
        apart = x.reshape((x.shape[0], self.groups, x.shape[1] // self.groups, *x.shape[2:]))
        return apart.swapaxes(1, 2).reshape(x.shape)


class Upsample(Cell):
    """Another number of pixels: `size` of them, or `scale_factor` times as many; see `ops.interpolate`.

    >>> Upsample(scale_factor=2.0)(Tensor([[[1.0, 2.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        size, factor = self.size, self.scale_factor
        if self.recompute_scale_factor and factor is not None:  # the factor that the rounded size gives
            factors = factor if isinstance(factor, tuple | list) else (factor,) * (x.ndim - 2)
            size, factor = tuple(math.floor(e * f) for e, f in zip(x.shape[2:], factors, strict=True)), None
        return ops.interpolate(x, size, factor, self.mode, bool(self.align_corners))


class Unfold(Cell):
    """The windows of a plane, side by side on the channels: (N, C, H, W) to (N, rows columns C, windows down, across).

    Sizes, steps and gaps are given as (1, rows, columns, 1); `padding` is "valid" or "same".

    >>> Unfold((1, 2, 2, 1), (1, 1, 1, 1), (1, 1, 1, 1))(ops.ones((1, 3, 4, 4))).shape
    (1, 12, 3, 3)
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        self.ksizes, self.strides, self.rates = (
            self.middle(name, given) for name, given in (("ksizes", ksizes), ("strides", strides), ("rates", rates))
        )
        mode = padding.lower() if isinstance(padding, str) else padding
        self.padding = checks.choice(self.cls_name, "padding", mode, ("valid", "same"))

    def middle(self, name: str, given: Any) -> tuple[int, ...]:
        """The two numbers for rows and columns."""
        if not isinstance(given, tuple | list) or len(given) != 4 or (given[0], given[3]) != (1, 1):
            raise ArgumentError(
                f"{name} of Unfold is (1, rows, columns, 1)", given={name: given}, hint="such as (1, 2, 2, 1)"
            )
        return tuple(checks.whole(self.cls_name, name, n, least=1) for n in given[1:3])

    def construct(self, input_x: Tensor) -> Tensor:
        if input_x.ndim != 4:
            raise ShapeError(f"Unfold takes (N, C, H, W), not shape {input_x.shape}")
        around = paddings(self.padding, 0, input_x.shape[2:], self.ksizes, self.strides, self.rates)
        x = ops.pad(input_x, (*around[1], *around[0])) if self.padding == "same" else input_x
        windows = zip(x.shape[2:], self.ksizes, self.strides, self.rates, strict=True)
        down, across = ((e - (k - 1) * r - 1) // s + 1 for e, k, s, r in windows)
        if min(down, across) < 1:
            raise ShapeError(f"windows of {self.ksizes} do not fit into shape {input_x.shape}", hint="choose ksizes")
        (sy, sx), (ry, rx) = self.strides, self.rates
        parts = [
            x[:, :, i * ry : i * ry + (down - 1) * sy + 1 : sy, j * rx : j * rx + (across - 1) * sx + 1 : sx]
            for i in range(self.ksizes[0])
            for j in range(self.ksizes[1])
        ]
        return ops.cat(tuple(parts), 1)
