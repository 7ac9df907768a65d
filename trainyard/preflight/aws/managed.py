"""Quotas of SageMaker, which has one for every instance type and use; a new account's are 0 for machines with GPUs."""

from __future__ import annotations

from typing import Any, Final

from trainyard.account.aws import Account, CannotAskError
from trainyard.plan.aws.parts import ManagedPlan
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of

NAME: Final = "quotas"
_line = lines_of(NAME)

TRAINING: Final = "{} for training job usage"
EDITOR: Final = "Studio JupyterLab Apps running on {} instances"
"""How Service Quotas calls them, as generally known (2026-11): one that is not listed so is told as not known."""


def check(subject: AwsSubject, account: Account) -> Lines:
    """The smoke job's machine and the editors', without which `up` fails or nobody works; then the others."""
    managed = subject.plan.ground.managed
    if managed is None:
        return
    try:
        listed = {
            str(each["QuotaName"]): each
            for each in account.each("service-quotas", "list_service_quotas", "Quotas", ServiceCode="sagemaker")
        }
        why: CannotAskError | None = None
    except CannotAskError as error:
        listed, why = {}, error
    for name, wanted, told, needed in _needs(managed):
        yield _told(name, wanted, told, needed, listed.get(name), why, account.region)


def _needs(managed: ManagedPlan) -> list[tuple[str, int, str, bool]]:
    """By quota: how many are wanted, what for, and whether the stack fails without."""
    smoke = managed.smoke.instance_type if managed.smoke is not None else None
    types = dict.fromkeys((*((smoke,) if smoke else ()), *managed.training_types))
    found = [
        (TRAINING.format(type_), 1, "the smoke job" if type_ == smoke else "a job", type_ == smoke) for type_ in types
    ]
    for number, type_ in enumerate(managed.editor_types):
        seats = len(managed.seats) if number == 0 else 1
        found.append((EDITOR.format(type_), max(seats, 1), "editors", number == 0))
    return found


def _told(
    name: str, wanted: int, what_for: str, needed: bool, found: Any, why: CannotAskError | None, region: str
) -> Line:
    if found is None:
        reason = str(why) if why is not None else "the account lists no quota of that name"
        return _line(name, Answer.UNKNOWN, f"{wanted} for {what_for}; {reason}", "look it up in the console")
    value = float(found["Value"])
    told = f"{wanted} for {what_for}, {value:g} are allowed"
    if value >= wanted:
        return _line(name, Answer.FINE, told)
    command = (
        f"aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code {found['QuotaCode']}"
        f" --desired-value {wanted} --region {region}"
    )
    if needed and value < 1:
        return _line(name, Answer.FAILS, told, "ask for more, which may take days", command)
    return _line(name, Answer.UNKNOWN, f"{told}: who wants more waits", "ask for more where it is wanted", command)
