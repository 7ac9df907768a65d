"""What of Google Cloud the policies know."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, Card

CARDS: Final = (
    Card("gcp:sql/databaseInstance:DatabaseInstance", API_CALL, None, taggable=True, stateful=True),
    Card("gcp:storage/bucket:Bucket", API_CALL, None, taggable=True, stateful=True),
)
