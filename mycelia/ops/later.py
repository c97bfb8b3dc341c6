"""Names of `mycelia.ops` that are loaded when they are first asked for: a module, and the names that are in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from mycelia.names import listening

TABLE = """
diagonals: matrix_diag matrix_diag_part matrix_set_diag
distributions: choice_with_mask gamma gumbel_softmax log_uniform_candidate_sampler multinomial_with_replacement
    random_gamma random_poisson rrelu standard_laplace uniform_candidate_sampler
grids: adaptive_avg_pool1d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool3d fractional_max_pool2d
    fractional_max_pool3d lp_pool1d lp_pool2d max_unpool1d max_unpool2d max_unpool3d
margins: gaussian_nll_loss hinge_embedding_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss
primitive_last: AdaptiveAvgPool3D AdaptiveMaxPool2D AdaptiveMaxPool3D ApplyAdagradDA ApplyAdamWithAmsgradV2 Bernoulli
    Col2Im Conv2DBackpropInput Conv2DTranspose DataFormatDimMap EditDistance EmbeddingLookup EqualCount
    FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize Gamma Im2Col IndexPut LSTM
    LogUniformCandidateSampler MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 MaxPool3DWithArgmax MaxUnpool2D MaxUnpool3D
    Median MultiMarginLoss MultilabelMarginLoss Multinomial MultinomialWithReplacement NextAfter NoRepeatNGram
    ParallelConcat Poisson RandomGamma RandomPoisson RandomShuffle ResizeBicubic SGD SparseApplyAdadelta
    SparseApplyAdagrad SparseApplyAdagradV2 SparseApplyFtrl SparseApplyFtrlV2 SparseApplyProximalAdagrad
    SparseApplyRMSProp SparseSegmentMean SparseTensorDenseAdd SparseTensorDenseMatmul SparseToDense StandardLaplace
    UniformCandidateSampler UpsampleNearest3D UpsampleTrilinear3D
hooks: PrimitiveWithCheck PrimitiveWithInfer prim_arg_register prim_attr_register
rare: col2im nextafter sparse_segment_mean
resizing: deformable_conv2d
walks: ForiLoop Scan WhileLoop
"""

LATER = {
    name: module
    for line in TABLE.replace("\n    ", " ").strip().splitlines()
    for module, _, names in [line.partition(": ")]
    for name in names.split()
}
"""The module of each name."""


def found(name: str) -> Any:
    """What a name of the table is: functions explain what they take.

    >>> found("lp_pool1d").__name__
    'lp_pool1d'
    """
    made = _made.get(name)
    if made is None:
        thing = getattr(import_module(f"mycelia.ops.{LATER[name]}"), name)
        made = _made.setdefault(name, thing if isinstance(thing, type) else listening(thing))
    return made


def at_last(module: str, otherwise: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a module: a name of the table is loaded when it is first asked for; others are missing."""

    def __getattr__(name: str) -> Any:
        if name in LATER:
            return vars(sys.modules[module]).setdefault(name, found(name))
        if otherwise is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return otherwise(name)

    return __getattr__


_made: dict[str, Any] = {}
