r"""Adam (Kingma and Ba 2015), as one call of torch's fused kernel.

$m \leftarrow \beta_1 m + (1 - \beta_1) g$, $v \leftarrow \beta_2 v + (1 - \beta_2) g^2$,
$\theta \leftarrow \theta - \eta \, \hat m / (\sqrt{\hat v} + \epsilon)$ with $\hat m = m / (1 - \beta_1^t)$ and
$\hat v = v / (1 - \beta_2^t)$.

`torch.optim.Adam(fused=True)` calls the same kernel, but its bookkeeping around it takes longer than all else that the loop
does in a step. Gradients are given, not looked for, since no parameter of ours holds one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

EPSILON = 1e-8


class Adam:
    """The moments of some parameters, and the step that moves them."""

    def __init__(self, parameters: Sequence[nn.Parameter], betas: tuple[float, float]) -> None:
        self.parameters, self.betas = [p.detach() for p in parameters], betas
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        # The kernel wants a count for each parameter; all have moved equally often, so it is one tensor many times.
        self.count = torch.zeros((), dtype=torch.float32, device=self.parameters[0].device)
        self.counts = [self.count] * len(self.parameters)

    def step(self, grads: Sequence[Tensor], lr: float) -> None:
        """Move every parameter once."""
        self.count.add_(1)
        torch._fused_adam_(
            self.parameters,
            [_laid_out(grad, parameter) for grad, parameter in zip(grads, self.parameters, strict=True)],
            self.first,
            self.second,
            [],
            self.counts,
            lr=lr,
            beta1=self.betas[0],
            beta2=self.betas[1],
            weight_decay=0.0,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, by name."""
        named = {"count": self.count}
        for i, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            named |= {f"{i}/first": first, f"{i}/second": second}
        return named

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` gave; nothing, where a stage only begins."""
        for name, value in self.state().items() if state else ():
            value.copy_(state[name])


def _laid_out(value: Tensor, like: Tensor) -> Tensor:
    """Return the value in the memory layout of its parameter: the kernel walks through memory, not through indices."""
    return value if value.stride() == like.stride() else torch.empty_like(like).copy_(value)
