"""What commands make of a stack is tested here, not its rehearsal."""

import pytest


@pytest.fixture(autouse=True)
def _rehearsals_once(rehearsals_once):
    """A stack that several tests ask about is rehearsed once a session."""
