"""Accounts: which one a provider names, and how ARNs of a rehearsal are spelt where nobody named it.

A rehearsal knows an account only where the stack names it, and has another number in its place. To name the account
afterwards changes no ARN of what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import AWS_PROVIDER
from trainyard.rehearsal.change.earlier import Earlier
from trainyard.rehearsal.engine.synthesised import ACCOUNT

_ARN: Final = re.compile(r"^arn:aws[\w-]*:[\w-]+:[\w-]*:(\d{12}):")


def named_accounts(provider: RecordedResource) -> frozenset[str]:
    """The accounts that a provider may work in; none where it takes whichever it comes to."""
    texts = (text for _, text in known_texts(provider.inputs.get("allowedAccountIds")))
    return frozenset(number for text in texts for number in re.findall(r"\d{12}", text))


def other_account(earlier: Earlier, known: Iterable[RecordedResource]) -> tuple[str, str] | None:
    """The account of a rehearsal, and the one that stands in its place in what is there; None where both are one.

    None too where both are named: then what differs is another account.
    """
    there, here = _only(earlier.resources), _only(known)
    if there and here:
        return None
    if not there and earlier.deployed:
        there = _of_arns(earlier.resources)
    pair = here or ACCOUNT, there or ACCOUNT
    return None if pair[0] == pair[1] else pair


def _only(resources: Iterable[RecordedResource]) -> str:
    """The one account that providers name; empty where they name none, or several."""
    found = {number for each in resources if each.type == AWS_PROVIDER for number in named_accounts(each)}
    return found.pop() if len(found) == 1 else ""


def _of_arns(resources: Iterable[RecordedResource]) -> str:
    """The account of the first ARN that a state records."""
    arns = (each.outputs.get("arn") for each in resources if each.type.startswith("aws:"))
    found = (_ARN.match(arn) for arn in arns if isinstance(arn, str))
    return next((match[1] for match in found if match is not None), "")
