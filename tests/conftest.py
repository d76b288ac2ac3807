"""Property tests give the same result each time, on a slow machine too.

`pytest --hypothesis-profile=explore` looks further, with other examples in each run.
"""

from pathlib import Path
from typing import TextIO

import pytest
import structlog
from hypothesis import HealthCheck, settings
from structlog.typing import ExcInfo

settings.register_profile(
    "fixed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=3000)
settings.load_profile("fixed")


def _brief(out: TextIO, error: ExcInfo) -> None:
    """Tests of bad days log hundreds of errors; a whole traceback takes a tenth of a second."""
    out.write(f"\n{error[1]!r}")


structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=_brief),
    ]
)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the prepared local model, which takes seconds to make: one for all test processes."""
    return tmp_path_factory.getbasetemp().parent / "models"
