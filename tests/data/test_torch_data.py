"""PyTorch's datasets and loaders become samples."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import untwine as un
from untwine.data.readers.torch_data import read_torch

IMAGES = np.random.default_rng(0).integers(0, 256, size=(10, 3, 8, 9), dtype=np.uint8)
Y = np.arange(10) % 3


class Pictures(Dataset):
    """As those of torchvision: images of Pillow, classes with names, and no end of its own."""

    classes = ("cat", "dog", "owl")

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return Image.fromarray(np.moveaxis(IMAGES[i % 10], 0, -1)), int(Y[i % 10])


class Stream(IterableDataset):
    def __iter__(self):
        yield from ((torch.from_numpy(x), y) for x, y in zip(IMAGES, Y, strict=True))


class Records:
    """As those of Hugging Face: mappings by number."""

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return {"image": Image.fromarray(np.moveaxis(IMAGES[i], 0, -1)), "label": int(Y[i])}


def tensors():
    return TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(Y))


SOURCES = {
    "dataset": (Pictures, {}),
    "tensors": (tensors, {}),
    "stream": (Stream, {}),
    "loader": (lambda: DataLoader(tensors(), batch_size=4), {}),
    "loader of single samples": (lambda: DataLoader(Stream(), batch_size=None), {}),
    "loader of a stream": (lambda: DataLoader(Stream(), batch_size=3), {}),
    "list of batches": (lambda: [(IMAGES[:7], Y[:7]), (IMAGES[7:], Y[7:])], {}),
    "generator": (lambda: ((torch.from_numpy(IMAGES[i : i + 5]), Y[i : i + 5]) for i in (0, 5)), {}),
    "mappings": (Records, {"keys": ("image", "label")}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_gives_the_same_samples(name):
    make, options = SOURCES[name]
    samples = read_torch(make(), y="labels", **options)
    assert samples.x.dtype == np.uint8
    np.testing.assert_array_equal(samples.x, IMAGES)
    assert samples.labels.tolist() == Y.tolist()
    assert samples.label_names == (Pictures.classes if name == "dataset" else ("0", "1", "2"))
    plain = read_torch(make(), **options)
    assert plain.labels is None
    np.testing.assert_array_equal(plain.x, IMAGES)


def test_y_may_be_groups_by_number_or_by_name():
    assert read_torch(tensors(), y="groups").groups.tolist() == Y.tolist()
    named = read_torch(Pictures(), y="groups", background="owl")
    assert named.group_names == ("owl", "cat", "dog")
    assert named.groups.tolist() == [(1, 2, 0)[i] for i in Y]
    assert read_torch(Pictures(), y="groups", background=2).fingerprint() == named.fingerprint()
    assert read_torch(tensors(), y="groups", background=1).group_names == ("1", "0", "2")


def test_batches_of_x_alone_and_of_floats_that_need_a_gradient():
    x = torch.randn(6, 4, requires_grad=True)
    np.testing.assert_array_equal(read_torch([x[:4], x[4:]]).x, x.detach().numpy())
    assert read_torch(DataLoader(x.detach(), batch_size=4)).x.shape == (6, 4)
    assert read_torch([x.to(torch.bfloat16)]).x.dtype == np.float32


def test_the_memory_is_bounded_before_all_is_read():
    read = []

    class Large(Pictures):
        def __getitem__(self, i):
            read.append(i)
            return super().__getitem__(i)

    with pytest.raises(ValueError, match=r"must fit in 1e-06 gigabytes; it takes 2.01e-06; take fewer or smaller"):
        read_torch(Large(), gigabytes=1e-6)
    assert read == [0]
    endless = (np.ones((5, 100)) for _ in iter(int, 1))
    with pytest.raises(ValueError, match="must fit in"):
        read_torch(endless, gigabytes=1e-3)


def test_progress_is_shown_where_it_is_wanted(capsys):
    read_torch(tensors(), progress=True)
    assert "reading" in capsys.readouterr().err
    read_torch(tensors())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("make", "options", "error", "sentence"),
    [
        (lambda: 3, {}, TypeError, "dataset must be a Dataset, a DataLoader or an iterable of batches; got int"),
        (lambda: [], {}, ValueError, "must yield at least one sample"),
        (lambda: [IMAGES, IMAGES[..., :8]], {}, ValueError, r"item 0 has \(3, 8, 9\) uint8, item 1 has \(3, 8, 8\) uint8"),
        (lambda: [IMAGES], {"y": "labels"}, ValueError, r"items must be \(x, y\) where y is asked for"),
        (lambda: [(IMAGES, Y[:3])], {"y": "labels"}, ValueError, "for each of the 10 samples of its batch; got 3"),
        (tensors, {"y": "classes"}, ValueError, "y must be"),
        (tensors, {"background": 1}, ValueError, "background is a value of the groups; got it with y=None"),
        (tensors, {"y": "groups", "background": 7}, ValueError, "must have the background '7' in the column 'y'"),
        (Records, {}, ValueError, r"got no keys; pass keys=\('image', 'label'\)"),
        (Records, {"keys": ("img", "label")}, ValueError, "names of the items, image, label; got 'img'"),
        (lambda: [[object()]], {}, TypeError, "must be tensors, arrays or images; got objects"),
    ],
)
def test_wrong_data_gets_its_sentence(make, options, error, sentence):
    with pytest.raises(error, match=sentence):
        read_torch(make(), **options)


def test_a_method_is_fitted_to_them():
    samples = read_torch(DataLoader(TensorDataset(torch.randn(40, 5), torch.arange(40) % 2), batch_size=16), y="groups")
    assert un.ContrastivePCA(n_salient=1).fit(samples).transform(samples).shape == (40, 6)
