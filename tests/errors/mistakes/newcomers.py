"""What newcomers write: classes for objects, settings out of range, modules and words of other frameworks."""

import tempfile

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops, train
from mycelia import dataset as ds
from tests.errors.collect import mistake

X = Tensor(np.ones((2, 3), np.float32))
W = Tensor(np.ones((4, 5), np.float32))
V = Tensor([1.0, 2.0, 3.0])
I = Tensor([1, 2])  # noqa: E741
NET = nn.Dense(3, 4)
SGD = nn.SGD(NET.trainable_params(), 0.1)
DATA = ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
FOLDER = tempfile.mkdtemp()
MODEL = train.Model(NET, nn.MSELoss(), SGD)
ROWS = ds.NumpySlicesDataset({"x": np.ones((4, 3), np.float32), "y": np.ones((4, 4), np.float32)}, shuffle=False).batch(
    2
)


class Silent(nn.Cell):
    def construct(self, x):
        x * 2


class Empty(nn.Cell):
    pass


@mistake(jit=False)
def a_class_in_place_of_a_tensor():
    return ops.relu(nn.Dense)


@mistake(X, jit=False)
def a_class_in_a_sequence(x):
    return nn.SequentialCell([nn.Dense(3, 4), nn.ReLU])(x)


@mistake(X, jit=False)
def a_layer_made_of_a_tensor(x):
    return nn.ReLU(x)


@mistake(X, jit=False)
def a_dense_layer_made_of_a_tensor(x):
    return nn.Dense(x)


@mistake(X, I, jit=False)
def a_loss_made_of_its_arguments(x, y):
    return nn.CrossEntropyLoss(x, y)


@mistake(X, X, jit=False)
def another_loss_made_of_its_arguments(x, y):
    return nn.MSELoss(x, y)


@mistake(jit=False)
def a_model_of_a_class():
    return ms.Model(nn.Dense, nn.MSELoss(), SGD)


@mistake(X)
def a_network_without_construct(x):
    return Empty()(x)


@mistake(X, jit=False)
def a_gradient_of_a_network_that_returns_nothing(x):
    return ms.grad(Silent())(x)


@mistake(X, jit=False)
def weights_that_were_not_asked_for(x):
    return ms.grad(NET, None, NET.trainable_params)(x)


@mistake(X, jit=False)
def a_network_as_weights(x):
    return ms.value_and_grad(NET, None, NET)(x)


@mistake(jit=False)
def nesterov_without_momentum():
    return nn.SGD(NET.trainable_params(), 0.1, nesterov=True)


@mistake(jit=False)
def a_setting_of_an_optimizer_spelt_wrong():
    return nn.SGD(NET.trainable_params(), 0.1, weightdecay=1e-3)


@mistake(jit=False)
def momentum_that_was_forgotten():
    return nn.Momentum(NET.trainable_params(), 0.1)


@mistake(jit=False)
def a_beta_above_one():
    return nn.Adam(NET.trainable_params(), 0.1, beta1=1.5)


@mistake(jit=False)
def parameters_that_were_not_asked_for():
    return nn.Adam(NET.trainable_params, 0.1)


@mistake(X, jit=False)
def gradients_in_a_dictionary(x):
    return SGD({"a": x})


@mistake(jit=False)
def gradients_that_are_none():
    return SGD(None)


@mistake(jit=False)
def a_convolution_without_its_window():
    return nn.Conv2d(3, 4)


@mistake(jit=False)
def a_padding_that_is_a_mode():
    return nn.Conv2d(3, 4, 3, padding="same")


@mistake(X)
def dims_in_place_of_an_axis(x):
    return ops.sum(x, dims=1)


@mistake(X)
def dimension_in_place_of_an_axis(x):
    return ops.softmax(x, dimension=1)


@mistake(X)
def a_view_of_another_size(x):
    return x.view(4, 2)


@mistake(X)
def a_permutation_with_an_axis_that_is_not_there(x):
    return x.permute(0, 2)


@mistake(X)
def an_expansion_that_does_not_fit(x):
    return x.expand(4, 3)


@mistake(X)
def a_batch_product_of_matrices(x):
    return ops.bmm(x, x)


@mistake(X)
def a_dropout_of_more_than_everything(x):
    return ops.dropout(x, p=2.0)


@mistake(I)
def a_one_hot_without_its_depth(x):
    return ops.one_hot(x)


@mistake(X, jit=False)
def a_recurrent_layer_of_a_matrix(x):
    return nn.LSTM(4, 5)(x)


@mistake(Tensor(np.ones((2, 3, 6), np.float32)), jit=False)
def a_recurrent_layer_of_another_width(x):
    return nn.LSTM(4, 5)(x)


@mistake(X, jit=False)
def a_norm_of_images_of_a_matrix(x):
    return nn.BatchNorm2d(3)(x)


@mistake(X, jit=False)
def a_pooling_of_a_matrix(x):
    return nn.MaxPool2d(2)(x)


@mistake(X)
def a_slice_to_a_fraction(x):
    return x[0:1.5]


@mistake(jit=False)
def a_type_spelt_wrong():
    return Tensor([1], "flot32")


@mistake(jit=False)
def a_random_number_from_nowhere():
    return ops.randint(5, 1, (2,))


@mistake(jit=False)
def a_random_tensor_of_negative_size():
    return ops.rand(-1)


@mistake(jit=False)
def a_checkpoint_that_is_a_number():
    return ms.load_checkpoint(3)


@mistake(jit=False)
def a_checkpoint_of_nothing():
    return ms.save_checkpoint(None, FOLDER + "/x.ckpt")


@mistake(jit=False)
def parameters_that_are_none():
    return ms.load_param_into_net(NET, None)


@mistake(X, jit=False)
def a_name_that_is_a_number(x):
    return Parameter(x, 3)


@mistake(V, jit=False)
def a_tensor_in_place_of_a_parameter(x):
    return NET.weight.set_data(x)


@mistake(X)
def a_list_of_cells_that_is_called(x):
    return nn.CellList([nn.ReLU()])(x)


@mistake(jit=False)
def training_that_is_text():
    return NET.set_train("yes")


@mistake(jit=False)
def columns_kept_that_are_none():
    return DATA.project(None)


@mistake(jit=False)
def columns_kept_that_are_numbers():
    return DATA.project([1])


@mistake(jit=False)
def a_map_of_a_number():
    return DATA.map(3)


@mistake(jit=False)
def a_filter_that_is_a_number():
    return DATA.filter(3)


@mistake(jit=False)
def a_batch_of_text():
    return DATA.batch("4")


@mistake(jit=False)
def rows_without_names():
    return ds.GeneratorDataset([(1, 2)])


@mistake(jit=False)
def rows_that_are_a_number():
    return ds.GeneratorDataset(3, ["a"])


@mistake(jit=False)
def a_repeat_of_text():
    return DATA.repeat("a")


@mistake(jit=False)
def as_many_names_as_there_are_not():
    return DATA.rename(["a", "b"], ["c"])


@mistake(jit=False)
def one_dataset_zipped():
    return ds.zip(DATA)


@mistake(jit=False)
def shares_above_one():
    return DATA.split([0.5, 0.7])


@mistake(jit=False)
def slices_of_a_number():
    return ds.NumpySlicesDataset(3)


@mistake(jit=False)
def a_folder_that_is_not_there():
    return ds.ImageFolderDataset("nowhere")


@mistake(jit=False)
def a_file_that_is_not_there():
    return ds.CSVDataset("nowhere.csv")


@mistake(I.astype(ms.int32), X)
def logits_and_labels_exchanged(x, y):
    return ops.cross_entropy(x, y)


@mistake(Tensor([1.5]), jit=False)
def a_probability_above_one(x):
    return nn.BCELoss()(x, x)


@mistake(jit=False)
def a_triangle_of_a_number():
    return ops.triu(3)


@mistake(jit=False)
def a_decay_that_goes_up():
    return nn.PolynomialDecayLR(0.1, 0.2, 5, 1.0)


@mistake(jit=False)
def a_precision_that_does_not_exist():
    return ms.amp.auto_mixed_precision(NET, "O9")


@mistake(jit=False)
def a_precision_that_is_none():
    return NET.to_float("low")


@mistake(X, jit=False)
def an_export_to_a_picture(x):
    return ms.export(NET, x, file_name=FOLDER + "/m", file_format="PNG")


@mistake(jit=False)
def optimizers_imported_as_in_pytorch():
    import mycelia.optim  # noqa: F401


@mistake(jit=False)
def functional_imported_as_in_pytorch():
    import mycelia.nn.functional  # noqa: F401


@mistake(jit=False)
def a_data_loader_imported_as_in_pytorch():
    from mycelia.utils.data import DataLoader  # noqa: F401


@mistake(X, I + 1)
def an_index_of_one_of_many_examples(x, y):
    return ms.vmap(lambda row, i: row[i])(x, y)


@mistake()
def a_shape_that_is_no_tuple():
    return ops.zeros(2, 3)


@mistake(jit=False)
def a_network_saved_as_in_keras():
    NET.save("net.ckpt")


@mistake(jit=False)
def a_summary_as_in_keras():
    NET.summary()


@mistake(jit=False)
def a_model_compiled_as_in_keras():
    MODEL.compile("adam", "mse")


@mistake(jit=False)
def a_model_evaluated_as_in_keras():
    MODEL.evaluate(ROWS)


@mistake(jit=False)
def a_misspelt_method_of_a_model():
    MODEL.pedict(X)


@mistake(jit=False)
def a_dataset_before_the_number_of_epochs():
    MODEL.fit(ROWS, 2)


@mistake(jit=False)
def callbacks_by_name():
    MODEL.train(1, ROWS, callbacks="loss")


@mistake(jit=False)
def a_loss_by_name():
    train.Model(NET, "mse")


@mistake(jit=False)
def an_optimizer_by_name():
    train.Model(NET, nn.MSELoss(), "adam")


@mistake(jit=False)
def a_model_without_a_loss():
    train.Model(NET).train(1, ROWS)


@mistake()
def a_gradient_by_a_whole_number():
    return ms.grad(lambda x: x**3)(2)


@mistake(jit=False)
def gradients_clipped_as_in_pytorch():
    nn.utils.clip_grad_norm_(NET.trainable_params(), 1.0)


@mistake(jit=False)
def sequences_padded_as_in_pytorch():
    ops.pad_sequence([V, V])


@mistake(jit=False)
def a_summary_without_a_shape():
    nn.summary(NET)
