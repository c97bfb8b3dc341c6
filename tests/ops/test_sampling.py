"""Images at points between their elements, and windows of them, beside SciPy and NumPy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import MyceliaError
from tests.ops.judged import check_gradient, check_values

RNG = np.random.default_rng(0)
IMAGE, POINTS = RNG.normal(size=(2, 3, 4, 5)), RNG.uniform(-1.4, 1.4, size=(2, 3, 2, 2))
SOLID, IN_SOLID = RNG.normal(size=(1, 2, 3, 4, 3)), RNG.uniform(-1.3, 1.3, size=(1, 2, 2, 2, 3))
BEYOND = {("zeros", True): "grid-constant", ("zeros", False): "grid-constant", ("border", True): "nearest",
          ("border", False): "nearest", ("reflection", True): "mirror", ("reflection", False): "reflect"}  # fmt: skip


def sampled(order, beyond, aligned):
    def oracle(x, grid):
        sizes = np.array(x.shape[2:])
        at = np.moveaxis(grid[..., ::-1], -1, 1)  # along each axis, in elements
        sizes = sizes.reshape(1, -1, *[1] * (grid.ndim - 2))
        at = (at + 1) / 2 * (sizes - 1) if aligned else ((at + 1) * sizes - 1) / 2
        kind = BEYOND[beyond, aligned]
        return np.stack([
            np.stack([ndimage.map_coordinates(c, a, order=order, mode=kind) for c in one])
            for one, a in zip(x, at, strict=True)
        ])  # fmt: skip

    return oracle


GRIDS = {
    f"{mode} {beyond} {aligned} {x.ndim - 2}": (
        lambda x, g, m=mode, b=beyond, a=aligned: ops.grid_sample(x, g, m, b, a), sampled(order, beyond, aligned), x, g,
    )
    for mode, order in (("bilinear", 1), ("nearest", 0))
    for beyond, aligned in BEYOND
    for x, g in ((IMAGE, POINTS), (SOLID, IN_SOLID))
}  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_images_are_read_at_points_as_scipy_reads_them(name):
    check_values(GRIDS[name], lambda f: f, 1e-8)
    if "2" in name[-1]:
        check_values(GRIDS[name], ms.jit, 1e-8)
        check_gradient(GRIDS[name])


@pytest.mark.parametrize("beyond", ["zeros", "border", "reflection"])
def test_cubic_reading_is_exact_at_elements_and_smooth_between(beyond):
    rows, columns = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 5), indexing="ij")
    grid = np.broadcast_to(np.stack([columns, rows], -1), (2, 4, 5, 2)).copy()
    read = ops.grid_sample(Tensor(IMAGE), Tensor(grid), "bicubic", beyond, True)
    np.testing.assert_allclose(read.asnumpy(), IMAGE, atol=1e-12)
    flat = ops.grid_sample(Tensor(np.ones((2, 1, 4, 5))), Tensor(POINTS * 0.1), "bicubic", beyond)
    np.testing.assert_allclose(flat.asnumpy(), 1.0, atol=1e-12)  # the weights of all elements are 1 together
    check_gradient((lambda x, g: ops.grid_sample(x, g, "bicubic", beyond), None, IMAGE, POINTS))


@pytest.mark.parametrize("aligned", [True, False])
def test_grids_are_points_times_matrices(aligned):
    theta = RNG.normal(size=(2, 2, 3))
    unit = ops.affine_grid(Tensor(np.eye(2, 3)[None].repeat(2, 0)), (2, 1, 3, 4), aligned).asnumpy()
    last = 1 if aligned else 1 - 1 / 4
    np.testing.assert_allclose(unit[0, 0, :, 0], np.linspace(-last, last, 4))
    moved = np.einsum("nij,nhwj->nhwi", theta, np.concatenate([unit, np.ones((2, 3, 4, 1))], -1))
    case = (lambda t: ops.affine_grid(t, (2, 1, 3, 4), aligned), lambda t: moved, theta)
    check_values(case, ms.jit)
    check_gradient(case)
    assert ops.affine_grid(Tensor(RNG.normal(size=(2, 3, 4))), (2, 1, 3, 1, 2), aligned).shape == (2, 3, 1, 2, 3)
    once = ops.grid_sample(
        Tensor(IMAGE), Tensor(ops.affine_grid(Tensor(np.eye(2, 3)[None].repeat(2, 0)), (2, 3, 4, 5)))
    )
    np.testing.assert_allclose(once.asnumpy(), IMAGE, atol=1e-12)


def windows(kernel, gap, around, step):
    def oracle(x):
        wide = np.pad(x, ((0, 0), (0, 0), (around[0],) * 2, (around[1],) * 2))
        size = [g * (k - 1) + 1 for k, g in zip(kernel, gap, strict=True)]
        seen = sliding_window_view(wide, size, (2, 3))[:, :, :: step[0], :: step[1], :: gap[0], :: gap[1]]
        return seen.transpose(0, 1, 4, 5, 2, 3).reshape(len(x), x.shape[1] * kernel[0] * kernel[1], -1)

    return oracle


SETTINGS = [((2, 3), (1, 1), (0, 0), (1, 1)), ((2, 2), (2, 2), (1, 1), (2, 2)), ((3, 1), (1, 2), (1, 0), (2, 1))]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_windows_are_numpys_and_folding_is_their_transpose(setting):
    kernel, gap, around, step = setting
    case = (lambda x: ops.unfold(x, kernel, gap, around, step), windows(*setting), IMAGE)
    for run in (lambda f: f, ms.jit):
        check_values(case, run)
    check_gradient(case)
    columns = windows(*setting)(IMAGE)
    other = RNG.normal(size=columns.shape)
    folded = ops.fold(Tensor(other), (4, 5), kernel, gap, around, step)
    np.testing.assert_allclose((columns * other).sum(), (IMAGE * folded.asnumpy()).sum(), rtol=1e-12)
    check_gradient((lambda y: ops.fold(y, (4, 5), kernel, gap, around, step), None, other))


def test_mistakes_are_told():
    x, g = Tensor(IMAGE), Tensor(POINTS)
    for call, words in (
        (lambda: ops.grid_sample(x, g[:1]), "do not fit images"),
        (lambda: ops.grid_sample(x, g, "cubic"), "mode of grid_sample"),
        (lambda: ops.grid_sample(Tensor(SOLID), Tensor(IN_SOLID), "bicubic"), "two axes"),
        (lambda: ops.affine_grid(Tensor(np.eye(2)), (1, 1, 2, 2)), "do not fit images"),
        (lambda: ops.unfold(x, 9), "does not fit images"),
        (lambda: ops.fold(x, (4, 5), 2), "do not make images"),
    ):
        with pytest.raises(MyceliaError, match=words):
            call()


def test_boxes_of_images_are_brought_to_one_size():
    """A box from edge to edge, as many points as elements: the image; others are points of a grid."""
    x = RNG.normal(size=(2, 3, 4, 2)).astype(np.float32)
    whole = ops.crop_and_resize(Tensor(x), Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([1]), (3, 4))
    np.testing.assert_allclose(whole.asnumpy()[0], x[1], atol=1e-6)
    y1, x1, y2, x2 = 0.1, -0.2, 0.9, 0.8
    part = ops.crop_and_resize(Tensor(x), Tensor([[y1, x1, y2, x2]]), Tensor([0]), (5, 3), extrapolation_value=7.0)
    rows, columns = np.meshgrid(np.linspace(y1, y2, 5) * 2, np.linspace(x1, x2, 3) * 3, indexing="ij")
    want = [ndimage.map_coordinates(x[0, :, :, c], [rows, columns], order=1, cval=7.0) for c in range(2)]
    np.testing.assert_allclose(part.asnumpy()[0], np.stack(want, -1), atol=1e-5)
    with pytest.raises(MyceliaError, match="method of crop_and_resize"):
        ops.crop_and_resize(Tensor(x), Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([1]), (3, 4), "cubic")


def test_regions_are_means_of_points_in_them():
    x = RNG.normal(size=(1, 2, 6, 6)).astype(np.float32)
    region = np.array([[0, 1.0, 2.0, 7.0, 9.0]], np.float32)  # image, x, y, x, y
    got = ops.ROIAlign(2, 3, 0.5, 2, 0)(Tensor(x), Tensor(region)).asnumpy()[0]
    rows, columns = 1 + (np.arange(4) + 0.5) / 4 * 3.5, 0.5 + (np.arange(6) + 0.5) / 6 * 3
    at = np.meshgrid(rows, columns, indexing="ij")
    points = np.stack([ndimage.map_coordinates(c, at, order=1) for c in x[0]])
    np.testing.assert_allclose(got, points.reshape(2, 2, 2, 3, 2).mean((2, 4)), atol=1e-6)
    plane = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])  # 1 + x + 2 y; cells are a quarter
    small = ops.ROIAlign(2, 2, 0.5)(plane, Tensor([[0.0, 0.2, 0.3, 0.2, 0.3]])).asnumpy()[0, 0]
    np.testing.assert_allclose(small, [[1.775, 2.025], [2.275, 2.525]], rtol=1e-6)
    check_gradient((lambda x: ops.ROIAlign(2, 2, 1.0)(x, Tensor(region / 3)), None, x.astype(np.float64)))


def test_what_lies_beyond_an_image_is_nothing_whatever_its_border_holds():
    border = np.full((1, 2, 3, 4), np.inf)
    border[0, 1] = np.nan
    away = np.array([[[[-3.0, -3.0], [3.0, 3.0], [0.0, 9.0]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        for read in (ops.grid_sample, ms.jit(ops.grid_sample)):
            assert (read(Tensor(border), Tensor(away), mode).asnumpy() == 0).all()
    crops = ops.crop_and_resize(Tensor(np.moveaxis(border, 1, 3), ms.float32), Tensor([[2.0, 2.0, 3.0, 3.0]]),
                                Tensor([0]), (2, 2), extrapolation_value=7.0)  # fmt: skip
    assert (crops.asnumpy() == 7).all()
