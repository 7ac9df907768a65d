"""What a secret looks like: by the shape of a value, and by the name that it goes under.

Shapes are the published prefixes of the providers' own tokens (the formats that gitleaks 8 and GitHub's secret scanning
look for, 2026-11). A name tells a secret by its last word that says what it is: `DB_PASSWORD` is one, and
`DB_PASSWORD_FILE`, `SECRET_NAME`, `MAX_TOKENS` and `TOKENIZERS_PARALLELISM` are not.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

_SHAPES: Final = (
    ("an access key of AWS", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a private key", ("PRIVATE KEY",), r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("a token of GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    ("a token of GitHub", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
    ("a token of GitLab", ("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a token of Slack", ("xox",), r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("an address of Slack that anybody may write to", ("hooks.slack.com",), r"hooks\.slack\.com/services/T[\w/]{20,}"),
    ("a token of Hugging Face", ("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    ("an API key of a model provider", ("sk-",), r"\bsk-(?:[a-z]+-)?[A-Za-z0-9_-]{20,}"),
    ("an API key of NVIDIA", ("nvapi-",), r"\bnvapi-[A-Za-z0-9_-]{30,}"),
    ("an API key of Google", ("AIza",), r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a token of Google", ("ya29.",), r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("a token of a package registry", ("npm_", "pypi-"), r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})"),
    ("a token of Docker Hub", ("dckr_pat_",), r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    ("an access token of Pulumi", ("pul-",), r"\bpul-[0-9a-f]{40}\b"),
    ("a signed token (JWT)", ("eyJ",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    ("an address with a password", ("://",), r"://[^\s/:@\"'<>]*:(?![$<{*%])[^\s/@\"'<>]{3,}@[^\s/]"),
    (
        "a connection string with a key",
        ("Key=", "Signature="),
        r"\b(?:Account|SharedAccess)(?:Key|Signature)=[^;\s$<{*]{6,}",
    ),
    ("a connection string with a password", ("assword=", "pwd=", "PWD="), r"(?i:;\s*(?:password|pwd)=[^;\s$<{*]{4,})"),
    ("a connection string with a password", ("password=",), r"\b(?:host|user|dbname)=\S.*\bpassword=[^;\s$<{*]{4,}"),
    ("a key of a service account", ('"private_key',), r'"private_key(?:_id)?"\s*:\s*"[^"]{16,}"'),
)
"""What it is, one of the texts that it cannot be without, which is looked for first, and its whole form."""
_PATTERNS: Final = tuple((kind, marks, re.compile(shape)) for kind, marks, shape in _SHAPES)

_RANDOM: Final = (
    # base64: by chance 63 characters in a hundred differ in kind (small, capital, digit, sign) from the one before, and
    # one has 4.4 bits of entropy and more.
    (
        re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=(?:.*[0-9]){3})[A-Za-z0-9+/_=-]{32,128}"),
        re.compile(r"[a-z]{7}|[A-Z]{7}|[0-9]{6}"),
        45,
        4.2,
    ),
    # Small letters and digits: 40, and 4.3.
    (re.compile(r"(?=.*[g-z])(?=(?:[a-z]*[0-9]){6})[a-z0-9]{32,128}"), re.compile(r"[a-z]{12}|[0-9]{8}"), 25, 3.9),
)
"""Forms of random keys, what only names have (a word, a date), and what must differ in kind and be chance, at least."""
_CHARACTERS: Final = {"small": str.islower, "capital": str.isupper, "digit": str.isdigit}

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRETS: Final = ("PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "SECRET", "TOKEN", "CREDENTIAL", "CREDENTIALS")
_SECRET_PAIRS: Final = frozenset(
    {
        *("API KEY", "APP KEY", "ACCESS KEY", "ACCOUNT KEY", "AUTH KEY", "PRIVATE KEY", "SECRET KEY", "SIGNING KEY"),
        *("ENCRYPTION KEY", "FERNET KEY", "KAGGLE KEY", "KEY DATA"),
    }
)
_SHORT: Final = ("PASS", "PWD")
"""Secrets behind another word only: `PWD` is where a shell is."""
_VOCABULARY: Final = frozenset(
    {
        *(
            "PAD",
            "EOS",
            "BOS",
            "UNK",
            "SEP",
            "CLS",
            "MASK",
            "SPECIAL",
            "STOP",
            "START",
            "END",
            "IMAGE",
            "AUDIO",
            "TEXT",
        ),
        *("NEW", "MAX", "MIN", "PER", "NEXT", "FIRST", "LAST"),
    }
)
"""Before TOKEN: a token of a language model's vocabulary, or a count of them."""

_ELSEWHERE: Final = re.compile(
    r"\$\([A-Za-z_][A-Za-z0-9_]*\)|\$\{[^}]*\}"  # another variable
    r"|(?:file:/{0,2})?/[\w.@/-]+"  # a path
    r"|arn:[\w-]+:\S+|projects/\S+/secrets/\S+|(?:vault|ssm|sm|gcpsm|secretsmanager|awssm|op|ref)(?:\+\w+)?:\S+"
    r"|<[^>]*>|\[[^\]]*\]"  # a place-holder, a token of a vocabulary
    r"|(?i:true|false|yes|no|none|null)"
)
"""Values that name a secret, or none: a variable, a file, an entry of a secret store."""


@lru_cache(maxsize=1024)
def secret_shape(text: str) -> str:
    """What kind of secret a text holds, by its shape; empty where it holds none.

    The longest texts, such as the worker's files, are the same in every job and every stack.
    """
    for kind, marks, pattern in _PATTERNS:
        if any(mark in text for mark in marks) and pattern.search(text):
            return kind
    return "what looks like a random key" if _is_random(text) else ""


def _is_random(text: str) -> bool:
    length = len(text)
    for form, word, turns_percent, bits in _RANDOM if length <= 128 and not text.startswith("/") else ():
        if form.fullmatch(text) and not word.search(text):
            turns = sum(_kind(one) != _kind(other) for one, other in pairwise(text))
            shares = [times / length for times in Counter(text).values()]
            return 100 * turns >= turns_percent * length and -sum(share * math.log2(share) for share in shares) >= bits
    return False


def _kind(character: str) -> str:
    return next((kind for kind, test in _CHARACTERS.items() if test(character)), "sign")


def secret_name(name: str) -> bool:
    """Whether what goes under this name is a secret itself, rather than where one is or how many there are."""
    words = [word.upper() for word in _WORDS.findall(name)]
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "TOKEN" and before in _VOCABULARY:
        return False
    return last.endswith(_SECRETS) or f"{before} {last}" in _SECRET_PAIRS or (bool(before) and last in _SHORT)


def plain_secret(name: str, value: Any) -> str:
    """What kind of secret stands in the clear under a name; empty where none does.

    A value that is not a text yet (`UNKNOWN`, a number) counts under the name of a secret: nothing that is made
    elsewhere becomes harmless by being handed on. A token that is a number is a count.
    """
    text = value if isinstance(value, str) else ""
    shape = secret_shape(text)
    if shape:
        return shape
    if not secret_name(name) or value in (None, "") or isinstance(value, bool) or _ELSEWHERE.fullmatch(text.strip()):
        return ""
    numeric = isinstance(value, (int, float)) or text.strip().isdigit()
    if numeric and name.upper().endswith("TOKEN"):
        return ""
    return "a secret by its name" if not _only_places(text) else ""


def _only_places(text: str) -> bool:
    """Whether a text is a JSON document that names files or variables only."""
    try:
        content = json.loads(text)
    except ValueError:
        return False
    return isinstance(content, dict) and all(
        isinstance(value, str) and _ELSEWHERE.fullmatch(value) for value in content.values()
    )
