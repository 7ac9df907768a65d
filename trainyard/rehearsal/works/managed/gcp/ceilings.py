"""What holds people: quotas that the program lowers, and rights that would lift them again."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GCP_ACCOUNT, GCP_CUSTOM_ROLE, GCP_PROJECT_MEMBER, GCP_QUOTA_OVERRIDE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.gcp.editors import TEMPLATE

REMOVED: Final = "gcp:projects/iamMemberRemove:IamMemberRemove"
_AGENT: Final = "@gcp-sa-aiplatform-cc.iam.gserviceaccount.com"
_AGENTS_ROLE: Final = "roles/aiplatform.customCodeServiceAgent"
_ON_ACCOUNTS: Final = ("gcp:serviceaccount/iAMMember:IAMMember", "gcp:serviceaccount/iAMBinding:IAMBinding")
_ACTING: Final = (
    "roles/iam.serviceAccountUser", "roles/iam.serviceAccountAdmin", "roles/editor", "roles/owner",
)  # fmt: skip
"""Predefined roles with which somebody acts as an account; a custom one may, too, and is believed."""
_PEOPLE: Final = ("user:", "group:", "domain:")
_LIFTING: Final = {
    "roles/owner": "changes every right and quota",
    "roles/editor": "changes quotas, and runs jobs as every account",
    "roles/iam.serviceAccountUser": "runs jobs as every account of the project",
    "roles/iam.serviceAccountAdmin": "gives itself every account of the project",
    "roles/serviceusage.serviceUsageAdmin": "raises the quotas again",
    "roles/servicemanagement.quotaAdmin": "raises the quotas again",
    "roles/aiplatform.admin": "makes templates, endpoints and clusters of any size",
    "roles/aiplatform.user": "makes endpoints and pipelines, which no quota of training counts",
    "roles/aiplatform.colabEnterpriseAdmin": "makes templates of any size",
}
"""Predefined roles on a project and what who has one does past the ceilings of managed training (IAM, "IAM roles and
permissions index", as generally known in 2026-11)."""


_LIFTING_PERMISSIONS: Final = {
    "compute.instances.create": "starts machines of any size",
    "container.clusters.create": "makes clusters of any size",
    "aiplatform.endpoints.deploy": "makes endpoints, which no quota of training counts",
    "aiplatform.pipelineJobs.create": "makes pipelines, which no quota of training counts",
    "aiplatform.notebookRuntimeTemplates.create": "makes templates of any size",
    "aiplatform.persistentResources.create": "keeps machines that no job waits for",
    "serviceusage.quotas.update": "raises the quotas again",
}
"""The same of permissions, of which a project's own role is made."""


def check(stack: Stack) -> None:
    """Looks at every lowered quota, and at who has more than it leaves."""
    _nobody_to_run_as(stack)
    for removed in stack.of_type(REMOVED):
        agent, role = removed.text("member") or "", removed.text("role")
        if agent.endswith(_AGENT) and role is not None and role != _AGENTS_ROLE:
            message = f"Google gives its agent for custom code {_AGENTS_ROLE}: without another role it keeps that"
            removed.warning("managed-agent-keeps-rights", "role", message, hint=_AGENTS_ROLE)
    lowered = stack.of_type(GCP_QUOTA_OVERRIDE)
    for override in lowered:
        _form(override)
    if not lowered or not stack.of_type(TEMPLATE):
        return  # no managed training of ours: a role is somebody's own choice
    for member in stack.of_type(GCP_PROJECT_MEMBER):
        who, role = member.text("member"), member.text("role")
        if who and role in _LIFTING and who.startswith(_PEOPLE):
            message = f"{who} {_LIFTING[str(role)]}: the ceilings of managed training do not hold them"
            member.warning(
                "managed-ceiling-lifted", "role", message, hint="the custom role of the environment's people"
            )
    for custom in stack.of_type(GCP_CUSTOM_ROLE):
        for permission in custom.texts("permissions"):
            if permission in _LIFTING_PERMISSIONS:
                message = (
                    f"{permission} {_LIFTING_PERMISSIONS[permission]}: the ceilings of managed training do not hold"
                )
                custom.warning("managed-ceiling-lifted", "permissions", message, hint="take the permission out")


def _nobody_to_run_as(stack: Stack) -> None:
    """Whoever may send jobs has to act as the account that they run as; who is in which group is not known, so that one
    right of anybody's is enough to be believed."""
    senders = {
        view.resource.outputs.get("name")
        for view in stack.of_type(GCP_CUSTOM_ROLE)
        if "aiplatform.customJobs.create" in view.texts("permissions")
    }
    grants = [view for view in stack.of_type(GCP_PROJECT_MEMBER) if (view.text("member") or "").startswith(_PEOPLE)]
    people = [view for view in grants if view.text("role") in senders]
    if not people or not stack.of_type(GCP_ACCOUNT) or any(view.text("role") in _ACTING for view in grants):
        return
    on_accounts = [view for type_ in _ON_ACCOUNTS for view in stack.of_type(type_)]
    if not any(view.text("role") in _ACTING or "/roles/" in (view.text("role") or "/roles/") for view in on_accounts):
        message = f"{people[0].text('member')} may send jobs, and nobody may act as an account that they run as"
        hint = f"{_ACTING[0]} on the account of jobs"
        people[0].warning("managed-nobody-to-run-as", "role", message, hint=hint)


def _form(override: View) -> None:
    for path in ("metric", "limit"):
        text = override.text(path)
        if text is not None and "/" in text:
            message = f"{text!r} is a part of a URL, in which a slash is %2F"
            override.error("managed-quota-name", path, message, hint=text.replace("/", "%2F"))
    value = override.text("overrideValue")
    if value == "0" and override.value("force") is not True:
        message = "a quota that falls by more than a tenth is refused unless it is forced"
        override.error("managed-quota-not-forced", "force", message, hint="true")
