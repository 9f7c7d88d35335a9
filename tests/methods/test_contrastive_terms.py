"""Contrastive VAEs by hand: every term of a step from the codes, with weights that differ and groups that are told apart."""

import itertools

import pytest
import torch
from small import small, vectors
from torch.distributions import Normal, kl_divergence
from torch.nn import functional

import untwine as un
from untwine.methods import METHODS
from untwine.networks.autoencoder import LOGVAR_SCALE
from untwine.training.batches import TrainingData

N = 6
WEIGHTS = {"beta_common": 3.0, "beta_salient": 0.5}
STANDARD = Normal(torch.zeros((), dtype=torch.float64), 1.0)


class Begun:
    """A method as it begins: its moves, and what a step sees, computed from the networks' outputs alone."""

    def __init__(self, name, **changes):
        data = vectors(target=N, background=N)
        method = small(name, batch=N, precision="float64", **{**WEIGHTS, **changes})
        method._prepare(data, {})
        (stage,) = method.stages()
        rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
        order = rows.order(stage, 0, 0)[0]
        self.nets, self.players = method.nets_, set(stage.players)
        self.moves = dict(stage.step(rows.batch(order, (0, 0, 0), stage.batches), 0))
        again = rows.batch(order, (0, 0, 0), stage.batches)
        self.x = again.x
        mu, logvar = self.nets["vae"].encoder(self.x).chunk(2, 1)
        q = Normal(mu, torch.exp(0.5 * 10 * torch.tanh(logvar / 10)))
        self.q_z, self.q_s = (Normal(q.mean[:, c], q.stddev[:, c]) for c in (slice(0, 4), slice(4, 7)))
        self.z, self.s = (q.mean + q.stddev * again.noise(q.mean.shape[1]) for q in (self.q_z, self.q_s))

    def bound(self):
        """Eq. 3: the background is decoded with s = 0, and has no KL term of s."""
        s = torch.cat([self.s[:N], torch.zeros_like(self.s[N:])])
        vae = self.nets["vae"]
        outputs = Normal(
            vae.decoder(torch.cat([self.z, s], 1)), torch.exp(0.5 * 10 * torch.tanh(LOGVAR_SCALE * vae.noise / 10))
        )
        logs, kls = outputs.log_prob(self.x).sum(1), kl_divergence(self.q_z, STANDARD).sum(1)
        return {
            "reconstruction": -logs[:N].mean() - logs[N:].mean(),
            "kl_common": 3.0 * (kls[:N].mean() + kls[N:].mean()),
            "kl_salient": 0.5 * kl_divergence(self.q_s, STANDARD).sum(1)[:N].mean(),
        }

    def salient_penalty(self):
        """The background's |mu|^2 + |sigma|^2."""
        return (self.q_s.mean[N:].square() + self.q_s.variance[N:]).sum(1).mean()


def w2(a, b):
    """The cheapest of all assignments, tried one by one."""
    return min((a - b[list(order)]).square().sum(1).mean() for order in itertools.permutations(range(N)))


def test_a_step_on_eq_8_is_the_elbo_the_background_salient_penalty_and_w2_of_the_common_means():
    begun = Begun("principled_vae", lambda_s=7.0, lambda_z=11.0)
    target, background = begun.q_z.mean[:N], begun.q_z.mean[N:]
    expected = {**begun.bound(), "salient_penalty": 7.0 * begun.salient_penalty(), "w2": 11.0 * w2(target, background)}
    torch.testing.assert_close(begun.moves, {"vae": expected})
    assert all(term.item() > 0 for term in expected.values())


def test_eq_8_to_the_letter_has_w2_of_samples_and_a_constant_rate():
    begun = Begun("principled_vae", lambda_s=0.0, lambda_z=11.0, w2_of="samples", schedule="constant")
    torch.testing.assert_close(begun.moves["vae"]["w2"], 11.0 * w2(begun.z[:N], begun.z[N:]))
    method = small("principled_vae", schedule="constant")
    method._prepare(vectors(), {})
    (stage,) = method.stages()
    assert stage.schedule is None
    for preset in METHODS["principled_vae"].papers.values():
        assert [preset.fields[key] for key in ("w2_of", "schedule", "lambda_z")] == ["samples", "constant", 1.0]


def test_the_mmd_of_the_authors_is_biased_with_thirteen_kernels():
    begun = Begun("mm_cvae", lambda_z=3.0, lambda_s=5.0, mmd="authors")
    gammas = [10.0**power for power in range(-6, 7)]
    kernel = lambda a, b: sum(torch.exp(-g * (a[:, None] - b).square().sum(-1)) for g in gammas).mean()  # noqa: E731
    mmd = lambda a, b: kernel(a, a) + kernel(b, b) - 2 * kernel(a, b)  # noqa: E731
    s = begun.s[N:]
    torch.testing.assert_close(begun.moves["vae"]["mmd_common"], 3.0 * mmd(begun.z[:N], begun.z[N:]))
    torch.testing.assert_close(begun.moves["vae"]["mmd_salient"], 5.0 * mmd(s, torch.zeros_like(s)))


def test_lambda_z_of_0_gives_eq_7():
    begun = Begun("principled_vae", lambda_s=7.0, lambda_z=0.0)
    torch.testing.assert_close(begun.moves, {"vae": {**begun.bound(), "salient_penalty": 7.0 * begun.salient_penalty()}})


def test_without_both_weights_eq_3_is_left():
    begun = Begun("principled_vae", lambda_s=0.0, lambda_z=0.0)
    torch.testing.assert_close(begun.moves, {"vae": begun.bound()})


def test_both_new_terms_move_the_encoder_as_their_formulas_do():
    begun = Begun("principled_vae", lambda_s=7.0, lambda_z=11.0)
    by_hand = {"salient_penalty": 7.0 * begun.salient_penalty(), "w2": 11.0 * w2(begun.q_z.mean[:N], begun.q_z.mean[N:])}
    encoder = list(begun.nets["vae"].encoder.parameters())
    for name, term in by_hand.items():
        result, expected = (torch.autograd.grad(one, encoder, retain_graph=True) for one in (begun.moves["vae"][name], term))
        torch.testing.assert_close(result, expected)
        assert any(grad.any() for grad in result)


def ratios(begun, z, s, away):
    """The logits of pairs of one sample, and of pairs with the s of the sample so far away."""
    d = begun.nets["discriminator"]
    other = torch.stack([s[(i - away) % len(s)] for i in range(len(s))])
    return d(torch.cat([z, s], 1)), d(torch.cat([z, other], 1))


def undecided(joint, independent):
    return -0.5 * (functional.logsigmoid(joint).mean() + functional.logsigmoid(-independent).mean())


def test_a_step_of_contrastive_vae_is_the_elbo_and_the_total_correlation_of_targets():
    begun = Begun("contrastive_vae", lambda_tc=7.0)
    joint, independent = ratios(begun, begun.z[:N], begun.s[:N], away=N // 2)
    expected = {
        "vae": {**begun.bound(), "total_correlation": 7.0 * joint.mean()},
        "discriminator": {"discrimination": undecided(joint, independent)},
    }
    torch.testing.assert_close(begun.moves, expected)


def test_without_weight_contrastive_vae_is_the_bound():
    begun = Begun("contrastive_vae", lambda_tc=0.0)
    torch.testing.assert_close(begun.moves, {"vae": begun.bound()})
    assert begun.players == {"vae"}


def mean_kernel(a, b, same):
    """The mean over pairs, of two different points where both sets are one, of a sum of Gaussian kernels."""
    pairs = [(i, j) for i in range(N) for j in range(N) if not (same and i == j)]
    return sum(torch.exp(-g * (a[i] - b[j]).square().sum()) for i, j in pairs for g in (0.001, 0.01, 0.1, 1.0)) / len(pairs)


def mmd(a, b):
    return mean_kernel(a, a, True) + mean_kernel(b, b, True) - 2 * mean_kernel(a, b, False)


def test_a_step_of_mm_cvae_is_the_elbo_and_the_moments_of_both_blocks():
    begun = Begun("mm_cvae", lambda_s=7.0, lambda_z=11.0)
    expected = {
        **begun.bound(),
        "mmd_common": 11.0 * mmd(begun.z[:N], begun.z[N:]),
        "mmd_salient": 7.0 * mmd(begun.s[N:], torch.zeros_like(begun.s[N:])),
    }
    torch.testing.assert_close(begun.moves, {"vae": expected})


def test_a_step_of_sep_vae_is_the_elbo_the_classifier_and_the_discriminator_over_both_groups():
    begun = Begun("sep_vae", variance=0.04, lambda_class=7.0, lambda_mi=11.0)
    noise = (begun.s - begun.q_s.mean) / begun.q_s.stddev
    s = torch.cat([begun.s[:N], begun.q_s.mean[N:] + 0.2 * noise[N:]])  # the background's has the fixed variance
    told = begun.nets["classifier"](s)
    joint, independent = ratios(begun, begun.z, s, away=2 * N // 4)
    expected = {
        **begun.bound(),
        "salient_penalty": 0.5 * begun.q_s.mean[N:].square().sum(1).mean() / 0.08,
        "classification": -7.0 * (functional.logsigmoid(told[:N]).mean() + functional.logsigmoid(-told[N:]).mean()),
        "mutual_information": 22.0 * joint.mean(),
    }
    result = {"vae": expected, "discriminator": {"discrimination": undecided(joint, independent)}}
    torch.testing.assert_close(begun.moves, result)


VAES = ("principled_vae", "contrastive_vae", "mm_cvae", "sep_vae")


@pytest.mark.parametrize("name", VAES)
def test_all_have_the_setting_of_the_paper_that_compares_them(name):
    kind = METHODS[name]
    principled = {"grassy_mnist", "grassy_mnist_nonlinear", "celeba_accessories", "affectnet"}
    assert set(kind.papers) == principled | ({"cifar_mnist"} if name == "mm_cvae" else set())
    for data, widths, networks in (
        ("grassy_mnist", (16, 8), "layers6"),
        ("grassy_mnist_nonlinear", (16, 8), "layers6"),
        ("celeba_accessories", (16, 6), "layers8"),
        ("affectnet", (32, 32), "layers8"),
    ):
        if (name, data) == ("mm_cvae", "celeba_accessories"):
            continue  # table 1 of another paper, below
        method = kind.paper(data)
        method.check()
        assert (method.n_common, method.n_salient, method.networks) == (*widths, networks)
        assert (method.beta_common, method.beta_salient, method.batch, method.lr, method.epochs) == (2.0, 2.0, 128, 1e-3, 200)
    own = {"principled_vae": (1.0, 10.0), "mm_cvae": (156.25, 15.625)}  # the second: 10^4 and 10^3 next to sums over 64 samples
    if name in own:
        assert (method.lambda_z, method.lambda_s) == own[name]


def test_mm_cvae_has_its_authors_networks_where_double_infogan_compares_it():
    for method, widths, lambda_z, mmd in (
        (un.MMcVAE.paper("celeba_accessories"), (16, 6), 156.25, "unbiased"),
        (un.MMcVAE.paper("cifar_mnist"), (64, 64), 1.5625, "unbiased"),
        (un.MMcVAE.authors("celeba_accessories"), (16, 6), 156.25, "authors"),
        (un.MMcVAE.authors("cifar_mnist"), (64, 64), 156.25, "authors"),
    ):
        assert (method.n_common, method.n_salient, method.lambda_z, method.lambda_s) == (*widths, lambda_z, 15.625)
        assert (method.networks, method.width, method.epochs, method.batch, method.mmd) == ("conv_norm", 32, 500, 64, mmd)


@pytest.mark.parametrize("name", VAES)
def test_kl_terms_without_weight_are_left_out(name):
    terms = Begun(name, beta_common=0.0, beta_salient=0.0).moves["vae"]
    assert not {"kl_common", "kl_salient"} & set(terms)
