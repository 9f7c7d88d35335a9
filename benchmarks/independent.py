"""FactorVAE and beta-TCVAE on both sides: images of 0 and 1, the same networks, the same number of steps."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import torch

from benchmarks.peer import clocked, quiet, wrapped
from benchmarks.sides import RATE
from benchmarks.work import BATCH, LATENT, Work
from untwine import BetaTCVAE, FactorVAE
from untwine.training.stage import Stage

GAMMA, BETA = 10.0, 6.0
DEEP, WIDE = 5, 1000  # pythae's discriminator; it has no option for another


class ClockedFactorVAE(FactorVAE):
    """Ours with a clock around its stages."""

    def stages(self) -> Iterator[Stage]:
        """Train as ever, and note the seconds."""
        start = perf_counter()
        yield from super().stages()
        self.spent = perf_counter() - start


class ClockedBetaTCVAE(BetaTCVAE):
    """Ours with a clock around its stages."""

    def stages(self) -> Iterator[Stage]:
        """Train as ever, and note the seconds."""
        start = perf_counter()
        yield from super().stages()
        self.spent = perf_counter() - start


def our_factor_vae(work: Work, second_batch: bool = True) -> float:
    """Fit our FactorVAE: every step has a batch in its bound and, as pythae's, encodes a second one whose codes it permutes.

    By default it permutes the codes of the batch itself, and encodes nothing else.
    """
    discriminator: dict[str, Any] = {"layers_discriminator": DEEP, "width_discriminator": WIDE}
    method = ClockedFactorVAE(gamma=GAMMA, second_batch=second_batch, **discriminator, **_shared(work))
    method.fit(work.x, networks=_networks(work))
    return method.spent


def our_beta_tcvae(work: Work) -> float:
    """Fit our beta-TCVAE."""
    method = ClockedBetaTCVAE(beta=BETA, **_shared(work))
    method.fit(work.x, networks=_networks(work))
    return method.spent


def pythae_factor_vae(work: Work) -> float:
    """Train pythae's FactorVAE on twice the samples in batches of twice the size.

    It reconstructs a half of every batch and permutes the codes of the other half, so it takes as many steps as ours with a
    second batch, each with as many images in its bound and as many that are only encoded.
    """
    with quiet(), tempfile.TemporaryDirectory() as folder:
        from pythae.models import FactorVAE as Peer
        from pythae.models import FactorVAEConfig
        from pythae.trainers import AdversarialTrainer, AdversarialTrainerConfig

        data = torch.from_numpy(work.x).repeat(2, 1, 1, 1)
        config = FactorVAEConfig(input_dim=tuple(data.shape[1:]), latent_dim=LATENT, reconstruction_loss="bce", gamma=GAMMA)
        training = AdversarialTrainerConfig(
            autoencoder_learning_rate=RATE, discriminator_learning_rate=RATE, **_training(work, folder, 2 * BATCH)
        )
        return _train(AdversarialTrainer, Peer(config, *wrapped(*work.fresh())), data, training)


def pythae_beta_tcvae(work: Work) -> float:
    """Train pythae's beta-TCVAE."""
    with quiet(), tempfile.TemporaryDirectory() as folder:
        from pythae.models import BetaTCVAE as Peer
        from pythae.models import BetaTCVAEConfig
        from pythae.trainers import BaseTrainer, BaseTrainerConfig

        data = torch.from_numpy(work.x)
        config = BetaTCVAEConfig(input_dim=tuple(data.shape[1:]), latent_dim=LATENT, reconstruction_loss="bce", beta=BETA)
        training = BaseTrainerConfig(learning_rate=RATE, optimizer_cls="Adam", **_training(work, folder, BATCH))
        return _train(BaseTrainer, Peer(config, *wrapped(*work.fresh())), data, training)


def _shared(work: Work) -> dict[str, Any]:
    fields = {"n_latent": LATENT, "epochs": work.epochs, "batch": BATCH, "lr": RATE}
    return {**fields, "likelihood": "bernoulli", "device": "cpu"}


def _networks(work: Work) -> dict[str, torch.nn.Module]:
    return dict(zip(("encoder", "decoder"), work.fresh(), strict=True))


def _training(work: Work, folder: str, batch: int) -> dict[str, Any]:
    shared = {"output_dir": folder, "num_epochs": work.epochs, "per_device_train_batch_size": batch}
    return {**shared, "steps_saving": None, "no_cuda": True}


def _train(trainer: Any, model: Any, data: torch.Tensor, training: Any) -> float:
    from pythae.data.datasets import BaseDataset

    clock = clocked()
    dataset = BaseDataset(data, torch.zeros(len(data)))
    trainer(model, dataset, training_config=training, callbacks=[clock]).train()
    return float(clock.end - clock.start)
