"""What an upgrade makes of a stack is tested here, not its rehearsal."""

import pytest


@pytest.fixture(autouse=True)
def _rehearsals_once(rehearsals_once):
    """A stack that several tests bring to the same version is rehearsed once a session."""
