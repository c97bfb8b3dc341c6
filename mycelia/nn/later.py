"""Names of `mycelia.nn` that are loaded when they are first asked for: a module, and the names that are in it."""

TABLE = """
activation: CELU FastGelu GLU HShrink HSigmoid HSwish Hardtanh PReLU RReLU SeLU SoftShrink Softmax2d Softmin
    Softsign Tanhshrink Threshold
likelihood: CTCLoss FocalLoss GaussianNLLLoss PoissonNLLLoss SampledSoftmaxLoss
margin: CosineEmbeddingLoss DiceLoss HingeEmbeddingLoss MarginRankingLoss MultiClassDiceLoss
    MultiLabelSoftMarginLoss MultiMarginLoss MultilabelMarginLoss SoftMarginLoss TripletMarginLoss
    TripletMarginWithDistanceLoss
recurrent: GRU GRUCell LSTM LSTMCell RNN RNNCell
transformer: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
"""

LATER = {
    name: module
    for line in TABLE.replace("\n    ", " ").strip().splitlines()
    for module, _, names in [line.partition(": ")]
    for name in names.split()
}
"""The module of each name."""
