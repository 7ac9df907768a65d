"""What was judged in this process and found without any fault, by the shape of the stack.

It is asked within `once.judging_many` alone: of one stack there is no next.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainyard.rehearsal.engine.project import StackConfig
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.shape import content, lexicon
from trainyard.rehearsal.shape.renaming import AmbiguousError, Renaming, normal_form
from trainyard.rehearsal.shape.words import Vocabulary, far_from, forms, identity_texts, renameable

_MOST: Final = 256
"""Shapes that a process remembers; then it begins anew."""
_MOST_VOCABULARIES: Final = 64
"""Normal forms whose words it remembers, 60 KB of each."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A stack without the words of its client: what else is equal has the same key."""

    key: Hashable
    renaming: Renaming


class Sound:
    """Answers that nothing was found, by question and shape."""

    def __init__(self) -> None:
        self.asked = 0
        self.known = 0
        self._answers: dict[tuple[Hashable, Hashable], Any] = {}
        self._vocabularies: dict[bytes, Vocabulary] = {}
        self._salt = os.urandom(32)

    def shape_of(
        self,
        config: StackConfig,
        settings: Mapping[str, Any],
        plan: Mapping[str, Any],
        preview: Recording,
        known: Recording,
        derived: Mapping[str, Sequence[str]],
    ) -> Shape | None:
        """The shape of a stack that was recorded. None where the program failed, something in it is no plain data, or
        the client's name is nearly another word of it: whether it is asked or would be remembered, its letters count.
        """
        if any(run.error is not None or run.hang is not None for run in (preview, known)) or config.unseen:
            return None
        words = renameable(identity_texts(config.stack, settings), lexicon.of_the_rules())
        try:
            renaming = Renaming(words, derived)
            text, secrets = content.written(config, settings, plan, preview, known)
        except (AmbiguousError, content.NotPlainError):
            return None
        rest, places = normal_form(text, renaming.places(text))
        of_rest = hashlib.blake2b(rest, key=self._salt).digest()
        of_secrets = Vocabulary.of(normal_form(secrets, renaming.places(secrets))[0])
        of_others = self._vocabulary_of(rest, of_rest, of_secrets)
        if not (far_from(of_others, words) and far_from(of_secrets, words)):
            return None
        found = hashlib.blake2b(key=self._salt)
        for part in (of_rest, places, forms(words).encode()):
            found.update(len(part).to_bytes(8, "big"))
            found.update(part)
        classes = known.classes
        if not classes or classes != preview.classes or not all(map(_is_imported, classes.values())):
            return None
        return Shape((found.digest(), *sorted(classes.items())), renaming)

    def _vocabulary_of(self, rest: bytes, digest: bytes, secrets: Vocabulary) -> Vocabulary:
        """What a normal form says beside secrets, by its digest: many are equal, and its words are looked for once."""
        known = self._vocabularies.get(digest)
        if known is None:
            if len(self._vocabularies) >= _MOST_VOCABULARIES:
                self._vocabularies = {}
            known = self._vocabularies[digest] = Vocabulary.of(rest).without(secrets)
        return known

    def answer(self, shape: Shape, question: Hashable) -> Any:
        """What was answered to a stack of this shape; None where it was not asked."""
        self.asked += 1
        found = self._answers.get((question, shape.key))
        self.known += found is not None
        return found

    def add(self, shape: Shape, question: Hashable, answer: Any) -> None:
        """Remembers an answer that nothing was found, which is anything but None."""
        if len(self._answers) >= _MOST:
            self._answers = {}
        self._answers[question, shape.key] = answer


def _is_imported(kind: type) -> bool:
    """Whether a class is there anyway. A program's own is another one each run, never equal, and holds its module."""
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


OF_THIS_PROCESS: Final = Sound()
"""What this process remembers."""
