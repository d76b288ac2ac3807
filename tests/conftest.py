"""Property tests give the same result each time, on a slow machine too.

`pytest --hypothesis-profile=explore` looks further, with other examples in each run.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=3000)
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the prepared local model, which takes seconds to make: one for all test processes."""
    return tmp_path_factory.getbasetemp().parent / "models"
