#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports the programs that the tests and examples carry, with recorded inputs and outputs.

Needs PyTorch 2.6 and scikit-learn. Writes models/<name>/{program.pt2,case.json,*.npy} beside this script, and
examples/data. Run it with names to make only those; without names it makes all.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent.parent / "examples" / "data"


def digits():
    """The UCI digits, scaled to [0, 1]; the last 360 after a fixed shuffle are held out."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.RandomState(0).permutation(len(data.target))
    images = (data.images[order] / 16.0).astype(np.float32)[:, None]
    labels = data.target[order].astype(np.int64)
    return images[:-360], labels[:-360], images[-360:], labels[-360:]


def train(model, epochs):
    images, labels, _, _ = digits()
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return model.eval()


def digits_mlp():
    return train(nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)), 60)


def digits_cnn():
    return train(
        nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 10)), 30)  # fmt: skip


class Seed(nn.Module):
    """A parameter, two buffers, one of them mutated."""

    def __init__(self, shape):
        super().__init__()
        self.my_parameter = nn.Parameter(torch.tensor(2.0).expand(shape).clone())
        self.register_buffer("my_buffer1", torch.tensor(3.0).expand(shape).clone())
        self.register_buffer("my_buffer2", torch.tensor(4.0).expand(shape).clone())

    def forward(self, x1, x2):
        output = (x1 + self.my_parameter) * self.my_buffer1 + x2 * self.my_buffer2
        self.my_buffer2.add_(1.0)
        return output


class Primitives(nn.Module):
    def forward(self, x, n: int, f: float, flag: bool, mode: str):
        y = x * n + f
        return (y if flag else -y) * (2 if mode == "double" else 1)


class Nested(nn.Module):
    def forward(self, x, pair, *, scale, extras):
        a, (b, c) = pair
        return {"sum": x + a * scale, "rest": [b - c, (extras["u"] * 2, extras["v"])]}


class ConstantOutputs(nn.Module):
    def forward(self, x):
        return x + 1, 3, None, 2.5


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        self.again.weight = self.first.weight

    def forward(self, x):
        return self.again(torch.relu(self.first(x)))


class Lifted(nn.Module):
    def forward(self, x):
        return x * torch.tensor([1.0, 2.0, 3.0]) + torch.tensor(0.5)


class SharedStorage(nn.Module):
    def __init__(self):
        super().__init__()
        base = torch.randn(4, 6)
        self.register_buffer("whole", base)
        self.register_buffer("column", base[:, 2])
        self.register_buffer("turned", base.t())
        self.register_buffer("wide", torch.randn(1, 6).expand(4, 6))

    def forward(self, x):
        return x @ self.turned + self.column + (self.whole * self.wide).sum()


class Places(nn.Module):
    """What lies where in a storage, and which dimension an index is of."""

    def __init__(self):
        super().__init__()
        self.register_buffer("tail", torch.arange(12.0)[3:])

    def forward(self, x, i):
        return torch.as_strided(self.tail, (2, 2), (1, 3), 4), x[i] * 2 + x[:, i]


class Alias(nn.Module):
    def forward(self, x, y):
        return x, y + 1, x


class NoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))

    def forward(self):
        return torch.relu(self.w) + 1


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.net(x)


class DynamicValues(nn.Module):
    """Numbers that depend on sizes, and dtypes that torch records otherwise where sizes are symbolic."""

    def forward(self, q, n, image):
        attention = nn.functional.scaled_dot_product_attention(q, q, q)
        smaller = nn.functional.interpolate(image, size=(2, 2), mode="bilinear", antialias=True)
        return attention, (n / n.flip(0)).long() * 1.5, smaller


class Branches(nn.Module):
    """Nested conditions that capture a parameter."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))

    def forward(self, x):
        def small(x):
            return torch.cond(x.min() > -1, lambda x: x * self.w, lambda x: x - 1, (x,))

        return torch.cond(x.sum() > 0, small, lambda x: x.sin() + self.w, (x,)) + 1


class Loop(nn.Module):
    def forward(self, n, x):
        from torch._higher_order_ops.while_loop import while_loop

        return while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, x * 1.5 + n), (n, x))


class Mapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, rows, shift):
        from torch._higher_order_ops.map import map as map_

        return map_(lambda row, shift: torch.relu(self.linear(row)) + shift, rows, shift)


class Scanned(nn.Module):
    def forward(self, first, rows):
        from torch._higher_order_ops.scan import scan

        def combine(sum, row):
            total = sum + row
            return total, total * row

        return scan(combine, first, rows, dim=0)


class Cache(nn.Module):
    """Attention over a cache that every run extends; the position is state too."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("keys", torch.zeros(1, 2, 6, 4))
        self.register_buffer("values", torch.zeros(1, 2, 6, 4))
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        q, k, v = (t.view(1, 1, 2, 4).transpose(1, 2) for t in self.qkv(x).split(8, -1))
        self.keys.index_copy_(2, self.position, k)
        self.values.index_copy_(2, self.position, v)
        mask = (torch.arange(6) <= self.position).view(1, 1, 1, 6)
        self.position.add_(1)
        return nn.functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)


class ChangesInput(nn.Module):
    def forward(self, x, y):
        y.mul_(2).add_(x)
        return y + 1


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.gru, self.head = nn.Embedding(20, 6), nn.GRU(6, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, tokens):
        return nn.functional.log_softmax(self.head(self.gru(self.embedding(tokens))[0]), -1)


class Recurrent(nn.Module):
    """Recurrent layers of two rows and more, by what they make of all steps and by their last states."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), nn.Linear(6, 2)
        self.gru, self.rnn, self.projected = nn.GRU(6, 3, batch_first=True), nn.RNN(3, 2, nonlinearity="relu", bias=False), nn.LSTM(3, 4, proj_size=2, batch_first=True)

    def forward(self, x):
        rows, (last, _) = self.lstm(x)
        turned, state = self.gru(rows)
        return self.head(torch.cat(last.unbind(0)[-2:], -1)), self.rnn(turned)[0], state[0], self.projected(turned)[0]


class TrainingIr(nn.Module):
    """Operators that stay before run_decompositions, some in place."""

    def __init__(self):
        super().__init__()
        self.conv, self.conv3 = nn.Conv1d(2, 6, 3, padding=1), nn.Conv3d(1, 2, 2)
        self.act = nn.Sequential(nn.ReLU(inplace=True), nn.Hardswish(inplace=True), nn.SiLU(inplace=True), nn.Dropout(0.5))
        self.rest = nn.Sequential(nn.Hardtanh(-0.5, 0.5, inplace=True), nn.LeakyReLU(0.1, inplace=True), nn.ReLU6())

    def forward(self, x, volume):
        a, b, c = self.act(self.conv(x)).split(2, dim=1)
        first, second = self.rest(a - b).unbind(1)
        d = (first.contiguous() + torch.ones_like(second)).sub_(second).div_(2).clamp_(-1, 1)
        e = torch.zeros_like(c).copy_(c).sigmoid_().tanh_()
        n = self.conv3(volume).relu_().sum().to(torch.float64)
        return d, e, n, c.min(), c.max()


class TorchKernels(nn.Module):
    """Operators that run_decompositions leaves although they are not core; what is random is multiplied by 0."""

    def forward(self, x, y, i, j):
        windows = [torch.hann_window(7), torch.hann_window(6, periodic=False), torch.hann_window(1), torch.hamming_window(5), torch.hamming_window(5, True, 0.6, 0.3),
                   torch.blackman_window(9, dtype=torch.float64), torch.bartlett_window(7), torch.kaiser_window(8, True, 5.0)]  # fmt: skip
        integers = [torch.gcd(i, j), torch.lcm(i, j), torch.bitwise_and(5, i), torch.bitwise_xor(3, i), torch.remainder(5, j), torch._int_mm(i.to(torch.int8).repeat(8, 2), i.to(torch.int8).repeat(8, 2).T)]
        order = [torch.histc(x, 6, -1, 1), torch.histc(x, 5), torch.nonzero_static(x > 0, size=5), torch.nonzero_static(x > 0, size=14), torch.nanmedian(torch.where(x > 0.5, torch.nan, x)),
                 torch.nanmedian(torch.where(x > 0.5, torch.nan, x), 1)[0], torch.range(0, 3), torch.range(1, 2, 0.25), *torch.mode(i // 9, 1),
                 *nn.functional.adaptive_max_pool1d(x, 3, return_indices=True)]  # fmt: skip
        parts = [torch.diagonal_scatter(x, y[0, :3], 1), torch.as_strided_scatter(x, y[:2, :2], (2, 2), (4, 1), 1), torch.gradient(x, dim=1)[0], torch.gradient(x, spacing=0.5)[0],
                 nn.utils.rnn.pad_sequence([x[0], y[1, :2]]), torch.conv_tbc(x.unsqueeze(1), torch.ones(2, 4, 3), torch.zeros(3), 1), torch._is_all_true(y > 0)]  # fmt: skip
        numbers = [torch.round(x * 10, decimals=1), torch.round(x * 100, decimals=-1), torch.signbit(torch.copysign(y, x)), torch.signbit(-torch.zeros(2)), torch.linalg.pinv(x), torch.linalg.matrix_rank(x),
                   torch.linalg.tensorinv((x @ x.T + 3 * torch.eye(3)).reshape(3, 3, 1), ind=1), torch.linalg.matrix_power(x @ x.T + 3 * torch.eye(3), -2),
                   torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -128, 127), torch.fft.hfft(x), torch.special.xlog1py(x.abs(), 2), torch.linalg.norm(x, "nuc"), torch.linalg.norm(x, 2), torch.linalg.matrix_norm(x, -2)]  # fmt: skip
        random = [torch.rand_like(x), torch.randn_like(x), torch.randint(3, 9, (3, 4)), torch.randint_like(x, 5), torch.normal(0.0, 1.0, (3, 4)), torch.normal(x, y), torch.bernoulli(y.clamp(0, 1)), x.clone().uniform_(-1, 1),
                  x.clone().normal_(), x.clone().exponential_(), x.clone().bernoulli_(0.3), x.clone().geometric_(0.5), torch.multinomial(torch.eye(4)[:3], 1), torch.multinomial(y, 4, replacement=True)]  # fmt: skip
        spread = torch.rand_like(torch.zeros(1000))
        drawn = [torch.multinomial(torch.eye(4), 1), (spread.mean() - 0.5).abs() < 0.1, spread.amin() >= 0, spread.amax() < 1, (torch.randint(3, 5, (64,)) < 5).all()]
        return windows, integers, order, parts, numbers, [each.double() * 0 for each in random], drawn


class Int8Batch(nn.Module):
    """What PT2E writes around convolutions, a sum and a product of rows, for any number of images."""

    def __init__(self):
        super().__init__()
        for name, sizes in (("first", (16, 3, 3, 3)), ("deep", (16, 1, 3, 3)), ("rows", (7, 16))):
            self.register_buffer(name, torch.randint(-127, 128, sizes, dtype=torch.int8))
            self.register_buffer(name + "_scales", torch.rand(sizes[0]) * 0.01 + 0.002)
            self.register_buffer(name + "_zeros", torch.zeros(sizes[0], dtype=torch.int64))
        self.bias = nn.Parameter(torch.randn(16))

    def forward(self, x):
        q = torch.ops.quantized_decomposed

        def through_bytes(y, scale, zero):
            return q.dequantize_per_tensor(q.quantize_per_tensor(y, scale, zero, -128, 127, torch.int8), scale, zero, -128, 127, torch.int8)

        def weights(name):
            w, scales, zeros = (getattr(self, name + end) for end in ("", "_scales", "_zeros"))
            return q.dequantize_per_channel(w, scales, zeros, 0, -127, 127, torch.int8)

        y = through_bytes(nn.functional.conv2d(through_bytes(x, 0.021, 3), weights("first"), self.bias, stride=2, padding=1).relu(), 0.043, -128)
        z = through_bytes(nn.functional.hardtanh(through_bytes(nn.functional.conv2d(y, weights("deep"), padding=1, groups=16), 0.051, 5), -1.5, 2.5), 0.051, 5)
        mean = through_bytes((y + z).mean((2, 3)), 0.019, -20)
        return nn.functional.linear(mean, weights("rows")), through_bytes(y + z, 0.09, 1)


class RecurrentSteps(nn.Module):
    """Recurrent layers over as many steps as a convolution leaves of the input: torch records those of the example."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3, stride=2, padding=1)
        self.gru = nn.GRU(6, 5, bidirectional=True, batch_first=True)
        self.lstm = nn.LSTM(10, 4)

    def forward(self, x):
        rows, last = self.gru(self.conv(x).transpose(1, 2))
        steps, (h, c) = self.lstm(rows.transpose(0, 1))
        return steps.relu(), last, h, c


class ComplexNumbers(nn.Module):
    """Operators on complex numbers, beside those of the Fourier transforms."""

    def forward(self, x, y):
        z, w = torch.complex(x, y), torch.complex(y, x - 1)
        functions = [z.acos(), z.acosh(), z.asin(), z.asinh(), z.atan(), z.atanh(), z.tan(), z.expm1(), z.log1p(), z.log2(), z.log10(), torch.logaddexp(z, w), z.cumprod(1), z.prod(0)]
        sums = [torch.add(z, w, alpha=-2.5), torch.sub(z, x, alpha=3), z.sum(), z[0, 0].sum(), z.mean((0, 1)), torch.stack([z, w]).sum((0, 2), keepdim=True), torch.cat([z, x.double()], 1), z.index_add(0, torch.tensor([2, 0]), w[:2]),
                z.scatter_add(1, torch.tensor([[3, 3, 0]]), w[:1]), z.index_put((torch.tensor([0, 2, 0]),), w, accumulate=True), z[0].masked_scatter(x > 0, w)]  # fmt: skip
        layers = [nn.functional.conv1d(z[None], w[:, :3, None].repeat(1, 1, 2), w[:, 0], padding=1), nn.functional.conv_transpose1d(z, w[:, :2, None])]
        q = torch.linalg.householder_product(z.T, w[0, :3] * 0.1)
        factors = [q, torch.ormqr(z.T[:, :3], w[0, :3] * 0.1, w.T), torch.ormqr(z.T[:, :3], w[0, :3] * 0.1, w, left=False, transpose=True), *torch.linalg.lu_factor(torch.stack([w, z]))]
        truths = [z.logical_not(), torch.logical_and(z, x > 0), z.any(), z.all(1), z.any(0, keepdim=True), (z * (x > 0)).nonzero()]
        spreads = [z.var(), z.std(1), *torch.var_mean(z, (0, 1), correction=0, keepdim=True)]
        return [torch.view_as_real(each) for each in functions + sums + layers + factors[:-1]], factors[-1], truths, [each.abs() for each in spreads]


class TorchComposites(nn.Module):
    """Operators of training IR that few models have: found with PyTorch's operator database."""

    def forward(self, x, y, i, u):
        losses = [torch.isin(3, i), nn.functional.multi_margin_loss(x, i[:, 0] % 4, p=2, weight=y[0]), nn.functional.multi_margin_loss(x[0, 0], i[0, 0] * 0), nn.functional.multi_margin_loss(x[0], i[0, :1] * 0, p=2), nn.functional.multilabel_margin_loss(x, i % 4 - 1),
                  nn.functional.multilabel_margin_loss(x, i % 4 - 1, reduction="none"), nn.functional.cosine_similarity(x[None], y[:, None], dim=-2)]  # fmt: skip
        pools = [*nn.functional.fractional_max_pool2d(x[None, None].repeat(1, 2, 2, 1), 2, (3, 2), return_indices=True, _random_samples=u),
                 *nn.functional.fractional_max_pool3d(x[None, None].repeat(1, 2, 5, 2, 1), 2, (3, 2, 2), return_indices=True, _random_samples=torch.cat([u, u[..., :1]], 2))]  # fmt: skip
        sizes = [nn.functional.interpolate(x[None], scale_factor=0.6, mode="nearest-exact"), nn.functional.interpolate(x[None, None], scale_factor=(1.7, 2.3), mode="nearest-exact"),
                 nn.functional.interpolate(x.double()[None, None], (2, 6), mode="bilinear", antialias=True)]  # fmt: skip
        areas = [torch.diff(x, 0, append=y), torch.trapezoid(x, y, dim=1), torch.cumulative_trapezoid(x, y[0]), *torch.gradient(x, edge_order=2), *torch.gradient(x, spacing=[0.5, 2.0]),
                 *torch.gradient(x, spacing=(torch.arange(3) ** 2, y[0].cumsum(0)), edge_order=2), torch.logspace(x[0, 0], y[0, 0], 5)]  # fmt: skip
        places = [nn.functional.pad(x[None, None], (-1, 1, -2, 1), mode="circular"), torch.as_strided_copy(x, (2, 2), (4, 1), 1), torch.unfold_copy(x, 1, 2, 1), torch.narrow_copy(x, 1, 1, 2),
                  *torch.split_with_sizes_copy(x, [1, 3], 1), x[0, 0].index_add(0, i[0, :1] * 0, y[0, :1].sum()), x[0, 0].index_fill(0, i[0, :1] * 0, 2.0), x[0, 0].index_copy(0, i[0, :1] * 0, y[0, :1].sum()),
                  *torch.nonzero(x > 0, as_tuple=True), torch.nonzero_static(x[:0], size=2), torch.diag_embed(x > 0), x.clone().pow_(i), y.clone().floor_divide_(x), x.clone().ldexp_(i)]  # fmt: skip
        s = x @ x.T + 3 * torch.eye(3)
        lu, pivots = torch.linalg.lu_factor(torch.stack([s.flip(0), s]))
        linear = [*torch.linalg.lu(x), *torch.lu_unpack(lu, pivots), torch.linalg.lu_solve(lu, pivots, x), torch.linalg.cond(s), torch.linalg.tensorsolve(s.reshape(3, 1, 3), x[:, :1]), torch.qr(s)[1].abs(),
                  torch.linalg.pinv(s + torch.ones(3, 3).triu(1), hermitian=True), torch.linalg.matrix_norm(x[None].repeat(2, 1, 1), 2, dim=(-1, 0), keepdim=True), torch.linalg.matrix_norm(x, "nuc", keepdim=True),
                  torch.linalg.householder_product(y.T, y[0, :3]), torch.orgqr(y.T[:, :2], y[1, :1]), torch.linalg.matrix_rank(torch.stack([x, y[:, :1] * x[:1]]), 1e-3), torch.nuclear_norm(x), torch.nuclear_norm(x[None], (2, 1), True)]  # fmt: skip
        waves = [torch.view_as_real(torch.fft.fft2(x, s=(5, 3))), torch.view_as_real(torch.fft.ifftn(i, s=(6,))), torch.fft.irfft2(i, s=(4, 6)), torch.view_as_real(torch.fft.rfftn(x, s=(2, -1))), torch.fft.hfft2(x, s=(3, 5)),
                 torch.view_as_real(torch.fft.ihfftn(i)), torch.fft.hfft(i), nn.functional.pad(torch.view_as_complex(x.reshape(3, 2, 2)), (1, 0)).abs()]  # fmt: skip
        f = nn.functional
        d, a, r = f.dropout2d(y[None, :, :, None], 0.5, True), f.alpha_dropout(y, 0.5, True), f.rrelu(-y, 0.2, 0.4, True)
        drawn = [((d == 0) | ((d[0, :, :, 0] - 2 * y).abs() < 1e-5)[None, :, :, None]).all(), (d.amax(2) > 0) == (d.amin(2) > 0), f.dropout3d(y[None, None], 1.0, True), (a * 0).sum(), (r <= -0.2 * y) & (r >= -0.4 * y),
                 f.feature_alpha_dropout(y[None], 1.0, True)]  # fmt: skip
        halves = [torch.ops.aten._softmax_backward_data(x, y.softmax(1), 1, torch.float32), torch.ops.aten._log_softmax_backward_data(x, y.log_softmax(1), 1, torch.float32),
                  torch.dist(x.bfloat16(), y.bfloat16()).float(), f.pairwise_distance(x.half(), y.half()), torch.ldexp(x.half(), torch.full((4,), 2.0).half()), torch.angle(x.double())]  # fmt: skip
        ties, q = (torch.arange(64) - 31.5) * 0.03, torch.arange(1, 9) * 0.03
        steps = [torch.fake_quantize_per_tensor_affine(ties, 0.03, 5, -128, 127), torch.fake_quantize_per_tensor_affine(ties.half(), q[2], i[0, 0].int() * 0 + 3, 0, 15),
                 torch.fake_quantize_per_channel_affine(ties.reshape(8, 8), q, torch.arange(8, dtype=torch.int32), 1, 0, 15), torch.fake_quantize_per_channel_affine(ties.reshape(8, 8), q, q * 10, 0, -8, 7),
                 torch.ops.quantized_decomposed.fake_quant_per_channel(ties.reshape(8, 8), q, torch.zeros(8, dtype=torch.int32), 1, -8, 7)]  # fmt: skip
        odd = torch.where(x > 0.5, torch.nan, x.round())
        middles = [*torch.median(odd, 1), *torch.median(odd, 0, True), torch.complex(x * 0, y * (x > 0)).bool()]
        whole, (kinds, at, counts) = (i * 40).to(torch.uint8), torch.unique(x.sign(), return_inverse=True, return_counts=True)
        integers = [torch.logit(whole), torch.special.log_ndtr(-i.to(torch.int8) * 30), torch.trapezoid(whole, dx=0.5), torch.logsumexp(x[:, :0], 1), at + 1, counts.sum(), torch.stack([at, at]).max() * kinds.sum()]
        return losses, halves, pools, sizes, areas, places, linear, waves, drawn, steps, middles, integers


class Gradients(nn.Module):
    """Operators of gradients, as torch.func.grad leaves them, and of lists of tensors; orders and places in long lines."""

    def forward(self, x, y, image, i):
        a = torch.ops.aten
        g, mask, f = y * 0.7, [True, True, True], nn.functional
        smooth = [a.tanh_backward(g, x.tanh()), a.sigmoid_backward(g, x.sigmoid()), a.silu_backward(g, x), a.mish_backward(g, x), a.softplus_backward(g, x, 2.0, 1.0),
                  a.gelu_backward(g, x), a.gelu_backward(g, x, approximate="tanh"), a.elu_backward(g, 0.7, 1.3, 1.1, False, x), a.elu_backward(g, 0.7, 1.3, 1.1, True, f.elu(x, 0.7)), a.logit_backward(g, y.sigmoid(), 0.3),
                  a.logit_backward(g, y.sigmoid()), a.glu_backward(g[:, :2], x, 1), a.log_sigmoid_forward(x)[0], a.log_sigmoid_backward(g, x, (-x.abs()).exp())]  # fmt: skip
        bent = [a.threshold_backward(g, x, 0.2), a.hardtanh_backward(g, x, -0.5, 0.6), a.hardsigmoid_backward(g, x * 4), a.hardswish_backward(g, x * 4), a.leaky_relu_backward(g, x, 0.1, False),
                a.hardshrink_backward(g, x, 0.5), a.softshrink_backward(g, x, 0.5), *a._prelu_kernel_backward(g, x, y[:1] - 0.5), f.softshrink(x), x.div(x.round()).nan_to_num(2.0, neginf=-3.0), x.div(x.round()).nan_to_num(posinf=float("-inf"))]  # fmt: skip
        views = [a.select_backward(g[0], [3, 4], 0, 1), a.slice_backward(g[:, :2], [3, 4], 1, 0, 4, 2), a.diagonal_backward(g[:, 0], [3, 4], 0, 0, 1), a.unfold_backward(x.unfold(1, 2, 1), [3, 4], 1, 2, 1)]
        t, w, one = i[:, 0] % 4, y[0], y.sum()
        losses = [a.mse_loss_backward(one, x, y, 1), a.huber_loss_backward(one, x, y, 2, 0.4), a.smooth_l1_loss_backward(one, x, y, 1, 0.3), a.smooth_l1_loss_backward(g, x, y, 0, 0.0), a.binary_cross_entropy_backward(one, x.sigmoid(), y.sigmoid(), y),
                  *a.nll_loss_forward(x, t, w, 1, 1), a.nll_loss_backward(one, x, t, w, 1, 1, w.sum()), a.nll_loss_backward(g[:, 0], x, t, None, 0, -100, one),
                  *a.nll_loss2d_forward(image[:, :, :2, :2], i[:2, :4].reshape(2, 2, 2) % 3, None, 2, -100), a.nll_loss2d_backward(one, image[:, :, :2, :2], i[:2, :4].reshape(2, 2, 2) % 3, None, 2, -100, one)]  # fmt: skip
        wide = torch.cat([image, image], 3)
        padded = [a.reflection_pad2d_backward(f.pad(image, (2, 1, 0, 3), mode="reflect"), image, [2, 1, 0, 3]), a.replication_pad2d_backward(f.pad(image, (2, 1, 0, 3), mode="replicate"), image, [2, 1, 0, 3]),
                  a.reflection_pad1d_backward(f.pad(x, (1, 2), mode="reflect"), x, [1, 2]), a.replication_pad3d_backward(f.pad(image, (1, 1, 2, 0, 0, 1), mode="replicate"), image, [1, 1, 2, 0, 0, 1])]  # fmt: skip
        resized = [a.upsample_nearest2d_backward(wide, [4, 8], [2, 3, 2, 3]), a.upsample_bilinear2d_backward(wide, [4, 8], [2, 3, 3, 5], False), a.upsample_bilinear2d_backward(wide, [4, 8], [2, 3, 3, 5], True), a.upsample_bicubic2d_backward(wide, [4, 8], [2, 3, 3, 5], False)]
        pooled = a.adaptive_max_pool2d(image, [2, 3])
        norms = [a.adaptive_max_pool2d_backward(pooled[0], image, pooled[1]), *a.native_batch_norm_backward(image.flip(2), image, y[0, :3], None, None, y[0, :3], y[1, :3], True, 1e-5, mask),
                 a.native_batch_norm_backward(image.flip(2), image, None, y[0, :3], y[1, :3], None, None, False, 1e-5, mask)[0], a._cdist_backward(x @ x.T, x, y, 2.0, torch.cdist(x, y)), a._cdist_backward(x @ x.T, x, y, 1.0, torch.cdist(x, y, 1.0)),
                 a._cdist_backward(x @ x.T, x, y, 3.0, torch.cdist(x, y, 3.0))]  # fmt: skip
        q, k, v = image, image.flip(2), image * y[0]
        out, sums = a._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True, scale=0.4)
        heads = [out, sums, *a._scaled_dot_product_flash_attention_for_cpu_backward(out * 0.3, q, k, v, out, sums, 0.0, True, scale=0.4)]
        pair = [x, y]
        lists = [*torch._foreach_add(pair, 2.0), *torch._foreach_sub(pair, [y, x], alpha=3), *torch._foreach_mul(pair, [2.0, 3.0]), *torch._foreach_div(pair, one), *torch._foreach_addcmul(pair, [y, x], pair, 0.5), *torch._foreach_lerp(pair, [y, x], 0.3),
                 *torch._foreach_norm(pair), *torch._foreach_exp(pair), *torch._foreach_maximum(pair, [y, x]), *torch._foreach_clamp_min(pair, 0.1), *torch._foreach_pow(pair, 2.0)]  # fmt: skip
        long = torch.arange(200).reshape(2, 100) * 37 % 29
        orders = [torch.isin(i, long[0, :40]), torch.isin(x, long[0, :40] * 0.5), torch.mode(torch.where(long % 7 == 3, 5, long), 1)[0], *torch.mode((x * 2).round(), 0, True), torch.kthvalue(image, 3, 2)[0], *torch.kthvalue(x, 2, 0, True),
                  image.median(2)[0], image.median(), torch.histc(x[:0], 3), torch.logsumexp(x.sum(), 0)]  # fmt: skip
        points = torch.stack([torch.linspace(-1.3, 1.2, 90), torch.linspace(1.1, -1.2, 90).square()], 1).reshape(1, 9, 10, 2).repeat(2, 1, 1, 1)
        sampled = [f.grid_sample(image, points, m, p, c) for m in ("bilinear", "nearest", "bicubic") for p in ("zeros", "border", "reflection") for c in (False, True)]
        return smooth, bent, views, losses, padded, resized, norms, heads, lists, orders, sampled


class CoreKernels(nn.Module):
    """Core operators that nothing else here has, as they are called after run_decompositions; numbers that are not finite among them."""

    def forward(self, x, y, i, u, bits, image):
        a = torch.ops.aten
        odd = torch.cat([x.flatten(), torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1e30, -1e30])])
        curves = [f(v) for f in (torch.acos, torch.asin, torch.atanh) for v in (u * 2 - 1, odd)] + [f(v) for f in (torch.acosh, torch.log2, torch.log10) for v in (u + 1, odd)] + [
            f(odd) for f in (torch.asinh, torch.atan, torch.cosh, torch.sinh, torch.isinf, torch.isnan, torch.sign, torch.erf, torch.expm1, torch.log1p, torch.rsqrt, torch.tan)]  # fmt: skip
        pairs = [a.fmod.Scalar(odd, 0.7), a.fmod.Tensor(x, y), a.fmod.Tensor(i, bits), a.remainder.Tensor(odd, torch.full_like(odd, -0.7)), a.remainder.Tensor(i, bits), a.logical_and(x, i), a.logical_xor(odd, odd > 0),
                 a.le.Scalar(odd, 0), a.sub.Scalar(odd, 1.5), a.div.Scalar_mode(odd, 0.3, rounding_mode="floor"), a.div.Scalar_mode(i, -3, rounding_mode="trunc"),
                 a.maximum(odd, odd.flip(0)), a.minimum(odd, odd.flip(0)), a.atan2(odd, odd.flip(0)), a.pow.Tensor_Tensor(odd, odd.flip(0)), a.where.self(odd > 0, odd, odd.flip(0))]  # fmt: skip
        wrapped = [f(i.to(torch.int8), 300) for f in (a.eq.Scalar, a.ne.Scalar, a.lt.Scalar, a.ge.Scalar)] + [i.to(torch.int8) + 300, i.to(torch.uint8) - 300]
        shifted = [a.__lshift__.Scalar(i, 2), a.__rshift__.Tensor(i, bits), a.bitwise_left_shift.Scalar_Tensor(3, bits), a.bitwise_right_shift.Scalar_Tensor(300, bits), a.bitwise_right_shift.Tensor_Scalar(i, 1),
                   a.bitwise_and.Scalar(i, 6), a.bitwise_or.Scalar(i, 6), a.bitwise_xor.Scalar(i, 6)]  # fmt: skip
        folded = [*a.min.dim(odd, 0), *a.min.dim(x, 1, True), *a.max.dim(odd, 0), a.var.dim(x, [1], False), a.amax(odd, [0]), a.amin(odd, [0]), a._softmax(odd, 0, False), a._log_softmax(odd, 0, False), *a.sort(odd, 0), a.cumsum(odd, 0),
                  a.prod(odd), a.searchsorted.Scalar(torch.tensor([1.0, 2.0, 4.0]), 2.5), a._pdist_forward(x, 2.0), a._pdist_forward(x, 1.0), a.argmax(odd), a.argmin(odd), a.any(odd), a.all(odd)]  # fmt: skip
        g = image[:, :, :2, :2]
        pooled, at = a.max_pool2d_with_indices(image, [2, 2], [1, 1], [1, 1])
        pools = [a.avg_pool2d_backward(g, image, [2, 2], [2, 2], [0, 0], True, True, None), a.max_pool2d_with_indices_backward(pooled, image, [2, 2], [1, 1], [1, 1], [1, 1], False, at), a._adaptive_avg_pool2d_backward(g, image),
                 *a.max_pool3d_with_indices(image, [2, 1, 2], [1, 1, 1], [1, 0, 1]), *a.adaptive_max_pool3d(image, [1, 2, 3]), a.max_pool2d_with_indices(torch.where(image > 1, torch.nan, image), [2, 2])[0],
                 a.grid_sampler_3d(image[None], (u[:, :3].reshape(1, 1, 3, 1, 3) * 2.4 - 1.2), 0, 0, False), a.grid_sampler_3d(image[None], (u[:, :3].reshape(1, 1, 3, 1, 3) * 2.4 - 1.2), 1, 1, True)]  # fmt: skip
        w = image[:1, :, :3, :3] * torch.ones(2, 1, 1, 1)
        conv = a.convolution(image, w, None, [1, 1], [1, 0], [1, 1], False, [0, 0], 1)
        layers = [*a.convolution_backward(conv, image, w, [2], [1, 1], [1, 0], [1, 1], False, [0, 0], 1, [True, True, True]), *a.native_layer_norm(x, [4], y[0], y[1], 1e-5),
                  *a.native_layer_norm_backward(y, x, [4], x.mean(1, True), (x.var(1, correction=0, keepdim=True) + 1e-5).rsqrt(), y[0], y[1], [True, True, True]),
                  a.conv1d.padding(image[:, :, 0], w[:, :, :, 0], None, [1], "same"), a.conv3d.padding(image[None], w[:, :2, None], None, [1, 1, 1], "valid")]  # fmt: skip
        q = torch.ops.quantized_decomposed
        scales, zeros = torch.tensor([0.05, 0.02, 0.1]), torch.tensor([3, -5, 0])
        quantized = [*q.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8), *q.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, torch.int8), q.quantize_per_channel(x, scales, zeros, 0, -128, 127, torch.int8),
                     *q.choose_qparams.tensor(x.bfloat16(), -128, 127, 1e-5, torch.int8), *q.choose_qparams_symmetric.tensor(y.half(), -127, 127, 1e-5, torch.int8)]  # fmt: skip
        lu, pivots, info = a.linalg_lu_factor_ex(x[:, :3])
        made = [lu, pivots, info, a.fill.Scalar(x, 2.5), torch.zeros_like(a.empty_permuted(list(x.shape), [1, 0])), torch.zeros_like(a.empty_strided([2, 3], [3, 1])), a.randn([3, 4]) * 0, a.randperm(5).sort()[0], *a.native_dropout(x, 0.0, True)]  # fmt: skip
        return curves, pairs, wrapped, shifted, folded, pools, layers, quantized, made


class SpecialFunctions(nn.Module):
    """torch.special, whose functions few models have, of numbers at and on both sides of where their forms change."""

    def forward(self, x, y, n):
        s = torch.special
        one = [s.airy_ai, s.bessel_j0, s.bessel_j1, s.bessel_y0, s.bessel_y1, s.i0e, s.i1, s.i1e, s.modified_bessel_i0, s.modified_bessel_i1, s.modified_bessel_k0,
               s.modified_bessel_k1, s.scaled_modified_bessel_k0, s.scaled_modified_bessel_k1, s.spherical_bessel_j0]  # fmt: skip
        two = [s.chebyshev_polynomial_t, s.chebyshev_polynomial_u, s.chebyshev_polynomial_v, s.chebyshev_polynomial_w, s.shifted_chebyshev_polynomial_t,
               s.shifted_chebyshev_polynomial_u, s.shifted_chebyshev_polynomial_v, s.shifted_chebyshev_polynomial_w, s.hermite_polynomial_h, s.hermite_polynomial_he,
               s.laguerre_polynomial_l, s.legendre_polynomial_p]  # fmt: skip
        rest = [s.gammainc(y, x.abs()), s.gammaincc(y, x.abs()), s.zeta(y + 1, x), s.zeta(n, 0.5), s.zeta(3, y), torch.nextafter(x, y),
                torch.nextafter(x.bfloat16(), y.bfloat16()), *[torch.polygamma(k, x) for k in (0, 1, 2, 5)], s.legendre_polynomial_p(x, 3), s.hermite_polynomial_h(0.5, n)]  # fmt: skip
        return *[f(x) for f in one], *[f(x.double()) for f in one[5:]], *[f(x / 20, n) for f in two], *rest


class Empty(nn.Module):
    """Tensors without dimensions, elements or channels, and dimensions that are empty in some runs only."""

    def forward(self, x):
        y = x.sum()
        image = torch.ones(2, 3, 4, 4)
        none, flat = image[:, :0], image[:, :, :0]
        average = nn.functional.adaptive_avg_pool2d
        return (x.logsumexp(0), x.logsumexp([0, 1], True), x.median(), x.nanmedian(), y.flip(0), y.flip([-1]), average(none, 1), average(none, (2, 3)),
                average(flat, 1), nn.functional.adaptive_avg_pool1d(none[0], 2), nn.functional.adaptive_avg_pool3d(flat[None], 1), nn.functional.instance_norm(none),
                nn.functional.grid_sample(none, torch.zeros(2, 2, 2, 2)))  # fmt: skip


class Diagonals(nn.Module):
    """fill_diagonal_ of matrices and of more dimensions, wrapped, of a view, with a value of the run."""

    def forward(self, tall, wide, cube, value):
        tall, once, wide, cube = tall.clone(), tall.clone(), wide.clone(), cube.clone()
        tall.fill_diagonal_(2.5, wrap=True)
        once.fill_diagonal_(value.item())
        wide[:, 1:].fill_diagonal_(-1.0, wrap=True)
        cube.fill_diagonal_(4.0)
        return tall, once, wide, cube


class Autocast(nn.Module):
    """Regions in lower precision, on numbers that bfloat16 has exactly."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        for k, p in enumerate(self.parameters()):
            p.data = (torch.arange(p.numel()).reshape(p.shape) * (k + 3) % 5 - 2) / 2

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.relu(self.a(x)) * 2
            with torch.autocast("cpu", enabled=False):
                z = y.float() + x
            loss = nn.functional.mse_loss(y, y * 2)
        with torch.autocast("cuda", dtype=torch.float16):
            w = self.b(x)
        return y.float().softmax(1), z, loss, w, y + x


class ScaledImages(nn.Module):
    """Images of dynamic height, resized by a factor; a layer behind half of the height; complex numbers whose parts lie apart."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 2, 3, stride=2), nn.Conv2d(2, 3, 3)

    def forward(self, x):
        f = nn.functional.interpolate
        resized = [f(x, scale_factor=2, mode="bicubic"), f(x, scale_factor=0.5, mode="bilinear", antialias=True), f(x, scale_factor=1.5, mode="nearest-exact"),
                   f(x[:, :, None], scale_factor=2.0, mode="trilinear")]  # fmt: skip
        half = self.a(x)
        layers = [self.b(nn.functional.pad(half, (1, 1, 1, 1), mode="replicate")), self.b(f(half, scale_factor=2.0))]
        pairs = torch.view_as_complex((x * 2).split([3, 4], 3)[1].reshape(1, 2, -1, 2, 2).contiguous() * 1)
        return resized, layers, torch.view_as_real(pairs * pairs)


class ImageBytes(nn.Module):
    """Images of bytes, resized as torch does with weights in fixed point; an operator that stores in a part of a tensor."""

    def forward(self, x):
        f = nn.functional.interpolate
        ramp = torch.ones(8)
        torch.linspace(0.0, 1.0, 5, out=ramp[:5])
        sizes = [((6, 9), "bilinear", True), ((14, 7), "bilinear", True), ((5, 13), "bicubic", True), ((9, 6), "bicubic", False)]
        resized = [f(x, size=size, mode=mode, antialias=smooth) for size, mode, smooth in sizes]
        return resized, f(x, scale_factor=0.7, mode="bicubic", align_corners=True), ramp


class Chosen(nn.Module):
    """Sizes that depend on data."""

    def forward(self, x):
        kept = torch.nonzero(x > 0).squeeze(1)
        return x[kept] * 2, kept


class Reduced(nn.Module):
    """A network of images and of rows, to be converted to a reduced floating type."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
        self.depthwise = nn.Sequential(nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 16, 1), nn.Hardsigmoid())
        self.norm = nn.LayerNorm(16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                nn.init.uniform_(module.running_mean, -0.3, 0.3)
                nn.init.uniform_(module.running_var, 0.5, 1.5)

    def forward(self, x):
        y = self.depthwise(self.stem(x))
        rows = (y * self.gate(y) + y).flatten(2).transpose(1, 2)
        rows = rows + self.attention(rows, rows, rows, need_weights=False)[0]
        return self.mlp(self.norm(rows)), torch.softmax(rows, -1), torch.nn.functional.max_pool2d(y, 2)


def scalar(value):
    if isinstance(value, bool):
        return {"type": "bool", "value": value}
    for kind in (int, float, str):
        if isinstance(value, kind):
            return {"type": kind.__name__, "value": value}
    return {"type": "none", "value": None}


def describe(value, folder, file):
    if not isinstance(value, torch.Tensor):
        return scalar(value)
    bits = value.view(torch.uint16) if value.dtype == torch.bfloat16 else value
    np.save(folder / file, bits.detach().contiguous().numpy())
    return {"type": "tensor", "dtype": str(value.dtype)[6:], "shape": list(value.shape), "file": file}


def record(name, model, runs, dynamic_shapes=None, root=HERE / "models", decompose=True, rtol=1e-4, atol=1e-5):
    """Exports `model`, runs it on each of `runs` (args, kwargs) in order, and writes the case."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    args, kwargs = runs[0]
    program = torch.export.export_for_training(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    if decompose:
        program = program.run_decompositions()
    torch.export.save(program, folder / "program.pt2")
    case = {"name": name, "program": "program.pt2", "rtol": rtol, "atol": atol, "check": "close", "runs": []}
    state = {**dict(program.state_dict), **dict(program.constants)}
    signature = program.graph_signature
    for k, (args, kwargs) in enumerate(runs):
        leaves = torch.utils._pytree.tree_leaves((args, kwargs), is_leaf=lambda v: v is None)
        user = iter(leaves)
        values, inputs = [], []
        for spec in signature.input_specs:
            if spec.target is not None:
                values.append(state[spec.target])
                continue
            leaf = next(user)
            values.append(leaf)
            inputs.append({"name": spec.arg.name, **describe(leaf, folder, f"r{k}_in{len(inputs)}.npy")})
        results = torch.fx.Interpreter(program.graph_module).run(*values)
        outputs = []
        for spec, value in zip(signature.output_specs, results):
            entry = {"kind": spec.kind.name, "name": spec.arg.name, **describe(value, folder, f"r{k}_out{len(outputs)}.npy")}
            if spec.target is not None:
                entry["target"] = spec.target
            if spec.kind.name == "BUFFER_MUTATION":
                state[spec.target] = value.clone()
            outputs.append(entry)
        case["runs"].append({"inputs": inputs, "outputs": outputs})
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def digits_case(name, make, batch):
    model = make()
    _, _, images, labels = digits()
    x = torch.from_numpy(images)
    if batch:
        dynamic = {"input": {0: torch.export.Dim("n", min=1, max=1024)}}
        record(name, model, [((x[:5],), {}), ((x[:1],), {}), ((x[:17],), {})], dynamic)
    else:
        record(name, model, [((x[i : i + 1],), {}) for i in range(4)])
    with torch.no_grad():
        logits = model(x)
    accuracy = (logits.argmax(1).numpy() == labels).mean()
    print(f"{name}: accuracy {accuracy:.4f}")
    if name == "digits_cnn":
        DATA.mkdir(parents=True, exist_ok=True)
        (DATA / "digits_cnn.pt2").write_bytes((HERE / "models" / name / "program.pt2").read_bytes())
        np.save(DATA / "images.npy", images)
        np.save(DATA / "labels.npy", labels)
        np.save(DATA / "logits.npy", logits.numpy())


class Tracker(nn.Module):
    """A level that follows a projection of what it is given; `Read` looks at it and changes nothing."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.register_buffer("level", torch.tensor([0.5, -1.0, 2.0, 0.0]))
        self.register_buffer("steps", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        self.level.mul_(0.5).add_(self.project(x))
        self.steps.add_(1)
        return torch.relu(self.level)


class Read(Tracker):
    def forward(self, gain):
        return self.project(gain) * self.level, self.steps * 1


def tracker():
    """The methods of embed/tracker.hpp, which is what embed_program makes of them, with its weights as an array."""
    for name, make, args in [("stream", Tracker, (torch.zeros(4),)), ("read", Read, (torch.zeros(4),))]:
        torch.manual_seed(0)
        program = torch.export.export_for_training(make().requires_grad_(False), args).run_decompositions()
        program._example_inputs = None
        torch.export.save(program, HERE / "embed" / f"tracker_{name}.pt2")


def t(*shape):
    return torch.randn(*shape)


CASES = {
    "digits_cnn": lambda n: digits_case(n, digits_cnn, True),
    "digits_mlp": lambda n: digits_case(n, digits_mlp, True),
    "digits_cnn_b1": lambda n: digits_case(n, digits_cnn, False),
    "digits_mlp_b1": lambda n: digits_case(n, digits_mlp, False),
    "seed": lambda n: record(n, Seed((3,)), [((t(3), t(3)), {}) for _ in range(3)]),
    "seed_scalar": lambda n: record(n, Seed(()), [((t(3), t(3)), {}) for _ in range(3)]),
    "primitive_inputs": lambda n: record(n, Primitives(), [((t(3), 2, 0.5, True, "double"), {})]),
    "nested_io": lambda n: record(
        n, Nested(), [((t(2), (t(2), (t(2), t(2)))), {"scale": t(1), "extras": {"u": t(2), "v": t(3)}})]),  # fmt: skip
    "constant_outputs": lambda n: record(n, ConstantOutputs(), [((t(2),), {})]),
    "tied_parameters": lambda n: record(n, Tied(), [((t(2, 4),), {})]),
    "lifted_constants": lambda n: record(n, Lifted(), [((t(3),), {})]),
    "shared_storage": lambda n: record(n, SharedStorage(), [((t(2, 6),), {})]),
    "places": lambda n: record(n, Places(), [((t(4, 4), torch.tensor([2, 0, 1, 1])), {})]),
    "outputs_alias_inputs": lambda n: record(n, Alias(), [((t(2), t(2)), {})]),
    "no_user_inputs": lambda n: record(n, NoInputs(), [((), {})]),
    "dynamic_batch": lambda n: record(
        n, Dynamic(), [((t(b, 6),), {}) for b in (4, 1, 9)], {"x": {0: torch.export.Dim("n", min=1, max=64)}}),  # fmt: skip
    "dynamic_values": lambda n: record(
        n, DynamicValues(), [((t(1, 2, 3, e), torch.arange(1, e), t(1, 1, e, 4)), {}) for e in (4, 9, 3)],
        {"q": {3: torch.export.Dim("e", min=2, max=64)}, "n": {0: torch.export.Dim("m", min=2, max=64)}, "image": {2: torch.export.Dim("h", min=2, max=64)}}, decompose=False),  # fmt: skip
    "branches": lambda n: record(n, Branches(), [((v,), {}) for v in (t(3).abs(), t(3) - 3, torch.tensor([-3.0, 4.0, 1.0]))]),
    "loop": lambda n: record(n, Loop(), [((torch.tensor(k), t(3)), {}) for k in (3, 0, 7)]),
    "mapped": lambda n: record(n, Mapped(), [((t(5, 4), t(3)), {})]),
    "scanned": lambda n: record(n, Scanned(), [((t(3), t(4, 3)), {})]),
    "cache": lambda n: record(n, Cache().requires_grad_(False), [((t(1, 1, 8),), {}) for _ in range(4)]),
    "changes_input": lambda n: record(n, ChangesInput(), [((t(3), t(3)), {}) for _ in range(2)]),
    "tagger": lambda n: record(n, Tagger(), [((torch.randint(0, 20, (2, 4)),), {})]),
    "recurrent": lambda n: record(n, Recurrent().eval(), [((t(2, 3, 4),), {})], decompose=False),
    "recurrent_core": lambda n: record(n, Recurrent().eval().requires_grad_(False), [((t(2, 3, 4),), {})]),
    "training_ir": lambda n: record(n, TrainingIr().eval(), [((t(1, 2, 5), t(1, 1, 3, 3, 3)), {})], decompose=False),
    "torch_kernels": lambda n: record(n, TorchKernels(), [((t(3, 4), t(3, 4).abs() + 0.1, torch.randint(-20, 20, (3, 4)), torch.randint(1, 9, (3, 4))), {})]),
    "torch_composites": lambda n: record(n, TorchComposites(), [((t(3, 4), t(3, 4).abs() + 0.1, torch.randint(0, 5, (3, 4)), torch.rand(1, 2, 2)), {})], decompose=False),
    "complex_numbers": lambda n: record(n, ComplexNumbers(), [((t(3, 4), t(3, 4)), {})], decompose=False),
    "gradients": lambda n: record(n, Gradients(), [((t(3, 4), t(3, 4).abs() + 0.1, t(2, 3, 4, 4), torch.randint(0, 30, (3, 4))), {})], decompose=False),
    "recurrent_steps": lambda n: record(n, RecurrentSteps().requires_grad_(False), [((t(2, 4, k),), {}) for k in (12, 9, 20)], {"x": {2: torch.export.Dim.AUTO}}, decompose=False),
    "int8_batch": lambda n: record(n, Int8Batch().requires_grad_(False), [((t(k, 3, 11, 9),), {}) for k in (3, 2, 6)], {"x": {0: torch.export.Dim.AUTO}}, decompose=False),
    "core_kernels": lambda n: record(
        n, CoreKernels(), [((t(3, 4), t(3, 4).abs() + 0.1, torch.randint(-50, 60, (3, 4)), torch.rand(3, 4), torch.randint(1, 5, (3, 4)), t(2, 3, 4, 4)), {})], decompose=False),  # fmt: skip
    "special_functions": lambda n: record(
        n, SpecialFunctions(), [((torch.tensor([-30.5, -7.25, -0.5, 0.0, 1e-6, 0.9, 2.0, 5.1, 24.5, 26.0, 88.0, float("nan")]), t(12).abs() + 0.5, torch.arange(12) - 1),
                                 {})], decompose=False),  # fmt: skip
    "empty": lambda n: record(n, Empty(), [((t(k, 4),), {}) for k in (3, 0, 1)], {"x": {0: torch.export.Dim("n", min=0, max=64)}}, decompose=False),
    "diagonals": lambda n: record(n, Diagonals(), [((t(7, 3), t(4, 6), t(3, 3, 3), torch.tensor(1.5)), {})], decompose=False),
    "autocast": lambda n: record(n, Autocast().requires_grad_(False), [((torch.arange(12).reshape(3, 4) / 4.0 - 1,), {})], decompose=False),
    "bfloat16": lambda n: record(n, Reduced().eval().to(torch.bfloat16), [((t(2, 3, 12, 12).to(torch.bfloat16),), {})], decompose=False, rtol=2e-2, atol=2e-2),
    "float16": lambda n: record(n, Reduced().eval().to(torch.float16), [((t(2, 3, 12, 12).to(torch.float16),), {})], decompose=False, rtol=2e-3, atol=2e-3),
    "scaled_images": lambda n: record(
        n, ScaledImages().requires_grad_(False), [((t(1, 2, h, 7),), {}) for h in (8, 13, 6)], {"x": {2: torch.export.Dim("h", min=6, max=32)}}, decompose=False),  # fmt: skip
    "image_bytes": lambda n: record(
        n, ImageBytes(), [((torch.randint(0, 256, (1, 3, h, 11), dtype=torch.uint8),), {}) for h in (10, 7, 15)],
        {"x": {2: torch.export.Dim("h", min=6, max=32)}}, decompose=False),  # fmt: skip
    "chosen": lambda n: record(n, Chosen(), [((t(6),), {}) for _ in range(3)]),
    "tracker": lambda n: tracker(),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        torch.manual_seed(0)
        with torch.backends.mkldnn.flags(enabled=False):  # whose convolutions are wrong on some CPUs
            CASES[name](name)
