"""Commands with bad input, kind by kind: one sentence, exit code 2, and nothing is written or lost."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from small import images, small

from untwine.cli.app import main

X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a run and with files that commands must refuse."""
    folder = tmp_path_factory.mktemp("commands")
    options = ["--data", "toy_contrast", "--data-set", "n_target=30", "--data-set", "n_background=30"]
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["fit", "pca", *options, "--set", "n_latent=3", "--out", str(folder / "run"), "--quiet"])
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["fit", "contrastive_pca", *options, "--out", str(folder / "two"), "--quiet"])
    small("pca").fit(X, out=folder / "from_python")
    small("contrastive_pca").fit(images(), out=folder / "images")
    colours = np.random.default_rng(0).integers(0, 256, (9, 12, 4), dtype=np.uint8)
    Image.fromarray(colours[..., :3]).save(folder / "a.png")
    Image.fromarray(colours).save(folder / "glass.png")
    (folder / "half.png").write_bytes((folder / "a.png").read_bytes()[:90])
    (folder / "text.png").write_text("hello")
    np.save(folder / "many.npy", np.zeros((400, 3, 9, 12), np.uint8))
    np.save(folder / "two.npy", np.zeros((2, 3, 9, 12), np.uint8))
    (folder / "empty").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "notes.txt").write_text("mine")
    np.savez(folder / "rows.npz", x=X)
    np.savez(folder / "strange.npz", x=X, colour=X)
    (folder / "damaged.npz").write_bytes((folder / "rows.npz").read_bytes()[:-40])
    np.save(folder / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (folder / "words.csv").write_text("a,b\n1,2\n3,x\n")
    (folder / "widths.csv").write_text("1,2\n3\n")
    (folder / "text.txt").write_text("hello")
    (folder / "text.npy").write_text("hello")
    (folder / "broken").mkdir()
    (folder / "broken" / "method.json").write_text("{")
    (folder / "other").mkdir()
    (folder / "other" / "method.json").write_text(json.dumps({"format_version": 7, "method": "x"}))
    (folder / "codes.npz").write_bytes(b"")
    return folder


FIT = ("fit", "vae", "--data", "toy_contrast", "--out", "new")
COMMANDS = {
    "unknown command": ("train",),
    "unknown option": (*FIT, "--colour", "red"),
    "unknown list": ("list", "things"),
    "nothing to list": ("list",),
    "list: unknown method": ("list", "methods", "gan"),
    "list: unknown data": ("list", "data", "faces"),
    "list: unknown metric": ("list", "metrics", "taste"),
    "completion for an unknown shell": ("--install-completion", "--shell", "tcsh"),
    "a word too many": (*FIT[:2], "more", *FIT[2:]),
    "no --out": FIT[:4],
    "a seed in words": (*FIT, "--seed", "x"),
    "unknown preset": (*FIT, "--preset", "best"),
    "seconds in words": (*FIT, "--every", "often"),
    "a preset of other data": (*FIT, "--preset", "paper"),
    "unknown method": ("fit", "gan", *FIT[2:]),
    "misspelt method": ("fit", "vea", *FIT[2:]),
    "unknown data": ("fit", "vae", "--data", "cifar", "--out", "new"),
    "misspelt data": ("fit", "vae", "--data", "toy_contrats", "--out", "new"),
    "unknown field": (*FIT, "--set", "colour=red"),
    "misspelt field": (*FIT, "--set", "epoch=3"),
    "malformed --set": (*FIT, "--set", "epochs"),
    "--set without a name": (*FIT, "--set", "=3"),
    "--set twice": (*FIT, "--set", "lr=1", "--set", "lr=2"),
    "a bad value": (*FIT, "--set", "epochs=-2"),
    "a value of the wrong type": (*FIT, "--set", "epochs=many"),
    "a value that is no number": (*FIT, "--set", "lr=NaN"),
    "an empty value": (*FIT, "--set", "epochs="),
    "a likelihood of images": (*FIT, "--set", "likelihood=bernoulli"),
    "an unknown device": (*FIT, "--device", "abacus"),
    "a negative seed": (*FIT, "--seed", "-1"),
    "too wide a PCA": ("fit", "pca", *FIT[2:], "--set", "n_latent=21"),
    "malformed --data-set": (*FIT, "--data-set", "n_target"),
    "unknown option of data": (*FIT, "--data-set", "size=3"),
    "a bad option of data": (*FIT, "--data-set", "n_target=0"),
    "no groups": ("fit", "contrastive_vae", "--data", "rows.npz", "--out", "new"),
    "a full --out": (*FIT[:-1], "full"),
    "a run as --out": (*FIT[:-1], "run"),
    "a file as --out": (*FIT[:-1], "text.txt"),
    "--out below a file": (*FIT[:-1], "text.txt/run"),
    "--overwrite of no run": (*FIT[:-1], "full", "--overwrite"),
    "--resume with --overwrite": (*FIT[:-1], "run", "--resume", "--overwrite"),
    "--overwrite with bad data": ("fit", "vae", "--data", "damaged.npz", "--out", "run", "--overwrite"),
    "--overwrite, a bad setting": ("fit", "pca", "--data", "rows.npz", "--out", "run", "--overwrite", "--set", "n_latent=9"),
    "--overwrite by a bad network": (*FIT[:-1], "run", "--overwrite", "--set", "networks=resnet"),
    "missing file": ("fit", "vae", "--data", "rows/missing.npz", "--out", "new"),
    "pickled file": ("fit", "vae", "--data", "pickled.npy", "--out", "new"),
    "arrays of unknown names": ("fit", "vae", "--data", "strange.npz", "--out", "new"),
    "a table with words": ("fit", "vae", "--data", "words.csv", "--out", "new"),
    "a table of two widths": ("fit", "vae", "--data", "widths.csv", "--out", "new"),
    "a file of another kind": ("fit", "vae", "--data", "text.txt", "--out", "new"),
    "a text named npy": ("fit", "vae", "--data", "text.npy", "--out", "new"),
    "a folder without images": ("fit", "vae", "--data", "empty", "--out", "new"),
    "a size for numbers": ("fit", "vae", "--data", "rows.npz", "--data-set", "size=32", "--out", "new"),
    "more samples than memory": (*FIT, "--data-set", "n_target=1000000000000000"),
    "evaluate: no folder": ("evaluate", "nowhere"),
    "evaluate: no run": ("evaluate", "empty"),
    "evaluate: broken run": ("evaluate", "broken"),
    "evaluate: too new a run": ("evaluate", "other"),
    "evaluate: unknown metric": ("evaluate", "run", "--metrics", "fid"),
    "evaluate: no labels": ("evaluate", "run", "--metrics", "probe"),
    "evaluate: one seed": ("evaluate", "run", "--seeds", "1"),
    "evaluate: no known data": ("evaluate", "from_python"),
    "evaluate: other columns": ("evaluate", "run", "--data", "rows.npz"),
    "encode: no --out": ("encode", "run"),
    "encode: another ending": ("encode", "run", "--out", "codes.txt"),
    "encode: an existing file": ("encode", "run", "--out", "codes.npz"),
    "encode: a folder": ("encode", "run", "--out", "folder.npz", "--overwrite"),
    "encode: unknown split": ("encode", "run", "--out", "new.csv", "--split", "half"),
    "encode: no run": ("encode", "full", "--out", "new.csv"),
    "encode: other columns": ("encode", "run", "rows.npz", "--out", "new.npz"),
    "swap: no --out": ("swap", "two"),
    "swap: another ending": ("swap", "two", "--out", "new.txt"),
    "swap: an image of vectors": ("swap", "two", "--out", "new.png"),
    "swap: a table of images": ("swap", "images", "a.png", "a.png", "--out", "new.csv"),
    "swap: an existing file": ("swap", "two", "--out", "codes.npz"),
    "swap: a folder": ("swap", "two", "--out", "folder.npz", "--overwrite"),
    "swap: no run": ("swap", "full", "a.png", "a.png", "--out", "new.png"),
    "swap: one block": ("swap", "run", "--out", "new.npz"),
    "swap: unknown block": ("swap", "two", "--block", "style", "--out", "new.npz"),
    "swap: no such image": ("swap", "images", "a.png", "z.png", "--out", "new.png"),
    "swap: a text named png": ("swap", "images", "text.png", "a.png", "--out", "new.png"),
    "swap: half an image": ("swap", "images", "a.png", "half.png", "--out", "new.png"),
    "swap: a transparent image": ("swap", "images", "a.png", "glass.png", "--out", "new.png"),
    "swap: an image for vectors": ("swap", "two", "a.png", "a.png", "--out", "new.npz"),
    "swap: vectors for images": ("swap", "images", "a.png", "rows.npz", "--out", "new.npz"),
    "swap: vectors of another width": ("swap", "two", "rows.npz", "rows.npz", "--out", "new.npz"),
    "swap: pairs that do not match": ("swap", "images", "many.npy", "two.npy", "--pairs", "--out", "new.npz"),
    "swap: no known data": ("swap", "images", "a.png", "--out", "new.png"),
    "swap: more than can be drawn": ("swap", "images", "many.npy", "two.npy", "--out", "new.png"),
    "swap: more than can be generated": ("swap", "images", "many.npy", "many.npy", "--out", "new.npz"),
    "swap: no samples": ("swap", "two", "--samples", "0", "--out", "new.npz"),
    "swap: more samples than the data has": ("swap", "two", "--samples", "2000", "--out", "new.npz"),
    "swap: three files": ("swap", "images", "a.png", "a.png", "a.png", "--out", "new.png"),
    "remove: one block": ("remove", "run", "--out", "new.npz"),
    "remove: unknown block": ("remove", "two", "--block", "style", "--out", "new.npz"),
    "remove: no such image": ("remove", "images", "z.png", "--out", "new.png"),
    "remove: below a file": ("remove", "images", "a.png", "--out", "text.txt/new.png"),
    "sample: unknown draw": ("sample", "two", "--draw", "luck", "--out", "new.npz"),
    "sample: nothing": ("sample", "two", "--n", "0", "--out", "new.npz"),
    "sample: one block": ("sample", "run", "--samples", "2", "--out", "new.npz"),
    "sample: more than can be drawn at once": ("sample", "images", "--n", "999", "--out", "new.png"),
    "interpolate: one step": ("interpolate", "two", "--steps", "1", "--out", "new.npz"),
    "interpolate: unknown block": ("interpolate", "two", "--block", "style", "--out", "new.npz"),
    "traverse: one step": ("traverse", "two", "--steps", "1", "--out", "new.npz"),
    "traverse: no latents": ("traverse", "two", "--latents", "0", "--out", "new.npz"),
    "traverse: unknown block": ("traverse", "two", "--block", "style", "--out", "new.npz"),
    "study: no command": ("study", "table"),
    "report: no folder": ("report", "nowhere"),
    "report: no runs": ("report", "empty"),
    "report: broken run": ("report", "broken"),
    "report: too new a run": ("report", "other"),
    "report: a folder as --out": ("report", "run", "--out", "empty"),
    "report: below a file": ("report", "run", "--out", "text.txt/page.html"),
    "demo: a full --out": ("demo", "--out", "full"),
    "demo: a negative seed": ("demo", "--out", "run", "--seed", "-2"),
    "demo: an unknown setting": ("demo", "--out", "run", "--setting", "factors"),
    "demo: a file as --out": ("demo", "--out", "text.txt"),
}
# What each sentence says: in full where the command line writes it, and otherwise what it must name.
SAYS: dict[str, str | tuple[str, ...]] = {
    "no --out": "got no --out",
    "unknown command": 'Unknown command "train" (see `untwine --help`); available commands: list, fit',
    "unknown list": '"things" for WHAT (see `untwine list --help`); choose from: "methods", "data", "metrics".',
    "misspelt method": "got 'vea'; did you mean 'vae' or 'mlvae'?",
    "misspelt field": "no option 'epoch'; did you mean 'epochs'?",
    "misspelt data": "did you mean 'toy_contrast' or 'toy_treatments'?",
    "a run as --out": "pass --resume to continue it, --overwrite to replace it",
    "--overwrite of no run": "only replaces run folders; full is not one",
    "pickled file": "which are never unpickled",
    "a table with words": "must have a number in line 3, column 'b'; got 'x'",
    "--overwrite with bad data": "must hold complete arrays; it is damaged",
    "evaluate: no known data": "pass --data",
    "more samples than memory": "not enough memory",
    "--out below a file": "above it is a file",
    "evaluate: other columns": "X has 4 features, but PCA is expecting 20",
    "demo: a file as --out": "text.txt",
    "swap: another ending": "must end in .png, .npz, .npy or .csv; got 'new.txt'",
    "swap: an image of vectors": "must end in .npz, .npy or .csv, since the samples of this run are vectors",
    "swap: a table of images": "must end in .png, .npz or .npy, since the samples of this run are images",
    "swap: one block": "the method must have several blocks, so that one can change; pca has only z",
    "swap: unknown block": "block must be 'common' or 'salient'; got 'style'",
    "swap: no such image": "path must be a file or a folder; z.png does not exist; correct the path.",
    "swap: a text named png": "text.png must be an image; it cannot be read",
    "swap: a transparent image": "glass.png must be opaque; it is partly transparent",
    "swap: vectors of another width": "X has 4 features, but ContrastivePCA is expecting 20",
    "swap: pairs that do not match": "400 and 2",
    "swap: more than can be drawn": "at most 40 x 40 images; got 400 x 2",
    "swap: more than can be generated": "at most 100,000 samples can be generated at once; got 400 x 400",
    "swap: an existing file": "codes.npz exists; choose another or pass --overwrite",
}


def everything(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.fixture
def inside(folder, monkeypatch):
    (folder / "folder.npz").mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    return folder


SENTENCES: dict[str, str] = {}


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_command_with_bad_input_prints_one_error_and_writes_nothing(kind, inside, capsys):
    before = everything(inside)
    with pytest.raises(SystemExit) as stopped:
        main(COMMANDS[kind])
    out, err = capsys.readouterr()
    assert stopped.value.code == 2
    assert out == ""
    assert err.startswith("untwine: ")
    assert err.count("\n") == 1
    assert err[-2] in ".?"
    says = SAYS.get(kind, ())
    assert [words for words in ((says,) if isinstance(says, str) else says) if words not in err] == []
    assert everything(inside) == before
    SENTENCES[kind] = err


def test_every_command_has_its_own_error_message():
    if len(SENTENCES) < len(COMMANDS):
        pytest.skip("only some of the commands were run")
    assert len(COMMANDS) >= 60
    kinds: dict[str, set[str]] = {}
    for kind, text in SENTENCES.items():
        # The same kind of bad input, a broken run for instance, has the same sentence in every command.
        kinds.setdefault(text, set()).add(kind.split(": ")[-1])
    assert [same for same in kinds.values() if len(same) > 1] == []
    assert len(kinds) >= 60


@pytest.mark.parametrize("kind", ["misspelt method", "encode: another ending"])
def test_a_real_process_exits_with_2_and_one_line(kind, inside):
    before = everything(inside)
    command = [sys.executable, "-m", "untwine", *COMMANDS[kind]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("untwine: ")
    assert everything(inside) == before
