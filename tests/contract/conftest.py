import pytest
from small import DATA, NAMES


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture(params=tuple(DATA))
def kind(request):
    return request.param


@pytest.fixture
def data(kind):
    return DATA[kind]()
