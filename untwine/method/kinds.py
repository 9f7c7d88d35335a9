"""The two kinds of method: trained stage by stage, or solved in closed form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from untwine.method import automatic
from untwine.method.automatic import Length
from untwine.method.contract import Checkpointing, Method
from untwine.method.fields import AutoCount, Count, Networks, NonNegative, Positive
from untwine.runs import files, saving
from untwine.runs.history import Row
from untwine.samples import Samples
from untwine.training import distributed
from untwine.training.batches import Batch, TrainingData
from untwine.training.checkpoint import Longer
from untwine.training.loop import train
from untwine.training.stage import Move, Stage


@dataclass(eq=False, kw_only=True)
class Trained(Method):
    """A method that is trained, stage by stage.

    Parameters
    ----------
    epochs
        The number of passes over the data; with groups, over the larger of target and background. `auto` is 50, but at least
        4,000 steps and at most 20,000, and fewer where they would take more than about ten minutes of two cores.
    batch
        The number of samples in a step; with groups, that of target and of background each. `auto` is a tenth of them, from 16
        to 64.
    lr
        The learning rate.
    clip
        The norm to which each player's gradient is clipped; 0 turns clipping off.
    networks
        The name of the architecture; `auto` is `conv` for images from 16 x 16 up (`dcgan` for GANs of images), `conv3d` for
        volumes, else `mlp`; `standard` is `mlp` for images too, else the same.
    width
        The width of the networks: hidden units, or channels of the first convolution; None for the default of the architecture
        or, where `auto` takes `conv`, a width that suits the size of the images.
    """

    epochs: AutoCount = "auto"
    batch: AutoCount = "auto"
    lr: Positive = 1e-3
    clip: NonNegative = 0.0
    networks: Networks = "auto"
    width: Count | None = None
    length: ClassVar[Length] = Length()

    @abstractmethod
    def stages(self) -> Iterator[Stage]:
        """Yield the stages of training, one after the other."""

    def automatic(self, samples: Samples) -> dict[str, Any]:
        """Return networks, width, batch, length and scale where they are left to the data."""
        return automatic.choose(samples, self.get_params(), self.length, self.needs == "groups")

    def learn(self, samples: Samples, checkpointing: Checkpointing, progress: bool) -> list[Row]:
        """Run the stages in the training loop."""
        view = self.settled()
        before = dict(vars(view))
        if view.batch % distributed.world():
            raise ValueError(
                f"batch must be a multiple of the {distributed.world()} processes; got {view.batch}; change batch."
            )
        if checkpointing.checkpoint is not None:
            files.make_folder(checkpointing.checkpoint.parent)  # refused before the hours of training, not after
        longer = None
        if checkpointing.shorter is not None:
            path, epochs = checkpointing.shorter
            longer = Longer(path, self._identity({**self.get_params(), "epochs": epochs}))
        x, labelled = self._as_input(samples.x), self.needs == "labels"
        covariates, _ = self.conditions_of(samples)
        data = TrainingData.of(samples, x, self._dtype, self.device_, labelled, covariates, self.counts)
        known = covariates is not None or self.counts
        try:
            return train(
                map(view._with_conditions, view.stages()) if known else view.stages(),
                self.nets_,
                data,
                seed=self.seed,
                clip=self.clip,
                autocast=self.precision == "bfloat16",
                checkpoint=checkpointing.checkpoint,
                every=checkpointing.every,
                resume=checkpointing.resume,
                identity=self._identity(self.get_params()),
                keep=checkpointing.keep,
                longer=longer,
                watch=self._watched(checkpointing.watch),
                show=progress,
            )
        finally:
            self.take_over(view, before)

    def _watched(self, watch: Callable[[int], None] | None) -> Callable[[int, Sequence[Row]], None] | None:
        """Return what the loop calls after an epoch: `watch`, which finds the history so far in the method."""
        if watch is None:
            return None

        def call(epochs: int, history: Sequence[Row]) -> None:
            self.history_ = list(history)
            watch(epochs)

        return call

    def _with_conditions(self, stage: Stage) -> Stage:
        """Return a stage whose steps run on the method with networks that are given the conditions of the batch."""
        method_step = getattr(stage.step, "__func__", None)
        if method_step is None:
            raise TypeError(f"the step of the stage {stage.name!r} must be a method of {type(self).__name__}; got a function.")

        def step(batch: Batch, t: int) -> Generator[Move]:
            return method_step(self.given(batch.conditions), batch, t)  # type: ignore[no-any-return]

        return replace(stage, step=step)

    def _identity(self, params: Mapping[str, Any]) -> str:
        # What was chosen from the data counts as given.
        params = {**params, **{name: one for name, one in self.inferred_.items() if params.get(name, 0) in ("auto", None)}}
        return saving.seal({"method": self.name, "params": params, "data": self.data_["fingerprint"], "own": self.own_})


@dataclass(eq=False, kw_only=True)
class Solved(Method):
    """A method with a closed form."""

    @abstractmethod
    def solve(self, samples: Samples) -> None:
        """Write the solution into the networks."""

    def learn(self, samples: Samples, checkpointing: Checkpointing, progress: bool) -> list[Row]:
        """Solve; there is no history."""
        self.solve(samples)
        return []
