"""Property tests give the same result each time, on a slow machine too.

`pytest --hypothesis-profile=explore` looks further, with other examples in each run.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=3000)
settings.load_profile("fixed")
