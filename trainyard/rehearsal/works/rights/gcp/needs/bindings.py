"""Whether the pods that IAM names are there, and get what is granted to them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GCP_BUCKET, GKE_CLUSTER, HELM_RELEASE, NAMESPACE, SERVICE_ACCOUNT
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.managed.gcp.ceilings import REMOVED
from trainyard.rehearsal.works.rights.gcp.grants import ANYWHERE, EDITOR_TEMPLATE, EVERYWHERE, Grant, token
from trainyard.rehearsal.works.rights.gcp.members import ACCOUNT_ANNOTATION, pod_of
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.principals import Pod

_NUMBER: Final = re.compile(r"^serviceAccount:(?:service-)?(\d{6,})[@-]")
_APPLY: Final = "aiplatform.notebookRuntimeTemplates.apply"
_MADE_BY_KUBERNETES: Final = "default"
_BY_CHANCE: Final = re.compile(r"-(?=\d*[a-f])[0-9a-f]{6,}$")
"""What makes a bucket's name the only one of the world, behind it: not a project's number, which others bear too."""
_ALIKE: Final = 0.8


def check(stack: Stack, project: Project) -> None:
    """Notes grants that give nobody anything, and accounts that pods are refused."""
    _accounts_exist(stack, project)
    _accounts_are_taken(stack, project)
    _identities_are_served(stack, project)
    _grants_stay(stack, project)
    _editors_open(stack, project)
    _of_this_project(stack, project)
    _on_buckets(stack)


def named(project: Project) -> Iterator[tuple[Grant, str, Pod]]:
    """Every grant that names pods, the pool of their identities and the pods."""
    for grant in project.grants:
        for member in grant.members:
            found = pod_of(member)
            if found is not None:
                yield grant, *found


def _accounts_exist(stack: Stack, project: Project) -> None:
    """A grant names a service account by text: it may name none of the recorded cluster."""
    recorded: dict[str, set[str]] = {}
    for view in stack.of_type(SERVICE_ACCOUNT):
        name = view.text("metadata.name")
        if name is None:
            return  # a name that is not known may be any
        recorded.setdefault(view.text("metadata.namespace") or "default", set()).add(name)
    namespaces = {name for view in stack.of_type(NAMESPACE) if (name := view.text("metadata.name"))}
    installed = {view.text("namespace") or "" for view in stack.of_type(HELM_RELEASE)}
    for grant, pool, pod in named(project):
        view, known = stack.view_of(grant.by), recorded.get(pod.namespace, set())
        if project.pool and pool != project.pool:
            if close := nearest(pool, [project.pool]):
                view.error(
                    "rights-binding-no-account",
                    grant.path,
                    f"the cluster's identities are of pool {project.pool}, not {pool}: the role is nobody's",
                    hint=close,
                )
            continue
        if pod.service_account in known or pod.service_account == _MADE_BY_KUBERNETES:
            continue
        if pod.namespace in namespaces and pod.namespace not in installed and known:
            view.error(
                "rights-binding-no-account",
                grant.path,
                f"namespace {pod.namespace} has no service account {pod.service_account}: the role is nobody's",
                allowed=f"one of {', '.join(sorted(known))}",
                hint=nearest(pod.service_account, known),
            )
        elif pod.namespace not in namespaces and namespaces and (close := nearest(pod.namespace, namespaces)):
            view.error(
                "rights-binding-no-account",
                grant.path,
                f"nothing makes a namespace {pod.namespace}: the role is nobody's",
                hint=close,
            )


def _accounts_are_taken(stack: Stack, project: Project) -> None:
    """A service account with an annotation takes an account of Google Cloud, which has to let it."""
    for view in stack.of_type(SERVICE_ACCOUNT):
        name = view.text("metadata.name")
        if name is None:
            continue
        pod = Pod(view.text("metadata.namespace") or "default", name)
        caller, reason = project.pod(pod)
        if caller is None:
            view.error(
                "rights-binding-untrusted",
                f"metadata.annotations.{ACCOUNT_ANNOTATION}",
                reason,
                hint=f"roles/iam.workloadIdentityUser on the account for {pod.namespace}/{name} of pool {project.pool}",
            )


def _identities_are_served(stack: Stack, project: Project) -> None:
    """Pods get identities where the cluster has a pool of them, and nodes the server that hands them out."""
    pods = {(pod.namespace, pod.service_account) for _, _, pod in named(project)}
    clusters = stack.of_type(GKE_CLUSTER)
    if not pods or len(clusters) != 1 or clusters[0].flag("enableAutopilot"):
        return
    (cluster,) = clusters
    if cluster.lacks("workloadIdentityConfig"):
        cluster.error(
            "rights-no-workload-identity",
            "workloadIdentityConfig",
            f"{len(pods)} service accounts of pods have roles, and the cluster has no pool of identities for them",
            allowed="workloadPool: PROJECT.svc.id.goog",
        )
    for pool in stack.of_type(GKE_NODE_POOL):
        if pool.text("nodeConfig.workloadMetadataConfig.mode") == "GCE_METADATA":
            pool.error(
                "rights-no-workload-identity",
                "nodeConfig.workloadMetadataConfig.mode",
                "pods on its nodes get the account of the node, not what is granted to their service account",
                allowed="GKE_METADATA",
            )


def _of_this_project(stack: Stack, project: Project) -> None:
    """Accounts of Google's services carry their project's number: one that all but equals the others' is a slip."""
    found: dict[str, list[tuple[View, str]]] = {}
    kinds = dict.fromkeys((grant.by.type, grant.path) for grant in project.grants if grant.kind == "Member")
    for type_, key in (*kinds, (REMOVED, "member")):
        for view in stack.of_type(type_):
            text = view.text(key) or ""
            for number in _NUMBER.findall(text):
                found.setdefault(number, []).append((view, key))
    if len(found) < 2:
        return
    own = max(found, key=lambda number: len(found[number]))
    for number, places in found.items():
        others = len({view.resource.urn for view, _ in found[own]})
        if number != own and len({view.resource.urn for view, _ in places}) == 1 < others and _is_slip(number, own):
            view, key = places[0]
            words = f"is of project {number}, and {others} others are of {own}: it is nobody of this project's"
            view.error("rights-binding-no-account", key, words, allowed=own)


def _is_slip(one: str, other: str) -> bool:
    """Whether two numbers differ in two places at most."""
    return len(one) == len(other) and sum(left != right for left, right in zip(one, other, strict=True)) <= 2


def _on_buckets(stack: Stack) -> None:
    """A role on a bucket whose name is a slip of that of one of the stack's. Another word in it names another's, unless
    the name ends in what chance has put behind the stack's own."""
    made = {str(view.resource.outputs.get("name") or view.text("name")) for view in stack.of_type(GCP_BUCKET)}
    for kind in ("Member", "Binding"):
        for view in stack.of_type(token("storage/bucketIAM", kind)):
            name = (view.text("bucket") or "").removeprefix("b/")
            if name and name not in made and view.resource.id != name and (meant := _meant(name, made)):
                words = f"the stack makes no bucket {name}"
                view.error("rights-binding-nothing", "bucket", words, hint=f"did you mean {meant}?")


def _meant(name: str, made: set[str]) -> str:
    ending = _BY_CHANCE.search(name)
    own = {each for each in made if ending is not None and each.endswith(ending[0])}
    return nearest_of(name, made) or next(iter(difflib.get_close_matches(name, own, 1, _ALIKE)), "")


def _editors_open(stack: Stack, project: Project) -> None:
    """A template that people have roles on is one that some of them may open an editor of, or people may of every one.

    A role on the project that is not known may be one that lets them.
    """
    of_all = [grant for grant in project.grants if grant.on in (EVERYWHERE, ANYWHERE) and _is_of_people(grant)]
    for template in stack.of_type(EDITOR_TEMPLATE):
        given = [grant for grant in project.grants if grant.on == template.resource.urn]
        held = [project.roles.holds(grant.role, _APPLY) for grant in (*given, *of_all)]
        if given and all(found is False for found in held):
            by = stack.view_of(given[0].by)
            words = f"no role that is given on {template.name} holds {_APPLY}: nobody opens an editor of it"
            by.error("rights-editor", "role", words, allowed=f"a role with {_APPLY}")


def _is_of_people(grant: Grant) -> bool:
    return grant.some_unknown or any(not member.startswith("serviceAccount:") for member in grant.members)


def _grants_stay(stack: Stack, project: Project) -> None:
    """A binding owns its role, and a policy the whole thing: members that are given apart from it are taken off."""
    owners = [grant for grant in project.grants if grant.kind != "Member" and not grant.some_unknown]
    for grant in project.grants:
        if grant.kind != "Member" or grant.some_unknown:
            continue
        for owner in owners:
            of_role = (owner.role, owner.condition) == (grant.role, grant.condition)
            if owner.in_list != grant.in_list or not of_role or set(grant.members) <= set(owner.members):
                continue
            stack.view_of(grant.by).error(
                "rights-binding-replaced",
                "member",
                f"{owner.by.type.rpartition(':')[2]} {owner.by.name} owns {grant.role} there and takes this member off",
                allowed="members only, or the member in the list of the binding",
            )
            break
