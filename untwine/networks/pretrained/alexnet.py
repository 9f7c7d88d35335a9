"""The convolutional layers of AlexNet in one tower (Krizhevsky 2014), with torchvision's parameter names."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AlexNet(nn.Module):
    """AlexNet without its classifier, of RGB images in [0, 1]."""

    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, 4, 2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
        )
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map images (n, 3, H, W), with sides of at least 63, to the last features (n, 256, H', W')."""
        return self.features((x - self.mean) / self.std)  # type: ignore[no-any-return]
