"""Whether the identity may make what the program makes, by IAM's own simulation, without making anything.

The simulation knows the identity's policies, its boundary and the organisation's policies; it does not know policies of
resources, nor conditions on what it was not told. So a plain denial is certain, and what hangs on a condition is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from trainyard.account.aws import Account
from trainyard.preflight.aws.actions import needed
from trainyard.preflight.aws.identity import role_of
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of
from trainyard.recorded.model import RecordedResource

NAME: Final = "rights"
_line = lines_of(NAME)

AT_ONCE: Final = 50
"""Actions a simulation: IAM takes more, and answers the slower."""

EVERYTHING: Final = "*"


def check(subject: AwsSubject, account: Account) -> Lines:
    """Simulates every action on everything, then those that are denied on resources as the stack would make them."""
    arn, here = account.identity["arn"], account.identity["account"]
    principal = role_of(arn)
    if principal is None:
        told = f"{arn} cannot be simulated: it is no role or user of IAM"
        yield _line("identity", Answer.UNKNOWN, told, "come in as the role that deploys")
        return
    if ":role/" in principal:  # STS does not tell a role's path
        principal = account.call("iam", "get_role", RoleName=principal.rpartition("/")[2])["Role"]["Arn"]
    actions = needed(subject.resources.all)
    context = _context(subject, account.region)
    results = {
        each["EvalActionName"]: each for each in _simulated(account, principal, list(actions), [EVERYTHING], context)
    }
    for action in [action for action, each in results.items() if _plainly_denied(each)]:
        arns = _arns(actions[action], here)
        again = list(_simulated(account, principal, [action], arns, context)) if arns else []
        if again and all(each["EvalDecision"] == "allowed" for each in again):
            results[action] = again[0]
    denied = {action: each for action, each in results.items() if each["EvalDecision"] != "allowed"}
    by_condition = {action: each for action, each in denied.items() if each.get("MissingContextValues")}
    for action, each in denied.items():
        kinds = sorted({resource.type for resource in actions.get(action, ())})
        told = f"{principal} may not, {_why(each)}; {', '.join(kinds)} takes it"
        if action in by_condition:
            told = (
                f"whether {principal} may hangs on {', '.join(each['MissingContextValues'])}, which is not known before"
            )
            yield _line(action, Answer.UNKNOWN, told, "see that the condition lets this through")
        else:
            yield _line(action, Answer.FAILS, told, f"let {principal} do it, where the stack's resources are")
    if results:
        yield _line(
            "actions", Answer.FINE, f"{len(results) - len(denied)} of {len(results)} actions are allowed to {principal}"
        )


def _simulated(
    account: Account, principal: str, actions: Sequence[str], arns: Sequence[str], context: Sequence[Mapping[str, Any]]
) -> Iterable[dict[str, Any]]:
    for some in (actions[at : at + AT_ONCE] for at in range(0, len(actions), AT_ONCE)):
        yield from account.each(
            "iam",
            "simulate_principal_policy",
            "EvaluationResults",
            PolicySourceArn=principal,
            ActionNames=list(some),
            ResourceArns=list(arns),
            ContextEntries=list(context),
        )


def _context(subject: AwsSubject, region: str) -> list[dict[str, Any]]:
    """What conditions commonly ask: the region, and the tags that every resource gets."""
    said = {"aws:RequestedRegion": region} | {f"aws:RequestTag/{key}": value for key, value in subject.plan.core.tags}
    return [
        {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"} for key, value in said.items()
    ]


def _plainly_denied(result: Mapping[str, Any]) -> bool:
    return result["EvalDecision"] == "implicitDeny" and not result.get("MissingContextValues")


def _arns(resources: Iterable[RecordedResource], account: str) -> list[str]:
    """ARNs as the stack's resources would have them, in this account; a few are enough."""
    found = []
    for resource in resources:
        arn = resource.outputs.get("arn")
        parts = arn.split(":", 5) if isinstance(arn, str) else ()
        if len(parts) == 6:
            found.append(":".join((*parts[:4], account if parts[4] else "", parts[5])))
    return found[:3]


def _why(result: Mapping[str, Any]) -> str:
    if result.get("OrganizationsDecisionDetail", {}).get("AllowedByOrganizations") is False:
        return "by a policy of the organisation"
    if result.get("PermissionsBoundaryDecisionDetail", {}).get("AllowedByPermissionsBoundary") is False:
        return "by its permissions boundary"
    return "by a policy that denies it" if result["EvalDecision"] == "explicitDeny" else "no policy allows it"
