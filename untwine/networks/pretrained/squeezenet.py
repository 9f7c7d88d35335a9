"""SqueezeNet 1.1 (Iandola et al. 2016), a small ImageNet classifier, with torchvision's parameter names."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# Fire modules by layer index, with their channels: input, squeezed, and output of each of the two expansions.
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
    """A 1 x 1 squeeze convolution, then 1 x 1 and 3 x 3 expand convolutions, concatenated."""

    def __init__(self, before: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(before, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, 2 * expanded, H, W)."""
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.expand1x1(x)), torch.relu(self.expand3x3(x))], 1)


class SqueezeNet(nn.Module):
    """SqueezeNet 1.1 of RGB images in [0, 1]."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        modules: list[nn.Module] = [nn.Conv2d(3, 64, 3, 2), nn.ReLU()]
        for i in range(2, 13):
            modules.append(Fire(*FIRES[i]) if i in FIRES else nn.MaxPool2d(3, 2, ceil_mode=True))
        self.features = nn.Sequential(*modules)
        self.classifier = nn.Sequential(nn.Identity(), nn.Conv2d(512, CLASSES, 1))
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean features (n, 512) and class probabilities (n, 1000) of images (n, 3, H, W)."""
        features = self.features((x - self.mean) / self.std)
        logits = torch.relu(self.classifier(features)).mean((2, 3))
        return features.mean((2, 3)), torch.softmax(logits, 1)
