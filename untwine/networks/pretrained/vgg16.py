"""The convolutional layers of VGG16 (Simonyan and Zisserman 2015), with torchvision's parameter names."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# Channels of the convolutions in each of the five stages; a ReLU follows each convolution, max pooling each stage.
STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


class VGG16(nn.Module):
    """VGG16 without its classifier, of RGB images in [0, 1]."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for stage in STAGES:
            for after in stage:
                layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
                before = after
            layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*layers)
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map images (n, 3, H, W) to the last features (n, 512, H / 32, W / 32)."""
        return self.features((x - self.mean) / self.std)  # type: ignore[no-any-return]
