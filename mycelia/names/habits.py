"""What users of PyTorch write, and what says it here: names by the place where they are looked for, and keywords."""

from __future__ import annotations

_DEVICE = "a session has one device, chosen with ms.set_device: leave this out"
_GRADIENTS = "gradients are returned, not kept in tensors: use ms.value_and_grad(fn, None, weights), or ms.grad(fn)"
_RECORDING = "nothing is recorded outside ms.grad and its like: leave this out, or use ops.stop_gradient inside"
_TO_CLIP = "gradients are values: grads = ops.clip_by_global_norm(grads, 1.0)"
_LENGTHS = "pad by dataset.padded_batch, and say the lengths: nn.LSTM(3, 4)(x, seq_length=lengths)"
_TO_SAVE = "use ms.save_checkpoint(net, path)"
_TO_LOAD = "use ms.load_param_into_net(net, ms.load_checkpoint(path))"

NAMES: dict[str, dict[str, str]] = {
    "mycelia": {
        **dict.fromkeys(("no_grad", "enable_grad", "inference_mode", "set_grad_enabled"), _RECORDING),
        **dict.fromkeys(("cuda", "device"), _DEVICE),
        "autograd": "use ms.grad, ms.value_and_grad, ms.vjp or ms.jvp",
        "optim": "optimizers are in mycelia.nn: nn.SGD, nn.Adam",
        "utils": "datasets are in mycelia.dataset, and are their own loaders",
        "save": _TO_SAVE,
        "compile": "use ms.jit(fn)",
        "as_tensor": "use ms.Tensor(data)",
        "FloatTensor": "use ms.float32",
        "LongTensor": "use ms.int64",
    },
    "mycelia.nn": {
        "Module": "use nn.Cell, which defines construct in place of forward",
        "Bilinear": "use nn.BiDense(in1_channels, in2_channels, out_channels)",
        **{f"ConvTranspose{n}d": f"use nn.Conv{n}dTranspose" for n in (1, 2, 3)},
        "Sequential": "use nn.SequentialCell",
        "ModuleList": "use nn.CellList",
        "ModuleDict": "use nn.CellDict",
        "Parameter": "use ms.Parameter",
        "functional": "functions are in mycelia.ops",
        "init": "initializers are in mycelia.common.initializer, or given by name: weight_init='normal'",
    },
    "mycelia.nn.utils": {
        **dict.fromkeys(("clip_grad_norm_", "clip_grad_norm"), _TO_CLIP),
        "rnn": _LENGTHS,
    },
    "mycelia.ops": {
        **dict.fromkeys(("clip_grad_norm_", "clip_grad_norm"), _TO_CLIP),
        **dict.fromkeys(("pad_sequence", "pack_padded_sequence"), _LENGTHS),
    },
    "mycelia.dataset": {
        "DataLoader": "a dataset is its own loader: ds.GeneratorDataset(source, columns).batch(32)",
        "TensorDataset": "use ds.NumpySlicesDataset(arrays, columns)",
        "Dataset": "use ds.GeneratorDataset(source, columns), where source has __getitem__ and __len__",
    },
    "Tensor": {
        **dict.fromkeys(("backward", "retain_grad", "grad", "grad_fn", "requires_grad"), _GRADIENTS),
        **dict.fromkeys(("cuda", "cpu", "npu", "is_cuda"), _DEVICE),
        "detach": "use ops.stop_gradient(x)",
        "is_leaf": _RECORDING,
    },
    "Cell": {
        "parameters": "use net.get_parameters(), or net.trainable_params() for an optimizer",
        "named_parameters": "use net.parameters_and_names()",
        "train": "use net.set_train()",
        "eval": "use net.set_train(False)",
        "forward": "a cell defines construct, and is called: net(x)",
        "zero_grad": _GRADIENTS,
        "summary": "use nn.summary(net, shape)",
        "save": _TO_SAVE,
        "save_weights": _TO_SAVE,
        **dict.fromkeys(("load", "load_weights"), _TO_LOAD),
        "fit": "use train.Model(net, loss_fn, optimizer).fit(epochs, dataset)",
        "half": "use net.to_float(ms.float16)",
        **dict.fromkeys(("cuda", "cpu"), f"{_DEVICE}; net.to_float chooses a type"),
        **dict.fromkeys(("children", "modules"), "use net.cells()"),
        **dict.fromkeys(("named_children", "named_modules"), "use net.cells_and_names()"),
        "add_module": "assign it to an attribute, or use net.insert_child_to_cell(name, cell)",
        "register_parameter": "assign it to an attribute, or use net.insert_param_to_cell(name, parameter)",
    },
    "Model": {
        "compile": "give the loss, the optimizer and the metrics to Model(network, loss_fn, optimizer, metrics) itself",
        "evaluate": "use model.eval(dataset)",
        **dict.fromkeys(("save", "save_weights"), _TO_SAVE),
        **dict.fromkeys(("load", "load_weights"), _TO_LOAD),
        "summary": "use nn.summary(net, shape)",
        **dict.fromkeys(("parameters", "trainable_params", "layers"), "ask the network: net.trainable_params()"),
        **dict.fromkeys(("train_on_batch", "train_step"), "a step is model.train_network(data, label)"),
        "history": "give a callback: history = train.History(), and look at history.history",
    },
    "Optimizer": {
        "step": "an optimizer is called with gradients: optimizer(gradients)",
        "zero_grad": f"there is nothing to set to zero: {_GRADIENTS}",
        "param_groups": "use optimizer.parameters, optimizer.get_lr() and optimizer.get_weight_decay()",
    },
}

SYNONYMS = (
    ("axis", "dim"), ("keepdims", "keepdim", "keep_dims"), ("input", "x"), ("ddof", "correction"), ("other", "divisor"),
)  # fmt: skip
"""Keywords that mean the same: a function that has one of them understands the others."""

KEYWORDS: dict[str, str] = {
    "lr": "learning_rate",
    "betas": "beta1 and beta2",
    "in_features": "in_channels",
    "out_features": "out_channels",
    "bias": "has_bias",
    "num_embeddings": "vocab_size",
    "embedding_dim": "embedding_size",
    "groups": "group",
    "padding_mode": "pad_mode",
    "dim": "axis",
    "dims": "axis",
    "axes": "axis",
    "keepdim": "keepdims",
    "elementwise_affine": "begin_params_axis and begin_norm_axis",
    "inplace": "",
    "requires_grad": "",
    "device": "",
    "argnums": "grad_position",
    "argnum": "grad_position",
    "in_dims": "in_axes",
    "out_dims": "out_axes",
    "size_average": "reduction",
    "reduce": "reduction",
    "params": "parameters",
    "path": "ckpt_file_name",
    "epochs": "epoch",
    "validation_data": "valid_dataset",
    "validation_freq": "valid_frequency",
    "loss": "loss_fn",
    "criterion": "loss_fn",
}
"""What a keyword of PyTorch or JAX is called here; empty where there is no need for it."""
