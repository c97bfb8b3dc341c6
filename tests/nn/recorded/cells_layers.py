"""Transposed convolutions, paddings, norms, images and small layers."""

import numpy as np
from cells import case, integers, numbers, positive

LINE, PLANE, SPACE = numbers(2, 4, 5), numbers(2, 4, 5, 6), numbers(1, 2, 3, 4, 3)


def both(name, ours, theirs, *inputs, names=None, **options):
    case(name, ours, *inputs, torch=theirs, names=names or {}, **options)


# ---------------------------------------------------------------------------------------------- transposed convolutions

CONV = {"stride": 2, "padding": 1, "dilation": 2}
for rank, x in ((1, LINE), (2, PLANE), (3, SPACE)):
    both(
        f"Conv{rank}dTranspose_pad",
        lambda nn, r=rank, c=x.shape[1]: getattr(nn, f"Conv{r}dTranspose")(
            c, 6, 3, pad_mode="pad", group=2, has_bias=True, **CONV
        ),
        lambda torch, r=rank, c=x.shape[1]: getattr(torch.nn, f"ConvTranspose{r}d")(c, 6, 3, groups=2, **CONV),
        x,
    )
    both(
        f"Conv{rank}dTranspose_valid",
        lambda nn, r=rank, c=x.shape[1]: getattr(nn, f"Conv{r}dTranspose")(c, 3, 3, stride=2, pad_mode="valid"),
        lambda torch, r=rank, c=x.shape[1]: getattr(torch.nn, f"ConvTranspose{r}d")(c, 3, 3, stride=2, bias=False),
        x,
    )
both(
    "Conv3dTranspose_longer",
    lambda nn: nn.Conv3dTranspose(2, 3, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True),
    lambda torch: torch.nn.ConvTranspose3d(2, 3, 3, stride=2, padding=1, output_padding=1),
    SPACE,
)
for name, options in {
    "same": {"stride": 2},
    "same_dilated": {"stride": (1, 3), "dilation": 2, "has_bias": True},
    "longer": {"stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": 1, "has_bias": True},
    "uneven": {"stride": 2, "pad_mode": "pad", "padding": (1, 0, 2, 1)},
    "small_window": {"stride": 4, "pad_mode": "valid"},
}.items():
    case(f"Conv2dTranspose_{name}", lambda nn, o=options: nn.Conv2dTranspose(4, 3, 3, **o), PLANE)

# ------------------------------------------------------------------------------------------------------------- paddings

for kind, options in (("ConstantPad", (1.5,)), ("ReflectionPad", ()), ("ReplicationPad", ())):
    for rank, x in ((1, LINE), (2, PLANE), (3, SPACE)):
        for name, padding in (("all", 1), ("each", (2, 1, 1, 0, 1, 2)[: 2 * rank])):
            both(
                f"{kind}{rank}d_{name}",
                lambda nn, k=f"{kind}{rank}d", a=(padding, *options): getattr(nn, k)(*a),
                lambda torch, k=f"{kind}{rank}d", a=(padding, *options): getattr(torch.nn, k)(*a),
                x,
            )
both("ZeroPad2d", lambda nn: nn.ZeroPad2d((1, 2, 3, 0)), lambda torch: torch.nn.ZeroPad2d((1, 2, 3, 0)), PLANE)
both("ZeroPad2d_less", lambda nn: nn.ZeroPad2d((1, -2, -1, 0)), lambda torch: torch.nn.ZeroPad2d((1, -2, -1, 0)), PLANE)
for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
    case(f"Pad_{mode}", lambda nn, m=mode: nn.Pad(((1, 0), (2, 3)), m), numbers(3, 4))

# ---------------------------------------------------------------------------------------------------------------- norms

NORM = {"weight": "gamma", "bias": "beta", "running_mean": "mean", "running_var": "variance"}
for rank, x in ((1, LINE), (2, PLANE), (3, SPACE)):
    both(
        f"InstanceNorm{rank}d",
        lambda nn, r=rank, c=x.shape[1]: getattr(nn, f"InstanceNorm{r}d")(c),
        lambda torch, r=rank, c=x.shape[1]: getattr(torch.nn, f"InstanceNorm{r}d")(c, affine=True),
        x,
        names=NORM,
        train=True,
    )
case("LRN", lambda nn: nn.LRN(2, 1.5, 0.3, 0.6), numbers(2, 7, 3, 3))

# --------------------------------------------------------------------------------------------------------------- images

PICTURES = positive(2, 3, 16, 16), positive(2, 3, 16, 16, seed=1)


def similarity(torch, x, y, size, sigma):
    """SSIM of the paper, and its part of contrast, by the covariances in all windows, weighted by distance."""
    at = torch.arange(size) - (size - 1) // 2
    weights = torch.exp(-(at[:, None] ** 2 + at**2) / (2 * sigma**2))
    weights = (weights / weights.sum()).reshape(-1)

    def windows(t):
        return t.unfold(2, size, 1).unfold(3, size, 1).reshape(*t.shape[:2], -1, size * size)

    a, b = windows(x), windows(y)
    ma, mb = (a * weights).sum(-1), (b * weights).sum(-1)
    da, db = a - ma[..., None], b - mb[..., None]
    va, vb, vab = ((p * q * weights).sum(-1) for p, q in ((da, da), (db, db), (da, db)))
    contrast = (2 * vab + 0.03**2) / (va + vb + 0.03**2)
    alike = (2 * ma * mb + 0.01**2) / (ma**2 + mb**2 + 0.01**2) * contrast
    return alike.mean(-1), contrast.mean(-1)


def scales(torch, x, y):
    contrast = similarity(torch, x, y, 5, 1.5)[1].relu() ** 0.3
    x, y = (torch.nn.functional.avg_pool2d(t, 2) for t in (x, y))
    return (contrast * similarity(torch, x, y, 5, 1.5)[0].relu() ** 0.7).mean(1)


both(
    "PSNR",
    lambda nn: nn.PSNR(),
    lambda torch: lambda x, y: -10 * torch.log10((x - y).square().mean((1, 2, 3))),
    *PICTURES,
)
both("SSIM", lambda nn: nn.SSIM(), lambda torch: lambda x, y: similarity(torch, x, y, 11, 1.5)[0].mean(1), *PICTURES)
both(
    "SSIM_small",
    lambda nn: nn.SSIM(1.0, 5, 1.0),
    lambda torch: lambda x, y: similarity(torch, x, y, 5, 1.0)[0].mean(1),
    *PICTURES,
)
both(
    "MSSSIM",
    lambda nn: nn.MSSSIM(power_factors=(0.3, 0.7), filter_size=5),
    lambda torch: lambda x, y: scales(torch, x, y),
    *PICTURES,
)
case("ImageGradients", lambda nn: nn.ImageGradients(), PLANE)
case("CentralCrop", lambda nn: nn.CentralCrop(0.4), PLANE)
both("PixelShuffle", lambda nn: nn.PixelShuffle(2), lambda torch: torch.nn.PixelShuffle(2), PLANE)
both("PixelUnshuffle", lambda nn: nn.PixelUnshuffle(2), lambda torch: torch.nn.PixelUnshuffle(2), numbers(2, 3, 4, 6))
both("ChannelShuffle", lambda nn: nn.ChannelShuffle(2), lambda torch: torch.nn.ChannelShuffle(2), PLANE)
both("Upsample", lambda nn: nn.Upsample((7, 4)), lambda torch: torch.nn.Upsample((7, 4)), PLANE)
both(
    "Upsample_bilinear",
    lambda nn: nn.Upsample(scale_factor=(2.0, 1.5), mode="bilinear", align_corners=True, recompute_scale_factor=True),
    lambda torch: torch.nn.Upsample(
        scale_factor=(2.0, 1.5), mode="bilinear", align_corners=True, recompute_scale_factor=True
    ),
    PLANE,
)

# --------------------------------------------------------------------------------------------------------- small layers

both(
    "BiDense",
    lambda nn: nn.BiDense(4, 3, 5),
    lambda torch: torch.nn.Bilinear(4, 3, 5),
    numbers(2, 4),
    numbers(2, 3, seed=1),
)
both("Linear", lambda nn: nn.Linear(4, 3), lambda torch: torch.nn.Linear(4, 3), numbers(2, 4))
case("Conv2dBnAct", lambda nn: nn.Conv2dBnAct(4, 3, 3, has_bn=True, activation="leakyrelu"), PLANE)
case("DenseBnAct", lambda nn: nn.DenseBnAct(4, 3, has_bn=True, activation="relu"), numbers(2, 4))
case("EmbeddingLookup", lambda nn: nn.EmbeddingLookup(6, 3), integers(2, 4, count=6), grads=False)
case("TimeDistributed", lambda nn: nn.TimeDistributed(nn.Dense(4, 3), 1), numbers(2, 5, 4))
case("TimeDistributed_once", lambda nn: nn.TimeDistributed(nn.Dense(4, 3), 1, 0), numbers(2, 5, 4))
both("Unflatten", lambda nn: nn.Unflatten(-1, (2, 2)), lambda torch: torch.nn.Unflatten(-1, (2, 2)), numbers(3, 4))
case("ClipByNorm", lambda nn: nn.ClipByNorm(), numbers(3, 4), np.array(1.5, np.float32))
case("Norm", lambda nn: nn.Norm(1, True), numbers(3, 4))
case("OneHot", lambda nn: nn.OneHot(0, 4, 2.0, -1.0), integers(5, count=4), grads=False)
case("Moments", lambda nn: nn.Moments(1, True), numbers(3, 4))
case("MatMul", lambda nn: nn.MatMul(True, True), numbers(4, 3), numbers(5, 4))
case("ReduceLogSumExp", lambda nn: nn.ReduceLogSumExp(1, True), numbers(3, 4))
both("Roll", lambda nn: nn.Roll((1, -2), (0, 1)), lambda torch: lambda x: torch.roll(x, (1, -2), (0, 1)), numbers(3, 4))
case("Tril", lambda nn: nn.Tril(), numbers(3, 4), 1)
case("Triu", lambda nn: nn.Triu(), numbers(3, 4), -1)
case("L1Regularizer", lambda nn: nn.L1Regularizer(0.3), numbers(3, 4))

# ------------------------------------------------------------------------------------------------------------- poolings

for rank, x in ((1, LINE), (2, PLANE), (3, SPACE)):
    for kind in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
        both(
            f"{kind}{rank}d",
            lambda nn, k=f"{kind}{rank}d": getattr(nn, k)(2),
            lambda torch, k=f"{kind}{rank}d": getattr(torch.nn, k)(2),
            x,
        )
both("MaxPool3d", lambda nn: nn.MaxPool3d(2, 2), lambda torch: torch.nn.MaxPool3d(2, 2), SPACE)
both("AvgPool3d", lambda nn: nn.AvgPool3d(2, 1), lambda torch: torch.nn.AvgPool3d(2, 1), SPACE)
both("LPPool1d", lambda nn: nn.LPPool1d(2, 2, 1), lambda torch: torch.nn.LPPool1d(2, 2, 1), positive(2, 4, 5))
both("LPPool2d", lambda nn: nn.LPPool2d(3, 2), lambda torch: torch.nn.LPPool2d(3, 2), positive(2, 4, 5, 6))


def unfolded(torch, x, padding):
    """PyTorch's windows, whose channels come before rows and columns, in the other order."""
    x = torch.nn.functional.pad(x, (2, 2, 0, 1)) if padding == "same" else x
    found = torch.nn.functional.unfold(x, (2, 3), dilation=(1, 2), stride=(2, 1))
    apart = found.reshape(x.shape[0], x.shape[1], 6, -1).swapaxes(1, 2)
    return apart.reshape(x.shape[0], 6 * x.shape[1], (x.shape[2] - 2) // 2 + 1, x.shape[3] - 4)


for padding in ("valid", "same"):
    both(
        f"Unfold_{padding}",
        lambda nn, p=padding: nn.Unfold((1, 2, 3, 1), (1, 2, 1, 1), (1, 1, 2, 1), p),
        lambda torch, p=padding: lambda x: unfolded(torch, x, p),
        numbers(2, 3, 5, 7),
    )
