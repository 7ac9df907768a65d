"""Whether the identity may make what the program makes, by IAM's own test, without making anything.

`testIamPermissions` answers which of some permissions whoever asks has in the project. It is asked with the token that
the program itself comes in with; `gcloud` has no command for it. A permission that is given on a resource alone, or
denied there, is not known to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from trainyard.account.gcp import CannotAskError, RefusedError, granted
from trainyard.catalog.tables import tree
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Lines, lines_of
from trainyard.recorded.types import GCP_BUDGET

NAME: Final = "rights"
_line = lines_of(NAME)

TABLE: Final = "permissions.yaml"

AT_ONCE: Final = 50
"""Permissions a question: fewer than any limit of Google's."""

OF_A_BUCKET: Final = ("storage.buckets.get", "storage.buckets.setIamPolicy", "storage.managedFolders.")
"""What Cloud Storage gives the owners of a project on each bucket, and not in the project (Cloud Storage documentation,
"IAM roles", basic roles): to have it not in the project is no denial."""

BUDGET_PERMISSION: Final = "billing.budgets.create"


@cache
def _table() -> dict[str, list[str]]:
    return tree(files("trainyard.preflight.gcp").joinpath(TABLE))


def permissions_of(type_: str) -> tuple[str, ...]:
    """The permissions that making a resource of a type takes in its project; none where nobody has said."""
    return tuple(_table().get(type_, ()))


def needed(subject: GcpSubject) -> dict[str, list[str]]:
    """Every permission that the stack takes in its project, with the types that take it."""
    found: dict[str, list[str]] = {}
    for type_ in sorted({each.type for each in subject.resources.all if each.is_made and not each.read}):
        for permission in permissions_of(type_):
            found.setdefault(permission, []).append(type_)
    return found


def check(subject: GcpSubject) -> Lines:
    """Every permission in the project; that of a budget on the billing account."""
    ground, wanted = subject.plan.ground, needed(subject)
    where = f"projects/{ground.project}"
    has, unasked = _tested(where, sorted(wanted), ground.project)
    for permission, kinds in sorted(wanted.items()):
        if permission in unasked:
            yield _line(permission, Answer.UNKNOWN, f"Google tests it on no project: {unasked[permission]}")
        elif permission not in has and permission.startswith(OF_A_BUCKET):
            told = f"it is not given in {ground.project}; whoever owns that has it on each bucket that is made there"
            yield _line(permission, Answer.UNKNOWN, told, "give a role that has it, unless the identity is an owner")
        elif permission not in has:
            told = f"the program's identity has it not in {ground.project}; {', '.join(kinds)} takes it"
            yield _line(permission, Answer.FAILS, told, "give it a role that has it, in the project")
    if wanted:
        yield _line("permissions", Answer.FINE, f"{len(has)} of {len(wanted)} are given in {ground.project}")
    if ground.billing is not None and subject.resources.of(GCP_BUDGET):
        account = ground.billing.account
        try:
            may = granted(f"billingAccounts/{account}", [BUDGET_PERMISSION], ground.project)
        except CannotAskError as error:
            yield _line(BUDGET_PERMISSION, Answer.UNKNOWN, str(error), error.remedy)
            return
        if may:
            yield _line(BUDGET_PERMISSION, Answer.FINE, f"it is given on billing account {account}")
        else:
            told = f"the program's identity has it not on billing account {account}: the budget is refused"
            command = (
                f"gcloud billing accounts add-iam-policy-binding {account} --member=MEMBER"
                " --role=roles/billing.costsManager"
            )
            yield _line(BUDGET_PERMISSION, Answer.FAILS, told, "its owner gives it", command)


def _tested(where: str, permissions: Sequence[str], project: str) -> tuple[set[str], dict[str, str]]:
    """Those that are given, and those that cannot be asked about with why."""
    has: set[str] = set()
    unasked: dict[str, str] = {}
    for some in _portions(permissions):
        waiting: list[Sequence[str]] = [some]
        while waiting:
            part = waiting.pop()
            try:
                has |= set(granted(where, part, project))
            except RefusedError as error:  # one that is not tested there makes the whole question invalid
                if len(part) == 1:
                    unasked[part[0]] = str(error)
                else:
                    waiting += [part[: len(part) // 2], part[len(part) // 2 :]]
    return has, unasked


def _portions(permissions: Sequence[str]) -> Iterator[Sequence[str]]:
    return (permissions[at : at + AT_ONCE] for at in range(0, len(permissions), AT_ONCE))
