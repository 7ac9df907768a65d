"""How a container starts an MLflow server: as it is, or in the words of a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from trainyard.catalog import pins
from trainyard.policies import pods
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at

_SHELLS: Final = ("sh", "bash", "dash", "ash", "zsh", "ksh")
_RUN: Final = re.compile(r"-[a-z]*c")
"""The option of a shell that takes a text to run, alone or among others: `-c`, `-ec`, `-lc`."""
_APPLICATION: Final = re.compile(r"mlflow\.server(\.[\w.]+)?:\w+.*")
"""The server as a web server of Python is told it: `gunicorn mlflow.server:app`."""
_ENDS: Final = frozenset({";", "&&", "||", "|", "&", "\n"})


def lines(container: Any) -> Iterator[list[str]]:
    """The command lines of a container that start a server, as words."""
    words = [str(part) for key in ("command", "args") for part in list_at(container, key)]
    for line in _commands(words):
        if any(pair == ("mlflow", "server") for pair in _names(line)) or any(map(_APPLICATION.fullmatch, line)):
            yield [_as_option(word) for word in line]


def unseen(resource: RecordedResource) -> Iterator[str]:
    """Containers with a port and the tracking server's image that start it by a script, or by nothing that is said."""
    for where, container in pods.containers(resource):
        image = str(value_at(container, "image", default=""))
        if _repository(image) == _repository(pins().image("mlflow")) and list_at(container, "ports"):
            words = [str(part) for key in ("command", "args") for part in list_at(container, key)]
            if words and not any(lines(container)) and not _is_another_program(words):
                yield where


def _commands(words: list[str]) -> Iterator[list[str]]:
    """A command line, or those in the text that a shell is given."""
    shell = next((at for at, word in enumerate(words) if word.rpartition("/")[2] in _SHELLS), None)
    if shell is None:
        yield words
        return
    for at, word in enumerate(words[shell + 1 :], shell + 1):
        if _RUN.fullmatch(word) and at + 1 < len(words):
            yield from _of_text(words[at + 1])
            return


def _of_text(text: str) -> Iterator[list[str]]:
    try:
        reader = shlex.shlex(text.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars=";&|")
        reader.whitespace_split = True
        words = list(reader)
    except ValueError:  # an open quotation: the shell would not run it either
        words = text.split()
    line: list[str] = []
    for word in [*words, ";"]:
        if word in _ENDS or set(word) <= set(";&|"):
            yield line
            line = []
        else:
            line.append(word)


def _names(line: list[str]) -> Iterator[tuple[str, str]]:
    for one, other in pairwise(line):
        yield one.rpartition("/")[2], other


def _as_option(word: str) -> str:
    """The application that asks for logins is the option that does."""
    return "--app-name=basic-auth" if word.startswith("mlflow.server.auth:") else word


def _is_another_program(words: list[str]) -> bool:
    """Whether it plainly runs something else: a module or a file of Python's."""
    return words[0].rpartition("/")[2].startswith("python") and not any(part.startswith("mlflow") for part in words)


def _repository(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]
