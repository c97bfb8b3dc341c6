"""Names that are not there."""

import mycelia as ms
from mycelia import Tensor, nn, ops
from tests.errors.collect import mistake

X = Tensor([1.0, 2.0])


@mistake(X)
def a_function_spelt_wrong(x):
    return ops.sofmax(x)


@mistake(X)
def a_function_that_only_mindspore_has(x):
    return ops.incre_flash_attention(x, x)


@mistake(X)
def a_function_that_nobody_has(x):
    return ops.nonexistent_thing(x)


@mistake()
def a_package_that_only_mindspore_has():
    return ms.boost.AutoBoost()


@mistake()
def a_name_of_the_package_spelt_wrong():
    return ms.Tensr([1.0])


@mistake()
def a_class_imported_by_a_wrong_name():
    from mycelia import Tensro

    return Tensro


@mistake()
def a_class_that_only_mindspore_has():
    from mycelia import export_split_mindir

    return export_split_mindir


@mistake()
def a_function_imported_by_a_wrong_name():
    from mycelia.ops import sofmax

    return sofmax


@mistake()
def a_layer_that_only_mindspore_has():
    return nn.GetNextSingleOp([ms.float32], [(1,)], "queue")


@mistake()
def module_as_in_pytorch():
    class Net(nn.Module):
        pass

    return Net


@mistake()
def a_random_tensor_as_in_pytorch():
    return ms.randn(3)


@mistake()
def an_attribute_of_a_parameter():
    return ms.Parameter([1.0]).requiresgrad


@mistake()
def functional_as_in_pytorch():
    return nn.functional.relu(X)


@mistake()
def a_dataset_spelt_wrong():
    return ms.dataset.NumpySliceDataset([1])


@mistake()
def a_data_loader_as_in_pytorch():
    return ms.dataset.DataLoader([1])


@mistake()
def optimizers_as_in_pytorch():
    return ms.optim.SGD


@mistake(X)
def a_gradient_asked_for_as_in_pytorch(x):
    return Tensor([1.0], requires_grad=True)


@mistake(X)
def a_tensor_on_a_device_as_in_pytorch(x):
    return Tensor([1.0], device="cuda")


@mistake()
def an_initializer_as_in_pytorch():
    return nn.init.xavier_uniform_(nn.Dense(3, 2).weight)


@mistake()
def a_dataset_method_spelt_wrong():
    return ms.dataset.NumpySlicesDataset([1, 2], ["x"]).bach(2)


@mistake()
def a_transform_spelt_wrong():
    return ms.dataset.vision.Rezise(4)
