import gzip

import numpy as np
import pytest

from untwine.data.readers import mnist


def test_idx_files_round_trip(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    (tmp_path / "a").write_bytes(mnist.as_idx(array))
    assert mnist.as_idx(array)[:16] == b"\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04"
    np.testing.assert_array_equal(mnist.read_idx(tmp_path / "a"), array)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "begins with nothing"),
        (b"\0\0\x0d\x01\0\0\0\x01\0\0\0\0", "unsigned bytes; it begins with 00000d01"),
        (b"<html>", "begins with 3c68746d"),
        (b"\0\0\x08\x01\0\0\0\x05abc", "must have 13 bytes by its header; got 11"),
        (b"\0\0\x08\x03\0\0", "by its header; got 6"),
        (b"\0\0\x08\x01\0\0\0\x02abc", "must have 10 bytes by its header; got 11"),
        (gzip.compress(b"\0\0\x08\x01\0\0\0\x01a", mtime=0)[:-6], "must be an IDX file; it cannot be read"),
    ],
)
def test_a_bad_idx_file_is_refused(tmp_path, content, sentence):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        mnist.read_idx(tmp_path / "file")
