"""A small AffectNet of drawn faces, in the format of its lists and images."""

import csv

import numpy as np
from PIL import Image, ImageDraw

HEADER = [
    "subDirectory_filePath",
    "face_x",
    "face_y",
    "face_width",
    "face_height",
    "facial_landmarks",
    "expression",
    "valence",
    "arousal",
]


def landmarks_upright():
    """Return 68 landmarks of a schematic face around 0: jaw, brows, nose, eyes, mouth, as complex numbers with y downwards."""
    turn = np.linspace(np.pi, 0, 17)
    jaw = np.cos(turn) + 1.2j * np.sin(turn)
    brow = np.linspace(-0.7, -0.2, 5) - 0.45j
    nose = np.concatenate([1j * np.linspace(-0.2, 0.3, 4), np.linspace(-0.2, 0.2, 5) + 0.4j])
    eye = 0.15 * np.exp(1j * np.linspace(0, 2 * np.pi, 6, endpoint=False))
    mouth = 0.7j + 0.4 * np.cos(np.linspace(0, 2 * np.pi, 20)) + 0.15j * np.sin(np.linspace(0, 2 * np.pi, 20))
    return np.concatenate([jaw, brow, -brow.conj()[::-1], nose, eye - 0.4 - 0.2j, eye + 0.4 - 0.2j, mouth])


def draw(points, number, expression):
    """Draw a face through its landmarks: red encodes its number, green its expression; white eyes, a blue mouth."""
    image = Image.new("RGB", (300, 260), (90, 90, 90))
    pen = ImageDraw.Draw(image)
    face = np.concatenate([points[:17], points[26:16:-1]])
    pen.polygon([(z.real, z.imag) for z in face], fill=(2 * number, 25 * expression, 0))
    for eye in (points[36:42], points[42:48]):
        pen.polygon([(z.real, z.imag) for z in eye], fill=(255, 255, 255))
    pen.polygon([(z.real, z.imag) for z in points[48:]], fill=(0, 0, 255))
    return image


def make_affectnet(root, lists=(("training.csv", 12), ("validation.csv", 3)), inner="Manually_Annotated_Images"):
    """Write AffectNet's lists and images: `each` faces of each of 11 expressions, rotated, scaled and shifted at random."""
    rng, number = np.random.default_rng(0), 0
    for name, each in lists:
        rows = []
        for expression in np.tile(np.arange(11), each):
            a = rng.uniform(35, 70) * np.exp(1j * rng.uniform(-0.5, 0.5))
            points = a * landmarks_upright() + 150 + 130j + rng.uniform(-20, 20) + 1j * rng.uniform(-20, 20)
            path = f"{number % 3}/face{number}.png"
            (root / inner / path).parent.mkdir(parents=True, exist_ok=True)
            draw(points, number % 120, expression).save(root / inner / path)
            landmarks = ";".join(f"{z.real:.2f};{z.imag:.2f}" for z in points)
            affect = (-2, -2) if number % 5 == 0 else (0.1 * expression, -0.05 * expression)
            rows.append([path, 10, 10, 200, 200, landmarks, expression, *affect])
            number += 1
        with (root / name).open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *rows])
