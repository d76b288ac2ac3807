"""Change the API key of a service without a pause. Run by the nightly job."""

from datetime import timedelta

MAX_AGE = timedelta(days=90)
GRACE = timedelta(hours=24)


def rotate(service, store, api, now):
    """Make a new key when the old one is older than 80 days; the old one lives on for GRACE."""
    key = store.current(service)
    if now - key.created < MAX_AGE - timedelta(days=10):
        return key
    new = api.create_key(service)
    store.save(service, new)
    api.expire(key, at=now + GRACE)
    return new
