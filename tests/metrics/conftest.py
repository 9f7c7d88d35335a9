import pytest


@pytest.fixture(autouse=True)
def of_users(full_readers):
    """Metrics are tested as users see them."""
