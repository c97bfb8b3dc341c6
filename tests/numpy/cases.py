"""Expressions that mean the same with NumPy's names and with ours: `np` is one or the other, capitals are arrays.

F, G: (3, 4), floating; H: (3, 1); P: positive; U: between -0.9 and 0.9; V, W: vectors of 5; T: (2, 3, 4);
S: without axes; Z: (0, 3), empty; N: with nan; M: square and positive definite; Q: (2, 3, 3) such;
I, J: (3, 4), whole, J positive; K: a vector of positions; B: (3, 4), bools; O: sorted; D: complex.
"""

import numpy as np

rng = np.random.default_rng(7)
F, G, H = rng.normal(size=(3, 4)) * 2, rng.normal(size=(3, 4)) * 2, rng.normal(size=(3, 1))
V, W, T = rng.normal(size=5), rng.normal(size=5), rng.normal(size=(2, 3, 4))
Q = rng.normal(size=(2, 3, 3))
Q = Q @ Q.transpose(0, 2, 1) + np.eye(3)
ARRAYS = {
    "F": F, "G": G, "H": H, "P": np.abs(F) + 0.2, "U": np.clip(F / 3, -0.9, 0.9), "V": V, "W": W, "T": T,
    "S": np.array(0.7), "Z": np.zeros((0, 3)), "N": np.where(F > 1, np.nan, F), "M": Q[0], "Q": Q,
    "I": rng.integers(-9, 9, (3, 4)), "J": rng.integers(1, 7, (3, 4)), "K": np.array([2, 0, 1, 2]),
    "B": rng.random((3, 4)) < 0.5, "O": np.sort(W), "D": F + 1j * G,
}  # fmt: skip

REDUCED = ("F", "F, 0", "F, -1", "T, (0, 2)", "T, axis=1, keepdims=True", "S", "F, axis=()")
ELEMENTWISE = {
    "F": "exp exp2 expm1 sin cos tan sinh cosh tanh arctan arcsinh square cbrt absolute abs fabs "
    "negative positive sign "
    "floor ceil trunc rint signbit sinc deg2rad rad2deg degrees radians isfinite isinf isnan atan asinh fix isposinf "
    "isneginf logical_not round around i0",
    "P": "log log2 log10 log1p sqrt reciprocal",
    "U": "arcsin arccos arctanh asin acos atanh",
    "P + 1": "arccosh acosh",
    "I": "absolute negative sign square invert bitwise_not bitwise_invert isnan floor ceil signbit "
    "exp sqrt bitwise_count",
    "B": "logical_not invert isfinite absolute",
    "S": "exp negative sin floor",
    "Z": "exp negative sign isnan",
}
TWO = {
    "F, G": "add subtract multiply divide true_divide maximum minimum fmax fmin hypot logaddexp "
    "logaddexp2 arctan2 atan2 "
    "fmod remainder mod floor_divide copysign equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor heaviside isclose",
    "P, G": "power pow float_power",
    "I, J": "add subtract multiply divide floor_divide remainder mod fmod maximum minimum gcd lcm "
    "bitwise_and bitwise_or "
    "bitwise_xor equal less logical_and",
    "I, 2": "add multiply power left_shift bitwise_left_shift right_shift bitwise_right_shift",
    "B, B": "logical_and logical_or logical_xor add multiply bitwise_and",
    "F, H": "add subtract multiply maximum",
    "F, 2.5": "add subtract multiply divide maximum power less",
    "S, F": "add multiply",
    "Z, Z": "add multiply equal",
    "F, I": "ldexp",
}
FOLDS = "sum prod mean max min amax amin var std all any ptp count_nonzero"

CASES = [f"np.{name}({x})" for x, names in ELEMENTWISE.items() for name in names.split() if name != "i0"]
CASES += [f"np.{name}({x})" for x, names in TWO.items() for name in names.split()]
CASES += [
    f"np.{name}({x})"
    for name in FOLDS.split()
    for x in REDUCED
    if not (name in ("ptp", "count_nonzero") and x.endswith("=()"))
]
CASES += """
np.sum(I, 0); np.sum(B); np.sum(Z, 0); np.prod(Z); np.sum(F, initial=2.0); np.max(F, initial=0.5, axis=1)
np.sum(F, where=B); np.mean(I, axis=1); np.mean(F, where=B); np.var(F, ddof=1); np.std(F, 0, ddof=1); np.var(I)
np.max(F, initial=-9.0, where=B); np.min(Z, 0, initial=3.0); np.all(F, where=B); np.any(Z, 0)
np.sum(F, dtype="float32"); np.argmax(F); np.argmax(F, 0); np.argmin(T, -1); np.argmin(F, axis=1, keepdims=True)
np.cumsum(F); np.cumsum(I, 1); np.cumprod(F, 0); np.cumprod(J); np.cumulative_sum(V)
np.cumulative_sum(F, axis=1, include_initial=True); np.cumulative_prod(F, axis=-1, include_initial=True)
np.divmod(I, J); np.modf(F); np.clip(F, -1.0, 1.0); np.clip(I, 0, None); np.clip(F, None, G); np.round(F, 2)
np.round(I, -1); np.nan_to_num(N); np.nansum(N); np.nansum(N, 0); np.nanprod(N, axis=1); np.nanmean(N, 0)
np.nanmax(N); np.nanmin(N, axis=1, keepdims=True); np.nanvar(N, 1); np.nanstd(N); np.nancumsum(N)
np.nancumprod(N, 1); np.nanargmax(N, 1); np.nanargmin(N); np.nanmedian(N); np.nanmedian(N, axis=1)
np.nanquantile(N, 0.3, axis=1); np.nanpercentile(N, [20, 70]); np.median(F); np.median(F, 0)
np.median(T, axis=(0, 2)); np.quantile(F, 0.3); np.quantile(F, [0.1, 0.6], axis=1)
np.quantile(V, 0.4, method="lower"); np.quantile(V, 0.4, method="higher"); np.quantile(V, 0.4, method="nearest")
np.quantile(V, 0.4, method="midpoint"); np.percentile(T, 35, axis=-1, keepdims=True); np.median(N, 1); np.average(F)
np.average(F, 0, np.array([1.0, 2.0, 0.5])); np.average(F, weights=P); np.average(F, 1, P, True); np.cov(F)
np.cov(F, G); np.cov(V); np.cov(F, rowvar=False); np.cov(F, bias=True); np.cov(F, ddof=0)
np.cov(F, aweights=np.array([1.0, 2.0, 0.5, 1.5])); np.cov(F, fweights=np.array([1, 2, 3, 1])); np.corrcoef(F)
np.corrcoef(V, W); np.bincount(K); np.bincount(K, minlength=6); np.bincount(K, np.array([0.5, 1.0, 2.0, 1.0]))
np.digitize(F, O); np.digitize(F, O, right=True); np.digitize(F, O[::-1]); np.histogram(F, 4); np.histogram(V, O)
np.histogram(F, 3, (-1.0, 1.0)); np.histogram(F, 4, weights=P); np.histogram(F, 4, density=True)
np.histogram_bin_edges(F, 5); np.histogram2d(V, W, 3); np.histogramdd(F, 2)[0]
np.histogramdd(F, 2, density=True)[0]; np.interp(F, O, V); np.interp(F, O, V, left=-1.0, right=2.0)
np.interp(V, O, W, period=2.0); np.searchsorted(O, F); np.searchsorted(O, V, side="right")
np.searchsorted(W, V, sorter=np.argsort(W)); np.diff(F); np.diff(F, 2, axis=0); np.diff(V, prepend=0.0)
np.diff(F, append=H, axis=1); np.diff(I); np.diff(B); np.ediff1d(F)
np.ediff1d(V, to_begin=1.0, to_end=np.array([2.0, 3.0])); np.gradient(V); np.gradient(F)
np.gradient(F, 0.5, axis=0); np.gradient(V, O); np.gradient(V, O, edge_order=2); np.gradient(V, edge_order=2)
np.gradient(F, 0.5, 2.0); np.trapezoid(F); np.trapezoid(V, O); np.trapezoid(F, dx=0.5, axis=0); np.unwrap(F * 3)
np.unwrap(F, axis=0); np.convolve(V, W); np.convolve(V, W[:2], "same"); np.convolve(V, W[:3], "valid")
np.convolve(K, K); np.convolve(V[:2], W); np.correlate(V, W); np.correlate(V, W[:2], "full")
np.correlate(V[:2], W, "same"); np.correlate(V[:3], W, "valid"); np.dot(F, G.T); np.dot(V, W); np.dot(T, V[:4])
np.dot(F, 2.0); np.dot(T, G.T); np.vdot(F, G); np.inner(F, G); np.inner(V, 2.0); np.outer(V, W); np.matmul(T, G.T)
np.matmul(F, V[:4]); np.vecdot(F, G); np.tensordot(T, F, ([1, 2], [0, 1])); np.tensordot(F, G.T, 1)
np.tensordot(F, V, 0); np.kron(F, G); np.kron(V, F); np.cross(F[:, :3], G[:, :3]); np.matvec(T, V[:4])
np.vecmat(V[:3], F); np.matmul(I, J.T); np.dot(I, K); np.einsum("ij,kj->ik", F, G)
np.einsum("ij,kj,kl->il", F, G, F); np.einsum("ij->j", F); np.einsum("ii", M); np.einsum("...j,j->...", T, V[:4])
np.linalg.multi_dot([F, G.T, F]); np.linalg.multi_dot([V[:3], F, G.T]); np.linalg.norm(F); np.linalg.norm(F, 1)
np.linalg.norm(F, "fro", axis=(0, 1)); np.linalg.norm(T, axis=1); np.linalg.norm(V, np.inf)
np.linalg.norm(F, -np.inf); np.linalg.norm(F, "nuc"); np.linalg.norm(F, 2); np.linalg.norm(V, 3)
np.linalg.norm(F, axis=0, keepdims=True); np.linalg.norm(V, 0); np.linalg.norm(F, -1); np.linalg.cholesky(M)
np.linalg.cholesky(Q); np.linalg.det(Q); np.linalg.slogdet(Q); np.linalg.inv(Q); np.linalg.solve(Q, M)
np.linalg.solve(M, V[:3]); np.linalg.eigvalsh(Q); np.linalg.svdvals(F); np.linalg.pinv(F); np.linalg.matrix_rank(F)
np.linalg.matrix_rank(Q); np.linalg.matrix_power(Q, 3); np.linalg.matrix_power(M, -2); np.linalg.matrix_power(M, 0)
np.linalg.cond(Q); np.linalg.cond(M, 1); np.linalg.lstsq(F.T, V[:4], rcond=None)[0]
np.linalg.vector_norm(T, axis=(0, 2)); np.linalg.vector_norm(F, ord=1); np.linalg.matrix_norm(T, ord=1)
np.linalg.trace(Q); np.linalg.diagonal(Q); np.linalg.outer(V, W); np.linalg.cross(F[:, :3], G[:, :3])
np.linalg.tensorsolve(np.eye(4).reshape(2, 2, 2, 2) * 2.0, F[:2, :2]); np.linalg.qr(F)[0] @ np.linalg.qr(F)[1]
np.reshape(F, (2, 6)); np.reshape(F, -1); np.reshape(T, (4, -1), order="F"); np.ravel(T); np.ravel(F, "F")
np.resize(V, (2, 4)); np.transpose(T); np.transpose(T, (1, 0, 2)); np.permute_dims(T, (2, 0, 1))
np.matrix_transpose(T); np.swapaxes(T, 0, -1); np.moveaxis(T, 0, -1); np.moveaxis(T, (0, 1), (-1, 0))
np.rollaxis(T, 2); np.rollaxis(T, 0, 3); np.expand_dims(F, 1); np.expand_dims(F, (0, -1)); np.squeeze(H)
np.squeeze(H, 1); np.squeeze(T[:1], axis=0); np.atleast_1d(S); np.atleast_2d(V); np.atleast_3d(F); np.atleast_3d(V)
np.broadcast_to(V, (2, 5)); np.broadcast_arrays(F, H); np.tile(F, (2, 1)); np.tile(V, 3); np.tile(F, (2, 1, 2))
np.repeat(F, 2); np.repeat(F, 2, axis=1); np.repeat(V, np.array([1, 0, 2, 1, 1])); np.flip(F); np.flip(T, (0, 2))
np.fliplr(F); np.flipud(F); np.roll(F, 1); np.roll(F, -2, 1); np.roll(T, (1, 2), (0, 2)); np.roll(Z, 1); np.rot90(F)
np.rot90(F, 2); np.rot90(T, 3, (1, 2)); np.trim_zeros(np.array([0.0, 1.0, 0.0, 2.0, 0.0])); np.size(F); np.ndim(T)
np.concatenate((F, G)); np.concatenate((F, H), 1); np.concatenate((F, V), None); np.concat((I, F))
np.stack((F, G), -1); np.unstack(F); np.hstack((F, H)); np.hstack((V, W)); np.vstack((V, W)); np.vstack((F, G))
np.dstack((F, G)); np.dstack((V, W)); np.column_stack((V, W)); np.column_stack((F, H)); np.split(F, 2, 1)
np.split(V, [1, 3]); np.array_split(V, 2); np.hsplit(F, 2); np.vsplit(F, 3); np.dsplit(T, 2); np.append(F, G)
np.append(F, H, 1); np.delete(F, 1, 0); np.delete(V, [0, -1]); np.delete(F, slice(0, 2), 1); np.insert(V, 2, 9.0)
np.insert(F, 1, V[:3], axis=1); np.insert(V, [0, 5], [7.0, 8.0]); np.block([[F, G], [G, F]]); np.block([V, W])
np.where(B, F, G); np.where(B, F, 0.0); np.where(B); np.nonzero(B); np.argwhere(B); np.flatnonzero(B)
np.extract(B, F); np.compress([True, False, True], F, 0); np.take(F, K, 1, mode="clip"); np.take(F, K, mode="wrap")
np.take(F, K); np.take_along_axis(F, np.argsort(F, 1), 1); np.choose(K, [K, K * 2, K * 3])
np.select([F > 1, F < -1], [F, G]); np.select([B, F > 0], [F, G], 7.0)
np.piecewise(F, [F < 0, F >= 1], [lambda x: -x, 3.0, 1.0]); np.diagonal(F); np.diagonal(T, 1, 1, 2); np.trace(F)
np.trace(T, 1, 1, 2); np.ravel_multi_index((K, K), (3, 3)); np.unravel_index(K, (2, 2))
np.unravel_index(K, (2, 2), order="F"); np.diag(V); np.diag(F, 1); np.diagflat(F, -1); np.tril(F); np.triu(T, 1)
np.tril(F, -1); np.vander(V); np.vander(V, 3, increasing=True); np.meshgrid(V, W); np.meshgrid(V, W, indexing="ij")
np.meshgrid(V, K, sparse=True); np.ix_(K, K); np.sort(F); np.sort(F, 0); np.sort(I, None); np.argsort(V)
np.argsort(F, axis=0); np.sort(N); np.lexsort((V, np.round(W))); np.unique(K); np.unique(K, return_inverse=True)
np.unique(I, axis=0); np.unique_counts(K); np.unique_inverse(K); np.unique_all(K); np.sort(np.unique_values(I))
np.isin(I, K); np.isin(I, K, invert=True); np.union1d(K, np.array([5, 1])); np.intersect1d(I, K)
np.intersect1d(K, J, return_indices=True); np.setdiff1d(I, K); np.setxor1d(K, np.array([5, 1]))
np.array_equal(F, F); np.array_equal(F, G); np.array_equal(N, N, equal_nan=True)
np.array_equiv(V, np.stack([V, V])); np.allclose(F, F); np.nextafter(F, G); np.spacing(F); np.pad(F, 1)
np.pad(V, (2, 1), "edge"); np.pad(F, ((1, 2), (0, 3)), "reflect"); np.pad(V, 7, "symmetric")
np.pad(V, 7, "reflect", reflect_type="odd"); np.pad(F, 2, "wrap")
np.pad(V, 3, "linear_ramp", end_values=(5.0, -4.0)); np.pad(F, 2, "maximum"); np.pad(F, 2, "minimum")
np.pad(V, 2, "mean", stat_length=2); np.pad(V, 2, "median"); np.pad(V, 2, constant_values=(3.0, 4.0))
np.pad(I, 1, "mean"); np.polyadd(V, K); np.polysub(V, W[:3]); np.polymul(V, W); np.polydiv(V, W[:2])
np.polyval(V, F); np.polyder(V); np.polyder(V, 2); np.polyint(V); np.polyint(V, 2, [1.0, 2.0]); np.poly(V)
np.polyfit(O, V, 2); np.polyfit(O, V, 1, w=np.abs(W) + 0.1); np.apply_along_axis(lambda v: v.sum(), 0, F)
np.apply_along_axis(lambda v: v * 2.0, 1, T); np.astype(F, "int32")
np.apply_over_axes(lambda x, axis: x.sum(axis), T, (0, 2)); np.vectorize(lambda a, b: a * b)(F, H); np.zeros_like(F)
np.ones_like(I); np.full_like(F, 3); np.full((2, 2), 7); np.eye(3, 4, k=1, dtype="float64"); np.identity(3)
np.tri(3, 4, -1); np.arange(5); np.arange(1, 9, 3); np.arange(5, 0, -2); np.arange(0.0, 1.0, 0.3)
np.linspace(0.0, 1.0, 5); np.linspace(0, 9, 4, dtype="int32"); np.linspace(F[0], G[0], 3)
np.linspace(F[0], G[0], 3, axis=-1, endpoint=False); np.linspace(2.0, 3.0, 1); np.linspace(2.0, 3.0, 0)
np.logspace(0.0, 2.0, 4); np.geomspace(1.0, 1000.0, 4); np.indices((2, 3)); np.mgrid[0:2, 0:3]; np.ogrid[0:2, 0:3]
np.mgrid[0:1:5j]; np.r_[1:4, 0, 9]; np.c_[V, W]; np.tril_indices(3); np.triu_indices(3, 1, 4); np.diag_indices(3)
np.tril_indices_from(F, 1); np.triu_indices_from(F); np.bartlett(6); np.blackman(7); np.hamming(5); np.hanning(8)
np.kaiser(6, 4.0); np.fromfunction(lambda i, j: i * 2 + j, (2, 3)); np.array([[1, 2], [3, 4]])
np.array([1.5, 2.0], ndmin=2); np.array([V, W]); np.asarray([1, 2]); np.broadcast_shapes((2, 1), (3,))
np.can_cast("int8", "int16"); np.can_cast("float64", "float32"); np.iinfo("int8").max; np.finfo("float32").eps
np.iscomplexobj(F); np.isrealobj(F); np.isscalar(3.0); np.shape(F); np.partition(V, 2); np.einsum("ij,jk", F, G.T)
""".strip().replace("\n", "; ").split("; ")  # fmt: skip
CASES += (
    """
np.real(D); np.imag(D); np.conj(D); np.angle(D); np.abs(D); np.exp(D); np.iscomplex(D); np.isreal(F); np.sum(D, 0)
np.angle(F)
np.fft.fft(V); np.fft.ifft(D); np.fft.rfft(F); np.fft.irfft(D); np.fft.fft(F, 6, 0); np.fft.fft2(F); np.fft.rfftn(T)
np.fft.fftn(T, axes=(0, 2), norm="ortho"); np.fft.hfft(D); np.fft.ihfft(V); np.fft.fftshift(F); np.fft.ifftshift(V)
np.fft.fftfreq(5, 0.5); np.fft.rfftfreq(6); np.fft.irfft2(D); np.fft.ifftn(T); np.real_if_close(D)
""".strip()
    .replace("\n", "; ")
    .split("; ")
)
CASES += """
np.add.reduce(F); np.add.reduce(T, axis=(0, 2)); np.multiply.reduce(F, axis=1, keepdims=True)
np.maximum.reduce(F, None); np.subtract.reduce(F); np.divide.reduce(P, axis=-1); np.logaddexp.reduce(F, axis=1)
np.logical_and.reduce(B, axis=1)
np.logical_xor.reduce(B); np.bitwise_xor.reduce(I, axis=0); np.bitwise_or.reduce(J, axis=(0, 1)); np.gcd.reduce(J)
np.hypot.reduce(F, axis=(0, 1), keepdims=True); np.minimum.reduce(I, axis=1); np.power.reduce(P[:2]); np.add.reduce(Z)
np.add.accumulate(F); np.multiply.accumulate(J, axis=1); np.maximum.accumulate(F, axis=1); np.minimum.accumulate(V)
np.subtract.accumulate(V); np.logical_or.accumulate(B, axis=0); np.divide.accumulate(P, 1); np.add.accumulate(Z)
np.subtract.outer(V, W); np.add.outer(F, V); np.maximum.outer(S, V); np.power.outer(P, K); np.less.outer(V, W)
np.add.reduceat(V, [0, 2, 1, 4]); np.maximum.reduceat(F, [0, 2], axis=1); np.subtract.reduceat(V, [0, 3])
np.frexp(F); np.i0(P); np.sort_complex(D); np.sort_complex(K); np.row_stack((V, W)) if hasattr(np, "row_stack") else 0
np.packbits(B); np.packbits(B, axis=0); np.packbits(B, axis=1, bitorder="little")
np.unpackbits(np.packbits(B), count=12); np.unpackbits(np.packbits(B, axis=1), axis=1)
np.unpackbits(np.packbits(B), count=-3, bitorder="little")
np.mask_indices(3, np.triu, 1); np.mask_indices(4, np.tril); list(np.ndindex(2, 3)); list(np.ndindex((2,)))
[x for _, x in np.ndenumerate(F)]; np.iterable(F); np.loadtxt(["1 2", "3 4"]); np.fromstring("1 2.5", sep=" ")
np.genfromtxt(["1,2", ",4"], delimiter=",", filling_values=7); np.frombuffer(bytes(range(8)), dtype="int32")
np.array_equal(np.arange(3), [0, 1, 2]); int(np.binary_repr(5)); int(np.base_repr(9, 3))
""".strip().replace("\n", "; ").split("; ")  # fmt: skip
CASES = [case.strip() for case in CASES]
