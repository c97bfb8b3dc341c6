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
    Median MultiMarginLoss MultilabelMarginLoss Multinomial MultinomialWithReplacement NoRepeatNGram
    ParallelConcat Poisson RandomGamma RandomPoisson RandomShuffle ResizeBicubic SGD SparseApplyAdadelta
    SparseApplyAdagrad SparseApplyAdagradV2 SparseApplyFtrl SparseApplyFtrlV2 SparseApplyProximalAdagrad
    SparseApplyRMSProp SparseSegmentMean SparseTensorDenseAdd SparseTensorDenseMatmul SparseToDense StandardLaplace
    UniformCandidateSampler UpsampleNearest3D UpsampleTrilinear3D
primitive_grads: ACosGrad AbsGrad AcoshGrad AsinGrad AsinhGrad AtanGrad AvgPoolGrad BatchNormGrad BiasAddGrad
    BinaryCrossEntropyGrad ConcatOffset Conv2DBackpropFilter DropoutGrad EluGrad FastGeLUGrad FlattenGrad
    GatherDGradV2 GeLUGrad HShrinkGrad HSigmoidGrad HSwishGrad InvGrad KLDivLossGrad L2NormalizeGrad LRNGrad
    LayerNormGrad LogSoftmaxGrad LogitGrad MaskedSelectGrad MaxPoolGrad MaxPoolGradWithArgmax MaximumGrad MinimumGrad
    NLLLossGrad PReLUGrad ReLU6Grad ReciprocalGrad ReluGrad ResizeBilinearGrad ResizeNearestNeighborGrad RsqrtGrad
    SiLUGrad SigmoidCrossEntropyWithLogitsGrad SigmoidGrad SliceGrad SmoothL1LossGrad SoftShrinkGrad SoftmaxBackward
    SoftplusGrad SqrtGrad StridedSliceGrad SumExt TanhGrad TraceGrad
primitive_wide: Betainc CheckNumerics Conv3D Conv3DTranspose HSVToRGB IdentityN
    Igamma Igammac Lstsq PadV3 Polygamma RGBToHSV STFT TripletMarginLoss TruncatedNormal UniqueWithPad Zeta
primitive_seldom: AdjustHue AdjustSaturation Assert BatchToSpace Cauchy Coalesce CombinedNonMaxSuppression
    CompareAndBitpack ComputeAccidentalHits ConvertToDynamic CumulativeLogsumexp DataFormatVecPermute Dilation2D
    DropoutDoMask DropoutGenMask Expand ExtractImagePatches ExtractVolumePatches FastGelu Fills FusedSparseFtrl
    FusedSparseProximalAdagrad GpuConvertToDynamicShape LARSUpdate LerpScalar Load LogNormalReverse LogSoftmaxExt
    MatrixLogarithm MatrixSolveLs NonDeterministicInts NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps
    ParameterizedTruncatedNormal RaggedRange RandpermV2 ResizeLinear1D ScatterAddWithAxis ScatterNonAliasingAdd
    SelectView SpaceToBatch SparseGatherV2 SparseSlice TensorToTuple TransposeExtView TransposeView TridiagonalMatMul
python_words: augassign_add augassign_div augassign_floordiv augassign_mod augassign_mul augassign_sub bool_and bool_eq
    bool_not bool_or dict_getitem dict_setitem in_dict is_ is_not list_equal list_getitem list_len list_setitem
    make_dict make_list make_slice make_tuple not_in_dict scalar_add scalar_div scalar_eq scalar_floordiv scalar_ge
    scalar_gt scalar_le scalar_log scalar_lt scalar_max scalar_min scalar_mod scalar_mul scalar_ne scalar_pow
    scalar_sub scalar_uadd scalar_usub shape_mul string_concat string_eq tuple_equal tuple_getitem tuple_reversed
    tuple_setitem
wide: conv3d_transpose expand floor_div floordiv floormod padding stft unique_with_pad
seldom: add_layer_norm add_rms_norm array_to_scalar bernoulli_ clamp_ coalesce coo2csr coo_tensor_get_dense_shape
    coo_tensor_get_indices coo_tensor_get_values csr2coo csr_div csr_gather csr_mm csr_tensor_get_dense_shape
    csr_tensor_get_indices csr_tensor_get_indptr csr_tensor_get_values erfinv_ exponential_ hastype i0 inplace_sigmoid
    isconstant make_coo_tensor make_csr_tensor make_row_tensor make_row_tensor_inner make_sparse_tensor
    moe_token_permute moe_token_unpermute move_to normal_ poisson put_ random_categorical reshape_
    rotary_position_embedding row_stack row_tensor_add row_tensor_get_dense_shape row_tensor_get_indices
    row_tensor_get_values shape_ stop_gradient_ tail tanh_ tensor_expm1 tensor_muls tensor_range tensor_slice top_k
    tuple_div typeof uniform_ upsample zero_
together: AllGather AlltoAll Barrier Broadcast CollectiveGather CollectiveScatter Reduce ReduceScatter
hooks: PrimitiveWithCheck PrimitiveWithInfer prim_arg_register prim_attr_register
rare: col2im sparse_segment_mean
resizing: deformable_conv2d
walks: ForiLoop Scan WhileLoop
taylor: derivative jet linearize
"""

_MINT = """
    amax_ext amin_ext any_ext all_ext argmax_ext argmin_ext argsort_ext baddbmm_ext bernoulli_ext broadcast_to_view
    chunk_view concat_ext count_nonzero_ext cummin_ext cumsum_ext diff_ext div_ext einsum_ext flatten_ext
    float_power_ext full_ext gather_ext isnan_ext linspace_ext matmul_ext max_ext mean_ext min_ext narrow_view
    norm_ext prod_ext rand_ext rand_like_ext randint_ext randint_like_ext randn_ext randn_like_ext randperm_ext
    select_ext_view sort_ext split_view std_ext sub_ext sum_ext tile_ext topk_ext transpose_ext_view unsqueeze_view
    var_ext"""
_MINT_NN = """
    adaptive_avg_pool2d_ext binary_cross_entropy_ext conv2d_ext cross_entropy_ext dropout_ext elu_ext gelu_ext glu_ext
    layer_norm_ext leaky_relu_ext log_softmax_ext mse_loss_ext nll_loss_ext one_hot_ext softmax_ext softplus_ext"""
_TOGETHER = """
    P2POp all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object all_to_all
    all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list destroy_process_group gather_object
    get_backend get_global_rank get_group_rank get_process_group_ranks get_rank get_world_size init_process_group irecv
    is_available is_initialized isend new_group recv recv_object_list reduce reduce_scatter reduce_scatter_tensor
    reduce_scatter_tensor_uneven scatter_object_list send send_object_list"""
LATER = {
    name: module
    for line in TABLE.replace("\n    ", " ").strip().splitlines()
    for module, _, names in [line.partition(": ")]
    for name in names.split()
}
"""The module of each name."""
COVERS = {
    name: f"{place}.{name.removesuffix('_view').removesuffix('_ext')}"
    for place, names in (
        ("mycelia.mint", _MINT),
        ("mycelia.mint.nn.functional", _MINT_NN),
        ("mycelia.mint.distributed", _TOGETHER),
    )
    for name in names.split()
} | {"functional_overload": "mycelia.mint"}
"""Names by which MindSpore's own files call functions of `mint`, and where these are."""


def found(name: str) -> Any:
    """What a name of the table is: functions explain what they take.

    >>> found("lp_pool1d").__name__
    'lp_pool1d'
    """
    made = _made.get(name)
    if name in COVERS:
        place, _, last = COVERS[name].rpartition(".")
        return getattr(import_module(place), last)
    if made is None:
        thing = getattr(import_module(f"mycelia.ops.{LATER[name]}"), name)
        made = _made.setdefault(name, thing if isinstance(thing, type) else listening(thing))
    return made


def at_last(module: str, otherwise: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a module: a name of the table is loaded when it is first asked for; others are missing."""

    def __getattr__(name: str) -> Any:
        if name in LATER or name in COVERS:
            return vars(sys.modules[module]).setdefault(name, found(name))
        if f"{module}.{name}" in sys.modules:  # a module below, which a second copy of this one does not have yet
            return sys.modules[f"{module}.{name}"]
        if otherwise is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return otherwise(name)

    return __getattr__


_made: dict[str, Any] = {}
