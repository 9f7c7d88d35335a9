import functools

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_table_of_operators():
    """The exporter makes its table of operators anew for each graph, which takes half its time; here it is made once."""
    from torch.onnx._internal.exporter import _registration

    with pytest.MonkeyPatch.context() as patch:
        made = functools.cache(_registration.ONNXRegistry.from_torchlib)
        patch.setattr(_registration.ONNXRegistry, "from_torchlib", staticmethod(made))
        yield
