"""VGG16 (Simonyan and Zisserman 2015) with torchvision's names of weights: its convolutions, without the classifier."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# Channels of the convolutions of each of the five parts; a ReLU follows each, and pooling follows each part.
PARTS = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


class VGG16(nn.Module):
    """The layers of VGG16 before its classifier; images are RGB in [0, 1]."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for part in PARTS:
            for after in part:
                layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
                before = after
            layers.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*layers)
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map images (n, 3, H, W) to the last features (n, 512, H / 32, W / 32)."""
        return self.features((x - self.mean) / self.std)  # type: ignore[no-any-return]
