import numpy as np
import pytest

from untwine import plots

RNG = np.random.default_rng(0)


def drawn(figure):
    """Return the images of each row from left to right."""
    rows = {}
    for image in figure.axes[0].images:
        left, _, _, top = image.get_extent()
        rows.setdefault(round(top, 6), {})[left] = np.asarray(image.get_array())
    return [[row[left] for left in sorted(row)] for _, row in sorted(rows.items())]


def test_a_row_has_its_image_then_reference_and_codes_of_each_method():
    x, first, second = RNG.random((2, 1, 6, 6)), RNG.random((2, 3, 1, 6, 6)), RNG.random((2, 2, 1, 6, 6))
    references = {"sRb-VAE": RNG.random((2, 1, 6, 6)), "Rb-VAE": RNG.random((2, 1, 6, 6))}
    figure = plots.conditional_synthesis(x, {"sRb-VAE": first, "Rb-VAE": second}, references)
    titles = [text.get_text() for text in figure.axes[0].texts]
    assert titles == ["original", "reference", "sRb-VAE", "reference", "Rb-VAE"]
    columns = [x[:, None], references["sRb-VAE"][:, None], first, references["Rb-VAE"][:, None], second]
    np.testing.assert_array_equal(drawn(figure), np.concatenate(columns, axis=1)[:, :, 0])
    assert len(figure.axes[0].lines) == 4


def test_without_references_there_are_images_and_codes_alone():
    figure = plots.conditional_synthesis(np.zeros((3, 1, 4, 4)), {"rb_vae": np.ones((3, 2, 1, 4, 4))})
    assert [text.get_text() for text in figure.axes[0].texts] == ["original", "rb_vae"]
    assert [len(row) for row in drawn(figure)] == [3, 3, 3]


@pytest.mark.parametrize(
    ("generated", "references", "sentence"),
    [
        ({}, None, "needs the images of at least one method; got an empty mapping"),
        ({"a": np.zeros((2, 2, 1, 4, 4))}, {"b": np.zeros((2, 1, 4, 4))}, "of the same methods as generated, a; got b"),
        ({"a": np.zeros((3, 2, 1, 4, 4))}, None, "must have a row for each image; got 2, 3 rows"),
        ({"a": np.zeros((2, 1, 4, 4))}, None, r"the images of 'a' must be images \(rows, columns, C, H, W\)"),
    ],
)
def test_what_does_not_fit_is_refused(generated, references, sentence):
    with pytest.raises(ValueError, match=sentence):
        plots.conditional_synthesis(np.zeros((2, 1, 4, 4)), generated, references)
