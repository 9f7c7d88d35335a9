"""3-D networks: shapes of every side, receptive fields that cover the volume, and that they learn one."""

import pytest
import torch

from untwine.networks import select_networks
from untwine.networks.conv3d import Conv3dDecoder, Conv3dEncoder, halvings


@pytest.mark.parametrize("shape", [(1, 8, 8, 8), (1, 16, 12, 9), (2, 11, 20, 33), (1, 8, 64, 17)])
def test_every_voxel_matters_and_is_generated(shape):
    torch.manual_seed(0)
    encoder, decoder = Conv3dEncoder(shape, 3, 4), Conv3dDecoder(3, shape, 4)
    x = torch.rand(2, *shape, requires_grad=True)
    encoder(x)[0].sum().backward()
    assert (x.grad[0] != 0).all()
    assert (x.grad[1] == 0).all()
    z = torch.randn(2, 3)
    y = decoder(z)
    assert y.shape == (2, *shape)
    assert (decoder(z + 1)[0] != y[0]).all()


def test_volumes_are_halved_to_at_most_four():
    assert halvings((64, 64, 64))[-1] == (4, 4, 4)
    assert halvings((8, 64, 17))[-1] == (1, 4, 2)


def test_auto_is_for_volumes_and_others_are_refused():
    assert select_networks("auto", (1, 16, 16, 16)) is select_networks("conv3d", (1, 8, 8, 8))
    assert select_networks("auto", (1, 16, 16)) is select_networks("mlp", (1, 16, 16))
    with pytest.raises(ValueError, match=r"networks='conv' needs images \(C, H, W\); got volumes .*; use networks='conv3d'"):
        select_networks("conv", (1, 16, 16, 16))
    with pytest.raises(ValueError, match=r"networks='conv3d' needs volumes \(C, D, H, W\); got samples of shape \(1, 16, 16\)"):
        select_networks("conv3d", (1, 16, 16))
