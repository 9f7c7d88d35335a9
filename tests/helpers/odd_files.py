"""Small files for the tests of odd input, and reading that keeps what is noted."""

import warnings

from PIL import Image

from untwine.data import read
from untwine.data.readers import notes


def put(path, content, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def image(path, value=100, size=(16, 16), mode="L", **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, value).save(path, **options)
    return path


def array(path, values, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values).save(path, **options)
    return path


def read_noted(*given, **options):
    """Read quietly; return the samples and what was said, warnings included."""
    with notes.collect() as sentences, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        samples = read(*given, **options)
    return samples, [*map(str, sentences), *(str(one.message) for one in caught)]
