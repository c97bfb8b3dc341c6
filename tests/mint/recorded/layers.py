"""Layers that PyTorch and `mint` both have, and what goes into them."""

import numpy as np

LAYERS = {
    "Linear": ("Linear", (3, 2), {}, [(4, 3)]),
    "Linear without bias": ("Linear", (3, 2, False), {}, [(2, 4, 3)]),
    "Conv1d": ("Conv1d", (2, 4, 3), {"stride": 2, "padding": 1, "dilation": 2}, [(2, 2, 9)]),
    "Conv1d circular": ("Conv1d", (2, 2, 3), {"padding": 2, "padding_mode": "circular", "groups": 2}, [(2, 2, 5)]),
    "Conv2d same": ("Conv2d", (2, 3, (3, 2)), {"padding": "same"}, [(2, 2, 5, 6)]),
    "Conv2d reflect": ("Conv2d", (2, 3, 3), {"padding": (1, 2), "padding_mode": "reflect"}, [(1, 2, 5, 6)]),
    "Conv2d replicate": ("Conv2d", (2, 3, 3), {"padding": 1, "padding_mode": "replicate", "bias": False}, [(2, 5, 6)]),
    "Conv3d": ("Conv3d", (1, 2, 2), {"padding": 1}, [(1, 1, 3, 3, 3)]),
    "ConvTranspose2d": ("ConvTranspose2d", (2, 4, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2},
                        [(2, 2, 4, 5)]),
    "BatchNorm1d": ("BatchNorm1d", (3,), {}, [(5, 3)]),
    "BatchNorm1d lines": ("BatchNorm1d", (3,), {"momentum": 0.3, "affine": False}, [(5, 3, 4)]),
    "BatchNorm2d": ("BatchNorm2d", (3,), {"eps": 0.1}, [(2, 3, 2, 4)]),
    "BatchNorm2d average": ("BatchNorm2d", (3,), {"momentum": None}, [(2, 3, 2, 4)]),
    "BatchNorm3d": ("BatchNorm3d", (2,), {"track_running_stats": False}, [(2, 2, 2, 2, 2)]),
    "GroupNorm": ("GroupNorm", (2, 4), {}, [(2, 4, 3)]),
    "LayerNorm": ("LayerNorm", ((3, 4),), {}, [(2, 3, 4)]),
    "AvgPool1d": ("AvgPool1d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False}, [(2, 2, 8)]),
    "AvgPool2d": ("AvgPool2d", (2,), {"ceil_mode": True}, [(2, 2, 5, 5)]),
    "AvgPool2d divisor": ("AvgPool2d", (3, 2), {"padding": 1, "divisor_override": 5}, [(2, 2, 5, 5)]),
    "AvgPool3d": ("AvgPool3d", (2,), {}, [(1, 2, 4, 4, 4)]),
    "MaxPool2d": ("MaxPool2d", (3, 2), {"padding": 1}, [(1, 2, 5, 5)]),
    "AdaptiveAvgPool1d": ("AdaptiveAvgPool1d", (3,), {}, [(2, 2, 7)]),
    "AdaptiveAvgPool3d": ("AdaptiveAvgPool3d", ((1, 2, 2),), {}, [(1, 2, 3, 4, 5)]),
    "AdaptiveMaxPool2d": ("AdaptiveMaxPool2d", ((2, 3),), {}, [(2, 2, 5, 7)]),
    "ELU": ("ELU", (0.5,), {}, [(7,)]),
    "GELU": ("GELU", (), {}, [(7,)]),
    "GELU tanh": ("GELU", ("tanh",), {}, [(7,)]),
    "Hardshrink": ("Hardshrink", (), {}, [(7,)]),
    "Softshrink": ("Softshrink", (0.3,), {}, [(7,)]),
    "Hardsigmoid": ("Hardsigmoid", (), {}, [(7,)]),
    "Hardswish": ("Hardswish", (), {}, [(7,)]),
    "Hardtanh": ("Hardtanh", (-0.5, 0.7), {}, [(7,)]),
    "ReLU6": ("ReLU6", (), {}, [(7,)]),
    "SiLU": ("SiLU", (), {}, [(7,)]),
    "SELU": ("SELU", (), {}, [(7,)]),
    "Mish": ("Mish", (), {}, [(7,)]),
    "LogSigmoid": ("LogSigmoid", (), {}, [(7,)]),
    "Threshold": ("Threshold", (0.1, 3.0), {}, [(7,)]),
    "PReLU": ("PReLU", (3,), {}, [(2, 3, 4)]),
    "Softmax": ("Softmax", (1,), {}, [(2, 3, 4)]),
    "LogSoftmax": ("LogSoftmax", (-1,), {}, [(2, 3)]),
    "Flatten": ("Flatten", (), {"start_dim": 1, "end_dim": 2}, [(2, 3, 4, 5)]),
    "PixelShuffle": ("PixelShuffle", (2,), {}, [(1, 4, 2, 3)]),
    "UpsamplingNearest2d": ("UpsamplingNearest2d", ((5, 7),), {}, [(1, 2, 3, 4)]),
    "UpsamplingBilinear2d": ("UpsamplingBilinear2d", (), {"scale_factor": 2}, [(1, 2, 3, 4)]),
    "ZeroPad1d": ("ZeroPad1d", ((1, 2),), {}, [(1, 2, 3)]),
    "ZeroPad3d": ("ZeroPad3d", (1,), {}, [(1, 1, 2, 2, 2)]),
    "ReflectionPad1d": ("ReflectionPad1d", (2,), {}, [(1, 2, 4)]),
    "ReplicationPad2d": ("ReplicationPad2d", ((1, 2, 0, 1),), {}, [(1, 2, 3, 4)]),
    "ConstantPad2d": ("ConstantPad2d", (1, 3.5), {}, [(1, 2, 3, 4)]),
    "BCEWithLogitsLoss": ("BCEWithLogitsLoss", (), {}, [(3, 2), (3, 2)]),
    "KLDivLoss": ("KLDivLoss", (), {"reduction": "batchmean"}, [(3, 2), (3, 2)]),
    "KLDivLoss logs": ("KLDivLoss", (), {"reduction": "sum", "log_target": True}, [(3, 2), (3, 2)]),
    "SmoothL1Loss": ("SmoothL1Loss", (), {"reduction": "sum", "beta": 0.5}, [(3, 2), (3, 2)]),
    "CosineEmbeddingLoss": ("CosineEmbeddingLoss", (0.1,), {}, [(3, 2), (3, 2), (3,)]),
    "SoftMarginLoss": ("SoftMarginLoss", (), {}, [(3, 2), (3, 2)]),
}  # fmt: skip
MODES = (True, False)  # training


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def inputs(name):
    """What goes into a layer; targets of losses are 1 or -1, or between 0 and 1."""
    kind, _, _, shapes = LAYERS[name]
    given = [numbers(*shape, seed=i + 1) for i, shape in enumerate(shapes)]
    if kind in ("CosineEmbeddingLoss", "SoftMarginLoss"):
        given[-1] = np.sign(given[-1])
    if kind in ("BCEWithLogitsLoss", "KLDivLoss") and "logs" not in name:
        given[-1] = (1 / (1 + np.exp(-given[-1]))).astype(np.float32)
    return given
