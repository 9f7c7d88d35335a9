"""pythae's trainer, doing the same work with the same networks."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from benchmarks.sides import RATE
from benchmarks.work import BATCH, LATENT, Work


def available() -> bool:
    """Whether pythae can be imported here."""
    try:
        import pythae.trainers  # noqa: F401
    except ImportError:
        return False
    return True


def pythae(work: Work) -> float:
    """Train pythae's VAE; the seconds are those of its epochs, without its checks before and its saving after."""
    with quiet(), tempfile.TemporaryDirectory() as folder:
        from pythae.data.datasets import BaseDataset
        from pythae.models import VAE, VAEConfig
        from pythae.trainers import BaseTrainer, BaseTrainerConfig

        data = torch.from_numpy(work.x)
        data = data.float() / 255 if data.dtype == torch.uint8 else data
        config = VAEConfig(input_dim=tuple(data.shape[1:]), latent_dim=LATENT, reconstruction_loss="mse")
        encoder, decoder = wrapped(*work.fresh())
        training = BaseTrainerConfig(
            output_dir=folder,
            num_epochs=work.epochs,
            learning_rate=RATE,
            per_device_train_batch_size=BATCH,
            optimizer_cls="Adam",
            steps_saving=None,
            no_cuda=True,
        )
        clock = clocked()
        dataset = BaseDataset(data, torch.zeros(len(data)))
        trainer = BaseTrainer(VAE(config, encoder, decoder), dataset, training_config=training, callbacks=[clock])
        trainer.train()
    return float(clock.end - clock.start)


def wrapped(encoder: nn.Module, decoder: nn.Module) -> tuple[Any, Any]:
    from pythae.models.base.base_utils import ModelOutput
    from pythae.models.nn import BaseDecoder, BaseEncoder

    class Encoder(BaseEncoder):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = encoder

        def forward(self, x: torch.Tensor) -> Any:
            mu, logvar = self.inner(x).chunk(2, 1)
            return ModelOutput(embedding=mu, log_covariance=logvar)

    class Decoder(BaseDecoder):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = decoder

        def forward(self, z: torch.Tensor) -> Any:
            return ModelOutput(reconstruction=torch.sigmoid(self.inner(z)))

    return Encoder(), Decoder()


def clocked() -> Any:
    from pythae.trainers.training_callbacks import TrainingCallback

    class Clock(TrainingCallback):  # type: ignore[misc]
        def on_train_begin(self, training_config: Any, **kwargs: Any) -> None:
            self.start = perf_counter()

        def on_epoch_end(self, training_config: Any, **kwargs: Any) -> None:
            self.end = perf_counter()

    return Clock()


@contextmanager
def quiet() -> Iterator[None]:
    """Disable pythae's messages, each with its own handler, and its progress bars, which would cost it time."""
    from pythae.trainers import training_callbacks

    logging.disable(logging.INFO)
    try:
        with patch.object(training_callbacks, "tqdm", partial(training_callbacks.tqdm, disable=True)):
            yield
    finally:
        logging.disable(logging.NOTSET)
