"""The Transformer: layers of attention and of two affine maps, stacked into an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from mycelia import checks, ops
from mycelia.common.initializer import initializer
from mycelia.eager import Tensor
from mycelia.errors import CallError, ShapeError
from mycelia.nn.attention import MultiheadAttention
from mycelia.nn.basic import Dense, Dropout
from mycelia.nn.cell import Cell
from mycelia.nn.container import CellList
from mycelia.nn.normalization import LayerNorm
from mycelia.types import DType, float32

FUNCTIONS = {"relu": ops.relu, "gelu": ops.gelu}


class TransformerLayer(Cell):
    """What both layers are made of: self-attention, two affine maps, and residual paths around each of their blocks."""

    norm1: Cell
    norm2: Cell
    norm3: Cell
    dropout1: Cell
    dropout2: Cell
    dropout3: Cell

    def __init__(
        self,
        blocks: int,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: str | Callable[[Tensor], Tensor],
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        dtype: DType,
    ) -> None:
        super().__init__()
        checks.whole(self.cls_name, "dim_feedforward", dim_feedforward, least=1)
        self.norm_first = checks.truth(self.cls_name, "norm_first", norm_first)
        self.activation = _activation(self.cls_name, activation)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        if blocks == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        for number in range(1, blocks + 1):
            setattr(self, f"norm{number}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for number in range(1, blocks + 1):
            setattr(self, f"dropout{number}", Dropout(p=dropout))

    def around(self, x: Tensor, norm: Cell, dropout: Cell, block: Callable[..., Tensor], *given: Any) -> Tensor:
        """A block and the path around it; the norm is before the block, or after both are added."""
        if self.norm_first:
            return x + dropout(block(norm(x), *given))  # type: ignore[no-any-return]
        return norm(x + dropout(block(x, *given)))  # type: ignore[no-any-return]

    def look(self, x: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        """What the places see of each other."""
        return self.self_attn(x, x, x, padding, False, mask)[0]  # type: ignore[no-any-return]

    def feed(self, x: Tensor) -> Tensor:
        """Two affine maps of every place."""
        return self.dense2(self.dropout(self.activation(self.dense1(x))))  # type: ignore[no-any-return]


def _activation(owner: str, activation: Any) -> Callable[[Tensor], Tensor]:
    if isinstance(activation, str):
        return FUNCTIONS[checks.choice(owner, "activation", activation, tuple(FUNCTIONS))]
    if not callable(activation):
        raise CallError(
            f"activation of {owner} is a name or a function", given={"activation": activation}, hint='such as "relu"'
        )
    return activation  # type: ignore[no-any-return]


class TransformerEncoderLayer(TransformerLayer):
    """Self-attention, then two affine maps, each with a path around it and a norm.

    >>> layer = TransformerEncoderLayer(d_model=4, nhead=2, dim_feedforward=8)
    >>> layer(ops.ones((3, 1, 4), float32)).shape
    (3, 1, 4)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            2, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        )

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        x = self.around(src, self.norm1, self.dropout1, self.look, src_mask, src_key_padding_mask)
        return self.around(x, self.norm2, self.dropout2, self.feed)


class TransformerDecoderLayer(TransformerLayer):
    """Self-attention, attention on what the encoder remembers, then two affine maps.

    >>> layer = TransformerDecoderLayer(d_model=4, nhead=2, dim_feedforward=8)
    >>> layer(ops.ones((3, 1, 4), float32), ops.ones((5, 1, 4), float32)).shape
    (3, 1, 4)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            3, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        )

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        x = self.around(tgt, self.norm1, self.dropout1, self.look, tgt_mask, tgt_key_padding_mask)
        x = self.around(x, self.norm2, self.dropout2, self.recall, memory, memory_mask, memory_key_padding_mask)
        return self.around(x, self.norm3, self.dropout3, self.feed)

    def recall(self, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        """What the places see of the encoder's."""
        return self.multihead_attn(x, memory, memory, padding, False, mask)[0]  # type: ignore[no-any-return]


class LayerStack(Cell):
    """The family: copies of a layer, one on the outputs of the other, and a norm behind the last."""

    def __init__(self, layer: Cell, num_layers: int, norm: Cell | None) -> None:
        super().__init__()
        self.num_layers = checks.whole(self.cls_name, "num_layers", num_layers, least=1)
        self.layers = CellList([deepcopy(layer) for _ in range(num_layers)])
        self.norm = norm

    def through(self, x: Tensor, *given: Any) -> Tensor:
        """The result for x, where every layer is given the rest too."""
        for layer in self.layers:
            x = layer(x, *given)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(LayerStack):
    """`num_layers` copies of an encoder layer, and a norm.

    >>> encoder = TransformerEncoder(TransformerEncoderLayer(4, 2, 8), num_layers=2)
    >>> encoder(ops.ones((3, 1, 4), float32)).shape
    (3, 1, 4)
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        return self.through(src, src_mask, src_key_padding_mask)


class TransformerDecoder(LayerStack):
    """`num_layers` copies of a decoder layer, and a norm.

    >>> decoder = TransformerDecoder(TransformerDecoderLayer(4, 2, 8), num_layers=2)
    >>> decoder(ops.ones((3, 1, 4), float32), ops.ones((5, 1, 4), float32)).shape
    (3, 1, 4)
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        return self.through(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)


class Transformer(Cell):
    """An encoder of the source, and a decoder of the target that looks at what the encoder gives.

    >>> net = Transformer(d_model=4, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8)
    >>> net(ops.ones((5, 1, 4), float32), ops.ones((3, 1, 4), float32)).shape
    (3, 1, 4)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        settings = d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype

        def norm() -> LayerNorm:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm()
        )
        for weight in self.get_parameters():
            if weight.ndim > 1:
                weight.set_data(initializer("xavier_uniform", weight.shape, weight.dtype))

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.ndim != tgt.ndim or (src.ndim == 3 and src.shape[batch] != tgt.shape[batch]):
            raise ShapeError(
                "source and target have as many examples", given={"src": src.shape, "tgt": tgt.shape},
                hint="(time, batch, features), with batch_first (batch, time, features)",
            )  # fmt: skip
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ShapeError(
                f"Transformer of d_model {self.d_model} was given other features",
                given={"src": src.shape, "tgt": tgt.shape},
                hint="the last axes are d_model long",
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(  # type: ignore[no-any-return]
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )
