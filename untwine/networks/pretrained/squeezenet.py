"""SqueezeNet 1.1 (Iandola et al. 2016) with torchvision's names of weights: a small network that knows ImageNet's classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# For each fire module its place among the layers, and its channels: in, squeezed, and out of each of the two expansions.
FIRES = {
    3: (64, 16, 64),
    4: (128, 16, 64),
    6: (128, 32, 128),
    7: (256, 32, 128),
    9: (256, 48, 192),
    10: (384, 48, 192),
    11: (384, 64, 256),
    12: (512, 64, 256),
}
CLASSES = 1000


class Fire(nn.Module):
    """Few channels, then many, by 1 x 1 and by 3 x 3 convolutions side by side."""

    def __init__(self, before: int, few: int, many: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(before, few, 1)
        self.expand1x1 = nn.Conv2d(few, many, 1)
        self.expand3x3 = nn.Conv2d(few, many, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, 2 many, H, W)."""
        few = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.expand1x1(few)), torch.relu(self.expand3x3(few))], 1)


class SqueezeNet(nn.Module):
    """The layers of SqueezeNet 1.1; images are RGB in [0, 1]."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        parts: list[nn.Module] = [nn.Conv2d(3, 64, 3, 2), nn.ReLU()]
        for place in range(2, 13):
            parts.append(Fire(*FIRES[place]) if place in FIRES else nn.MaxPool2d(3, 2, ceil_mode=True))
        self.features = nn.Sequential(*parts)
        self.classifier = nn.Sequential(nn.Identity(), nn.Conv2d(512, CLASSES, 1))
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean features (n, 512) of images and the probabilities (n, 1000) of their classes."""
        seen = self.features((x - self.mean) / self.std)
        logits = torch.relu(self.classifier(seen)).mean((2, 3))
        return seen.mean((2, 3)), torch.softmax(logits, 1)
