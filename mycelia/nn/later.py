"""Names of `mycelia.nn` that are loaded when they are first asked for: a module, and the names that are in it."""

TABLE = """
activation: CELU FastGelu GLU HShrink HSigmoid HSwish Hardtanh PReLU RReLU SeLU SoftShrink Softmax2d Softmin
    Softsign Tanhshrink Threshold
adaptive: AdaptiveAvgPool1d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
    FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d MaxUnpool1d MaxUnpool2d MaxUnpool3d
anomaly: AnomalyError detect_anomaly
arrays: ClipByNorm L1Regularizer MatMul Moments Norm OneHot Range ReduceLogSumExp Roll Tril Triu
blocks: BiDense Conv2dBnAct DenseBnAct Dropout1d Dropout2d Dropout3d EmbeddingLookup Linear TimeDistributed Unflatten
container: CellDict
conv: Conv1dTranspose Conv2dTranspose Conv3dTranspose
image: CentralCrop ChannelShuffle ImageGradients MSSSIM PSNR PixelShuffle PixelUnshuffle SSIM Unfold Upsample
likelihood: CTCLoss FocalLoss GaussianNLLLoss PoissonNLLLoss SampledSoftmaxLoss
margin: CosineEmbeddingLoss DiceLoss HingeEmbeddingLoss MarginRankingLoss MultiClassDiceLoss
    MultiLabelSoftMarginLoss MultiMarginLoss MultilabelMarginLoss SoftMarginLoss TripletMarginLoss
    TripletMarginWithDistanceLoss
normalization: InstanceNorm1d InstanceNorm2d InstanceNorm3d LRN SyncBatchNorm
older: Conv2dThor DenseThor DiGamma EmbeddingThor IGamma LBeta LGamma MatDet MatInverse ParameterUpdate
    SparseTensorDenseMatmul SparseToDense
optim.adafactor: AdaFactor
optim.rules: ASGD AdaMax Adadelta Adagrad AdamOffload FTRL LARS Lamb LazyAdam ProximalAdagrad RMSProp Rprop
overview: summary
padding: ConstantPad1d ConstantPad2d ConstantPad3d Pad ReflectionPad1d ReflectionPad2d ReflectionPad3d
    ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad2d
pooling: AvgPool3d MaxPool3d
recurrent: GRU GRUCell LSTM LSTMCell RNN RNNCell
transformer: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
wrap: Jvp Vjp WithGradCell
"""

LATER = {
    name: module
    for line in TABLE.replace("\n    ", " ").strip().splitlines()
    for module, _, names in [line.partition(": ")]
    for name in names.split()
}
"""The module of each name."""
