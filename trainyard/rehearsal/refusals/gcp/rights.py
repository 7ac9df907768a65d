"""Who gets which role: members and roles as IAM spells them, for every resource that grants one.

Source: Google's documentation of principals ("Principal identifiers", as generally known); the names of predefined
roles, `data/gcp_roles.json`, and permissions, `gcp_permissions.json` there, which `generate_roles` writes; "Permissions
that custom roles support" (2026-11).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import GCP_AUDIT_CONFIG, GCP_CUSTOM_ROLES, GCP_ORGANISATION_POLICY
from trainyard.rehearsal.context import View, expand, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_GRANTS: Final = re.compile(r"gcp:\w+/\w+:\w*(IAM|Iam)(Member|Binding|MemberRemove)")
_MEMBER: Final = re.compile(
    r"(user|serviceAccount|group|deleted:\w+):[^\s:@]+@[^\s:@]+\.\S+"
    r"|serviceAccount:[^/\s]+\.svc\.id\.goog\[[^/\]]+/[^/\]]+\]"
    r"|domain:[^\s@]+\.[^\s@]+|allUsers|allAuthenticatedUsers|principal(Set|Hierarchy)?://\S+"
    r"|deleted:principal(Set)?://\S+|project(Owner|Editor|Viewer):\S+|iamMember:\S+"
)
_POOL: Final = re.compile(
    r"principal(Set)?://iam\.googleapis\.com/projects/(?P<number>[^/]+)/locations/(?P<location>[^/]+)"
    r"/workloadIdentityPools/(?P<pool>[^/]+)/(?P<what>[^/]+)/(?P<rest>\S+)"
)
_SUBJECTS: Final = (
    "subject", "group", "attribute.", "namespace", "kubernetes.serviceaccount.uid", "kubernetes.cluster", "*",
)  # fmt: skip
"""What may follow a pool: one identity, a group, an attribute, or what GKE's own pools know."""
_BASIC: Final = ("owner", "editor", "viewer", "browser", "reader", "writer", "admin")


@cache
def _roles() -> Mapping[str, Sequence[str]]:
    text = files("trainyard.rehearsal.refusals").joinpath("data", "gcp_roles.json").read_text(encoding="utf-8")
    found: dict[str, Sequence[str]] = json.loads(text)["roles"]
    for service, names in _OF_EXAMPLES.items():
        found[service] = [*found.get(service, ()), *names]
    return found


_OF_EXAMPLES: Final = {"beyondcorp": ("securityGatewayUser",)}
"""Roles that the IAM API does not list, and that the provider's own examples give (pulumi_gcp 10.2.0)."""


_ACCOUNT: Final = re.compile(r"projects/[^/]+/serviceAccounts/[^/@]+@[^/@]+")


def grant(view: View) -> None:
    """A role that exists for a member that can be one."""
    if not _GRANTS.fullmatch(view.type):
        return
    _role(view)
    members = [("member", view.text("member"))]
    members += [(f"members[{index}]", text) for index, text in enumerate(view.entries("members"))]
    for path, member in members:
        if isinstance(member, str):
            for words, allowed in _wrong(member):
                view.error("gcp-member", path, words, allowed=allowed)
                break
    account = view.text("serviceAccountId") if view.type.startswith("gcp:serviceaccount/iAM") else None
    # What the provider gives an account as its id has this form (`ServiceAccountLinkRegex`, pulumi_gcp 10.2.0).
    if account is not None and "@" in account and not _ACCOUNT.fullmatch(account):
        view.error(
            "gcp-account-name", "serviceAccountId", f"is no name of an account: {show(account)}",
            allowed="projects/PROJECT/serviceAccounts/ADDRESS, as its id and its name are",
        )  # fmt: skip


def exempted(view: View) -> None:
    """Who is left out of the record is a member, as in a grant."""
    for at, member in expand(view.inputs, "auditLogConfigs[].exemptedMembers[]"):
        if isinstance(member, str):
            for words, allowed in _wrong(member):
                view.error("gcp-member", at, words, allowed=allowed)
                break


def _role(view: View) -> None:
    role = view.text("role")
    if role is None:
        return
    custom = re.fullmatch(r"(projects|organizations)/[^/\s]+/roles/([\w.]+)", role)
    service, dot, name = role.removeprefix("roles/").partition(".")
    if custom is None and not re.fullmatch(r"roles/[\w.]+", role):
        view.error("gcp-role", "role", show(role), allowed="roles/NAME, or projects/PROJECT/roles/NAME")
    elif custom is not None or (not dot and service in _BASIC):
        return
    elif service not in _roles() or name not in _roles()[service]:
        everything = [f"roles/{each}.{role}" for each, names in _roles().items() for role in names]
        hint = nearest(role, everything, 0.85)
        # A role may be newer than the table, but hardly one that is a letter away from another.
        note = view.error if hint else view.warning
        note(
            "gcp-role",
            "role",
            f"no role {show(role)} is known",
            allowed="a predefined role, or a custom one",
            hint=hint,
        )


_OF_RESOURCE: Final[Mapping[str, tuple[str, ...]]] = {
    "gcp:storage/": ("storage",),
    "gcp:kms/": ("cloudkms",),
    "gcp:secretmanager/": ("secretmanager",),
    "gcp:artifactregistry/": ("artifactregistry",),
    "gcp:serviceaccount/": ("iam",),
    "gcp:pubsub/": ("pubsub",),
    "gcp:iap/": ("iap",),
    "gcp:cloudrun/": ("run",),
    "gcp:cloudrunv2/": ("run",),
    "gcp:colab/": ("aiplatform",),
    "gcp:bigquery/": ("bigquery", "bigquerydatapolicy", "biglake", "datacatalog", "dataplex"),
    "gcp:cloudtasks/": ("cloudtasks",),
    "gcp:dns/": ("dns",),
}
"""Services whose roles are granted on one resource: those of other services are refused there."""


def fits(view: View) -> None:
    """A role that is granted on what it is about."""
    if not _GRANTS.fullmatch(view.type):
        return
    role = view.text("role") or ""
    match = re.fullmatch(r"roles/(\w+)\.\w+", role)
    allowed = next((services for prefix, services in _OF_RESOURCE.items() if view.type.startswith(prefix)), None)
    # Roles of IAM itself (who may see and give rights) are granted on nearly everything.
    if match and allowed and match[1] in _roles() and match[1] not in (*allowed, "iam"):
        words = f"{role} says nothing of a resource of {allowed[0]}"
        view.error("gcp-role-resource", "role", words, allowed=f"a role of {allowed[0]}")


def _wrong(member: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a member, and what it may be."""
    kinds = "user:, group:, serviceAccount: with an address, domain:, principal://… or allUsers"
    if not _MEMBER.fullmatch(member):
        yield show(member), kinds
    elif member.startswith("serviceAccount:") and "[" not in member and not member.endswith(".gserviceaccount.com"):
        yield f"{show(member)}: accounts of services end in .gserviceaccount.com", "its address, or user:"
    elif member.startswith(("user:", "group:")) and member.endswith(".gserviceaccount.com"):
        yield show(member), f"serviceAccount:{member.partition(':')[2]}"
    elif re.match(r"principal(Set)?://(?!iam\.googleapis\.com/|goog/|cloudresourcemanager\.googleapis\.com/)", member):
        yield show(member), "principal://iam.googleapis.com/…"
    elif re.match(r"principal(Set)?://iam\.googleapis\.com/projects/", member):
        yield from _wrong_in_pool(member)


def _wrong_in_pool(member: str) -> Iterator[tuple[str, str]]:
    match = _POOL.fullmatch(member)
    like = "principal://iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/subject/…"
    number = re.match(r"principal(?:Set)?://iam\.googleapis\.com/projects/([^/]+)", member)
    if number and not number[1].isdigit():
        yield f"{show(number[1])} in {show(member)}", "the project's number, not its id"
    elif match is None:
        yield show(member), like
    elif match["location"] != "global":
        yield f"a pool in {match['location']}", "locations/global"
    elif not match["what"].startswith(_SUBJECTS):
        yield f"{show(match['what'])} in {show(member)}", like
    elif member.startswith("principal://") != (match["what"] == "subject"):
        yield (
            f"{match['what']} of {member.partition(':')[0]}",
            "principal:// with subject, principalSet:// with the others",
        )
    elif match["pool"].endswith(".svc.id.goog") and match["what"] == "subject":
        if not re.fullmatch(r"ns/[a-z0-9]([-a-z0-9]*[a-z0-9])?/sa/[a-z0-9]([-.a-z0-9]*[a-z0-9])?", match["rest"]):
            yield show(match["rest"]), "ns/NAMESPACE/sa/SERVICE-ACCOUNT"
    elif (".id." in match["pool"] or ".goog" in match["pool"]) and not match["pool"].endswith(".svc.id.goog"):
        yield f"pool {show(match['pool'])}", "PROJECT.svc.id.goog"


def conditions(view: View) -> None:
    """A condition has a title and an expression."""
    if not _GRANTS.fullmatch(view.type) or not view.mapping("condition"):
        return
    for key in ("title", "expression"):
        if view.value(f"condition.{key}") == "":
            view.error("gcp-condition", f"condition.{key}", "is empty", allowed="a text")


@cache
def _permissions() -> Mapping[str, Mapping[str, str]]:
    text = files("trainyard.rehearsal.refusals").joinpath("data", "gcp_permissions.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = json.loads(text)["permissions"]
    return found


_ABOVE_PROJECTS: Final = ("resourcemanager.organizations.", "resourcemanager.folders.", "resourcemanager.projects.list")
"""Permissions that a role of a project cannot hold: what they are about is above it."""


def custom_role(view: View) -> None:
    """A role of one's own holds permissions that there are; what a table does not have may be newer than it."""
    for index, text in enumerate(view.entries("permissions")):
        if not isinstance(text, str):
            continue
        path, (service, _, rest) = f"permissions[{index}]", text.partition(".")
        what, _, do = rest.rpartition(".")
        known = _permissions().get(service)
        if text.startswith(_ABOVE_PROJECTS) and view.type.startswith("gcp:projects/"):
            view.error("gcp-permission", path, f"{text} is of folders and organizations", allowed="a role of theirs")
        elif known is not None and do not in known.get(what, "").split():
            # Only the part that is wrong is compared: a verb with the verbs of its kind, else the kind with others.
            if what in known:
                hint = nearest(do, known[what].split(), 0.75)
            else:
                hint = nearest(what, [kind for kind, many in known.items() if do in many.split()], 0.8)
            note = view.error if hint else view.warning
            note("gcp-permission", path, f"no permission {show(text)} is known", allowed="one that there is", hint=hint)


def _by_number(*parents: str) -> bool:
    """Whether one of them is told by number: a project's may be that of the id that the other tells."""
    return any(parent.rpartition("/")[2].isdigit() for parent in parents)


_ONE_OF: Final = ("allowAll", "denyAll", "enforce", "values")


def organisation_policy(view: View) -> None:
    """A policy of an organisation: of what its name says, and each rule with one thing to say (API, `PolicyRule`)."""
    name, parent = view.text("name"), view.text("parent")
    match = re.fullmatch(r"((?:projects|folders|organizations)/[^/]+)/policies/(.+)", name or "")
    if name is not None and match is None:
        view.error("gcp-org-policy", "name", show(name), allowed="PARENT/policies/CONSTRAINT")
    elif match is not None and match[2].startswith("constraints/"):
        allowed = f"{match[1]}/policies/{match[2].removeprefix('constraints/')}"
        view.error("gcp-org-policy", "name", show(name), allowed=allowed)
    elif match is not None and parent is not None and parent != match[1] and not _by_number(parent, match[1]):
        view.error("gcp-org-policy", "parent", f"{show(parent)}; the name is of {match[1]}", allowed=match[1])
    for base in ("spec", "dryRunSpec"):
        rules = list(view.items(f"{base}.rules"))
        if view.flag(f"{base}.reset") and rules:
            view.error("gcp-org-policy", f"{base}.rules", "beside reset", allowed="one of both")
        for path, rule in rules:
            given = [key for key in _ONE_OF if rule.get(key) is not None]
            if len(given) > 1:
                view.error("gcp-org-policy", f"{path}.{given[1]}", f"beside {given[0]}", allowed="one of both")
            elif not given:
                view.error("gcp-org-policy", path, "says nothing", allowed=f"one of {', '.join(_ONE_OF)}")
            for key in given:
                word = rule.get(key)
                if key != "values" and str(word).upper() not in ("TRUE", "FALSE") and isinstance(word, str):
                    view.error("gcp-org-policy", f"{path}.{key}", show(word), allowed="TRUE or FALSE")


RULES: Rules = {
    organisation_policy: (GCP_ORGANISATION_POLICY,),
    custom_role: GCP_CUSTOM_ROLES,
    grant: (EVERY_TYPE,),
    exempted: (GCP_AUDIT_CONFIG,),
    fits: (EVERY_TYPE,),
    conditions: (EVERY_TYPE,),
}
