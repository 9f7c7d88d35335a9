"""Images of another size or number of channels, and folders of images, as inputs of commands."""

import numpy as np
from command_line import run
from images_on_disk import arrays, read, save
from PIL import Image

import untwine as un


def test_images_of_another_size_are_resized_with_a_note(inside, capsys):
    large = np.repeat(np.repeat(read("a")[0], 30, axis=1), 30, axis=2)
    save("large.png", np.pad(large, ((0, 0), (0, 0), (30, 30)), mode="edge"))
    run("remove", "images", "large.png", "--out", "out.npz")
    note = "large.png was resized to 10 x 12 pixels (center-cropped where the aspect ratio differs), the shape of the run."
    assert capsys.readouterr().err == f"untwine: note: {note}\n"
    off = np.abs(arrays("out.npz")["x"].astype(int) - read("a").astype(int)).mean()
    assert off < 15  # of noise in 0 to 120, whose pixels differ by 40 from any other


def test_grayscale_and_rgb_images_are_converted_to_the_channels_of_the_run(inside, capsys):
    grey = read("a")[:, :1]
    save("grey.png", grey[0])
    run("remove", "images", "grey.png", "--out", "out.npz")
    np.testing.assert_array_equal(arrays("out.npz")["x"], np.repeat(grey, 3, axis=1))
    assert capsys.readouterr().err == "untwine: note: grey.png was converted to RGB, the shape of the run.\n"
    x = np.load("data.npz")["x"][:, :1]
    un.ContrastivePCA(n_common=2, n_salient=1).fit(x, np.arange(60) < 40, out="grey")
    run("remove", "grey", "a.png", "--out", "out.npz", "--overwrite")
    expected = np.asarray(Image.open("a.png").convert("L"))
    np.testing.assert_allclose(arrays("out.npz")["x"][0, 0], expected, atol=1)
    assert "a.png was converted to grayscale" in capsys.readouterr().err


def test_a_folder_of_images_gives_its_samples_in_order(inside):
    (inside / "folder").mkdir()
    for name in "cab":
        save(f"folder/{name}.png", read(name)[0])
    run("remove", "images", "folder", "--samples", 2, "--out", "out.npz")
    np.testing.assert_array_equal(arrays("out.npz")["x"], read("a", "b"))
