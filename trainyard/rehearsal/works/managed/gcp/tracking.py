"""Experiments of Vertex AI: where its runs go."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GCP_METADATA_STORE, GCP_TENSORBOARD
from trainyard.rehearsal.context import Stack

STORE: Final = GCP_METADATA_STORE
BOARD: Final = GCP_TENSORBOARD
DEFAULT: Final = "default"
"""The store that Experiments writes to ("Introduction to Vertex ML Metadata", as generally known, 2026-11)."""


def check(stack: Stack) -> None:
    """Looks at the stores of a stack that keeps curves, and so tracks runs: one of them is where they go."""
    stores = stack.of_type(STORE)
    if not stores or not stack.of_type(BOARD) or any(view.text("name") in (None, DEFAULT) for view in stores):
        return
    message = (
        f"Experiments writes to the store called {DEFAULT}, which Google makes under its own key where nobody does"
    )
    stores[0].warning("managed-store-unused", "name", message, hint=DEFAULT)
