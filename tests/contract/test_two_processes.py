"""Two processes with half the batch each take the step of one: every method, in double precision."""

import dataclasses
import os
import socket
from pathlib import Path

import numpy as np
import pytest
import torch
from preloaded import context
from small import DATA, NAMES, TRAINED, counts, small, treatments, with_covariates
from torch import multiprocessing

from untwine.methods.shared.inferred import PER_TARGET
from untwine.networks.norm import BatchNorm
from untwine.training import distributed

NETS = (("vectors", "mlp"), ("images", "conv"), ("images", "conv_norm"))
CASES = [(name, *nets) for name in TRAINED for nets in NETS] + [(name, *NETS[0]) for name in NAMES if name not in TRAINED]
INFOGANS = ("double_infogan", "infogan")
CASES += [(name, "images", "dcgan") for name in INFOGANS]
# Every loss, the regulariser among them, every draw of a uniform prior, and more than one update of each player.
CASES += [(f"{name}+all_terms", "images", nets) for name in INFOGANS for nets in ("dcgan", "dcgan_attention")]
# The class comes in as constant planes, and instance norm takes constants away: the gradient of a kernel's middle there is 0,
# and Adam moves it by rounding errors, in proportion to the rate.
CASES += [("stargan+rate", "images", "residual")]
CASES += [("factor_vae+second_batch", *nets) for nets in NETS]
CASES += [("lord", "images", "adain")]
CASES += [(f"lord+{option}", *NETS[0]) for option in ("semi", "amortised", "kl", "dense", "stage_two")]
CASES += [("rb_vae+trunks", *NETS[1]), ("symmetric_rb_vae+trunks+units", *NETS[0]), ("symmetric_rb_vae+last", *NETS[0])]
# Covariates go to every network. As constant planes they meet convolutions whose norm takes constants away: as for StarGAN.
CASES += [(f"{name}+covariates", *NETS[0]) for name in TRAINED]
CASES += [(f"{name}+covariates+rate", *NETS[1]) for name in ("principled_vae", "lord", "mixing_ae", "stargan", "infogan")]
CASES += [("double_infogan+covariates+all_terms", "images", "dcgan"), ("factor_vae+covariates+second_batch", *NETS[0])]
CASES += [(f"{name}+counts", "counts", "mlp") for name in ("principled_vae", "symmetric_rb_vae")]
CASES += [("vae+zeros+learned+covariates", "counts", "mlp")]
CASES += [(f"{name}+per_target", "treatments", "mlp") for name in PER_TARGET] + [("principled_vae+pairs", "pairs", "mlp")]
CASES += [(f"dip_vae+running+{variant}", *NETS[0]) for variant in ("variant_i", "variant_ii")]


def in_pairs():
    """The vectors, each target with the background sample of its number."""
    data = DATA["vectors"]()
    return dataclasses.replace(data, sources=np.concatenate([np.arange(40), np.arange(48) % 40]))


MORE = {"treatments": treatments, "pairs": in_pairs}
CHANGES = {
    "per_target": {"salient": "per_target"},
    "pairs": {"pairs": True},
    "second_batch": {"second_batch": True},
    "semi": {"inference": "semi"},
    "amortised": {"inference": "amortised"},
    "kl": {"regularisation": "kl"},
    "dense": {"code_updates": "dense"},
    "stage_two": {"inference": "semi", "stage_two": "regularised"},
    "trunks": {"trunks": "separate"},
    "units": {"drop": "units"},
    "last": {"drop": "last"},
    "running": {"running": 0.9},
    "variant_i": {"variant": "i"},
    "variant_ii": {"variant": "ii"},
    "rate": {"lr": 2e-4},
    "counts": {"likelihood": "negative_binomial"},
    "zeros": {"likelihood": "zero_inflated"},
    "learned": {"library": "learned"},
    "covariates": {},
    "all_terms": {"w_cr": 0.7, "loop_g": 2, "loop_d": 2, "loop_cr": 2, "nuisance": 2, "posterior": "gaussian"}
    | dict.fromkeys(("prior_common", "prior_salient", "prior_latent"), "uniform"),
}


def fitted(name, kind, nets):
    # 11 steps of an even batch; enough for running statistics and for Adam's memory to matter.
    name, *options = name.split("+")
    changes = {field: value for option in options for field, value in CHANGES[option].items()}
    method = small(name, **changes, networks=nets, precision="float64", epochs=3, batch=12)
    data = counts() if kind == "counts" else (DATA | MORE)[kind]()
    return method.fit(with_covariates(data) if "covariates" in options else data)


def worker(rank, port, folder, cases):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    with distributed.process_group():
        assert distributed.world() == 2
        for case in cases:
            method = fitted(*case)
            torch.save(_state(method), _file(folder, case, rank))
        torch.save(_pieces(rank), folder / f"pieces-{rank}.pt")


def _state(method):
    return {**method.nets_.state_dict(), "history": torch.tensor([row.value for row in method.history_], dtype=torch.float64)}


def _file(folder, case, rank):
    return folder / f"{'-'.join(case)}-{rank}.pt"


def _pieces(rank):
    """Gather, total and batch norm alone, forward and backward, on the halves of one fixed batch."""
    torch.manual_seed(0)
    whole, weight = torch.randn(6, 4, dtype=torch.float64), torch.randn(6, 4, dtype=torch.float64)
    mine = distributed.share(6)
    out = {}
    for name, function in {
        "gather": lambda x: (distributed.gather(x) * weight).sin().sum(),
        "total": lambda x: (distributed.total(x.sum(0)) ** 3).sum(),
    }.items():
        x = whole[mine].clone().requires_grad_()
        value = function(x)
        (grad,) = torch.autograd.grad(value, x)
        out[name] = (value.detach(), grad)
    norm = BatchNorm(4).double()
    x = whole[mine].clone().requires_grad_()
    value = (norm(x) * weight[mine]).sin().sum()
    grads = torch.autograd.grad(value, [x, norm.weight])
    out["norm"] = (value.detach(), *grads, norm.running_mean, norm.running_var)
    return out


def requested(items):
    """Return the cases of the tests that are to run."""
    return [item.callspec.params["case"] for item in items if item.path == Path(__file__) and hasattr(item, "callspec")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("two")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context()  # whose server has the imports
    cases = requested(request.session.items)
    multiprocessing.start_processes(worker, (port, folder, cases), nprocs=2, start_method="forkserver")
    return folder


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_two_processes_take_the_step_of_one(folder, case):
    alone = fitted(*case)
    both = [torch.load(_file(folder, case, rank), weights_only=True) for rank in (0, 1)]
    for key, value in _state(alone).items():
        assert torch.equal(both[0][key], both[1][key]), key
        torch.testing.assert_close(both[0][key], value, atol=1e-10, rtol=1e-10)


def test_the_pieces_have_the_gradient_of_one_process(folder):
    alone = _pieces(0)
    parts = [torch.load(folder / f"pieces-{rank}.pt", weights_only=True) for rank in (0, 1)]
    for name in ("gather", "total"):
        # Both processes compute the same whole loss; the loop takes the mean of two gradients that are each twice too large.
        torch.testing.assert_close(parts[0][name][0], alone[name][0])
        torch.testing.assert_close(torch.cat([part[name][1] for part in parts]) / 2, alone[name][1])
    value, grad, weight, mean, var = alone["norm"]
    torch.testing.assert_close(parts[0]["norm"][0] + parts[1]["norm"][0], value)
    torch.testing.assert_close(torch.cat([part["norm"][1] for part in parts]), grad)
    torch.testing.assert_close(parts[0]["norm"][2] + parts[1]["norm"][2], weight)
    torch.testing.assert_close(parts[0]["norm"][3], mean)
    torch.testing.assert_close(parts[1]["norm"][4], var)
