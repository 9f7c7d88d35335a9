import functools

import pytest


@pytest.fixture(autouse=True, scope="session")
def tables_of_operators():
    """The exporter goes through all operators anew for each graph, which takes half its time; here it does so once."""
    from torch._export import utils
    from torch.onnx._internal.exporter import _registration

    with pytest.MonkeyPatch.context() as patch:
        made = functools.cache(_registration.ONNXRegistry.from_torchlib)
        patch.setattr(_registration.ONNXRegistry, "from_torchlib", staticmethod(made))
        for name in ("_materialize_cpp_cia_ops", "_is_preservable_cia_op"):
            patch.setattr(utils, name, functools.cache(getattr(utils, name)))
        yield
