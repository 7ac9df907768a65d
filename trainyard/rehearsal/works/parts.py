"""The parts of a room: what one cannot read silences no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from trainyard.recorded.read import UnreadableInput

Played = TypeVar("Played")


def play(parts: Iterable[Callable[[Played], None]], played: Played) -> None:
    """Lets every part look. Raises the first `UnreadableInput` when all others have spoken."""
    unread: list[UnreadableInput] = []
    for part in parts:
        try:
            part(played)
        except UnreadableInput as unreadable:
            unread.append(unreadable)
    if unread:
        raise unread[0]
