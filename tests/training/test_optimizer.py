"""Our Adam is torch's, in every layout and precision, and continues from its state bit-exactly."""

import pytest
import torch
from torch import nn

from untwine.training.loop import norm
from untwine.training.optimizer import Adam


def grads_of(shapes, steps, dtype):
    generator = torch.Generator().manual_seed(0)
    return [[torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes] for _ in range(steps)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_it_moves_as_torch_does(dtype, layout):
    shapes = [(5, 3, 2, 2), (4,), (2, 2, 3, 1)]
    start = [torch.randn(shape, dtype=dtype) for shape in shapes]
    lay = lambda p: p.contiguous(memory_format=layout) if p.ndim == 4 else p  # noqa: E731
    ours, theirs = ([nn.Parameter(lay(p.clone())) for p in start] for _ in range(2))
    mine, reference = Adam(ours, (0.5, 0.99)), torch.optim.Adam(theirs, lr=0.1, betas=(0.5, 0.99))
    for number, grads in enumerate(grads_of(shapes, 5, dtype)):
        rate = 0.1 / (1 + number)
        mine.step(mine.join(grads), rate)
        for parameter, grad in zip(theirs, grads, strict=True):
            parameter.grad = grad
        reference.param_groups[0]["lr"] = rate
        reference.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_it_continues_from_its_state_bit_exactly():
    shapes = [(3, 2), (4,)]
    whole, resumed = ([nn.Parameter(torch.ones(shape)) for shape in shapes] for _ in range(2))
    grads = grads_of(shapes, 6, torch.float32)
    alone = Adam(whole, (0.9, 0.999))
    for some in grads:
        alone.step(alone.join(some), 0.01)
    first = Adam(resumed, (0.9, 0.999))
    for some in grads[:3]:
        first.step(first.join(some), 0.01)
    second = Adam(resumed, (0.9, 0.999))
    second.load({name: value.clone() for name, value in first.state().items()})
    for some in grads[3:]:
        second.step(second.join(some), 0.01)
    assert all(torch.equal(a, b) for a, b in zip(whole, resumed, strict=True))


@pytest.mark.parametrize("sizes", [(3,), (10, 20, 5), (5000,), (7, 5000, 9000, 2)])
def test_the_norm_is_that_of_all_gradients_together(sizes):
    grads = [torch.randn(size, dtype=torch.float64) for size in sizes]
    torch.testing.assert_close(norm(grads), torch.linalg.vector_norm(torch.cat(grads)))
    for place in range(len(grads)):
        for bad in (torch.nan, torch.inf, -torch.inf):
            spoilt = [grad.clone() for grad in grads]
            spoilt[place][-1] = bad
            assert not torch.isfinite(norm(spoilt))


def test_small_vectors_and_matrices_share_a_buffer_and_begin_where_a_cache_line_does():
    shapes = [(5,), (3, 7), (2, 2, 3, 3), (100, 50)]
    parameters = [nn.Parameter(torch.full(shape, float(i))) for i, shape in enumerate(shapes)]
    optimizer = Adam(parameters, (0.9, 0.999))
    assert [p.untyped_storage().data_ptr() for p in parameters[:2]] == [optimizer.tensors[-1].data_ptr()] * 2
    assert len({p.untyped_storage().data_ptr() for p in parameters}) == 3  # convolutions and large matrices have their own
    assert all(p.data_ptr() % 64 == 0 for p in parameters)
    assert all(bool((p == i).all()) for i, p in enumerate(parameters))  # no value changes
    assert set(optimizer.state()) == {"count", *(f"{i}/{name}" for i in range(4) for name in ("first", "second"))}


def test_the_moments_of_a_joined_parameter_are_its_own():
    parameters = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(2, 2))]
    optimizer = Adam(parameters, (0.9, 0.999))
    optimizer.step(optimizer.join([torch.ones(3), torch.full((2, 2), 2.0)]), 0.1)
    torch.testing.assert_close(optimizer.state()["0/first"], torch.full((3,), 0.1))
    torch.testing.assert_close(optimizer.state()["1/second"], torch.full((2, 2), 0.004))


def test_the_norm_of_channels_last_gradients():
    grad = torch.randn(4, 3, 5, 5, dtype=torch.float64).contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(norm([grad, grad[0, 0]]), torch.sqrt(grad.square().sum() + grad[0, 0].square().sum()))
