"""What people and programs need of the API server: a team's members their rights, a pod what its `kubectl` asks.

Source of the verbs: Kubernetes documentation, "Using RBAC Authorization", "Determine the request verb" (read 2026-11);
of what `kubectl` asks for, `kubectl COMMAND -v=6`, as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.conventions import TEAM_LABEL
from trainyard.conventions.team_rights import IN_THE_CLUSTER, IN_THE_OWN_NAMESPACE, Right
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import UnreadableInput, known_texts
from trainyard.recorded.types import NAMESPACE, RBAC_ROLE_BINDING, SERVICE_ACCOUNT
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.rights.kubernetes import keepers
from trainyard.rehearsal.works.rights.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.workloads.model import Workload

_KUBECTL: Final = re.compile(
    r"\bkubectl\s+(?P<flags>(?:-\S+\s+(?:\S+\s+)?)*?)(?P<command>get|wait|delete|scale|patch|label|annotate|logs|exec|cordon|drain)\s+(?P<rest>[^|;&\n]+)"
)
_NAMESPACE: Final = re.compile(r"(?:^|\s)(?:-n|--namespace)[= ](?P<name>[a-z0-9-]+)")
_VERBS: Final = {
    "get": ("list",),
    "wait": ("list",),
    "delete": ("delete",),
    "patch": ("patch",),
    "label": ("patch",),
    "annotate": ("patch",),
}
_PLURALS: Final = {
    **dict.fromkeys(("po", "pod", "pods"), "pods"),
    **dict.fromkeys(("no", "node", "nodes"), "nodes"),
    **dict.fromkeys(("cm", "configmap", "configmaps"), "configmaps"),
    **dict.fromkeys(("secret", "secrets"), "secrets"),
    **dict.fromkeys(("svc", "service", "services"), "services"),
    **dict.fromkeys(("pvc", "persistentvolumeclaim", "persistentvolumeclaims"), "persistentvolumeclaims"),
    **dict.fromkeys(("job", "jobs"), "jobs.batch"),
    **dict.fromkeys(("cj", "cronjob", "cronjobs"), "cronjobs.batch"),
    **dict.fromkeys(("deploy", "deployment", "deployments"), "deployments.apps"),
    **dict.fromkeys(("sts", "statefulset", "statefulsets"), "statefulsets.apps"),
    **dict.fromkeys(("ds", "daemonset", "daemonsets"), "daemonsets.apps"),
}
_WITHOUT_NAMESPACE: Final = frozenset({"nodes"})
_USES_TOKEN: Final = re.compile(
    r"/var/run/secrets/kubernetes\.io/serviceaccount/token|load_incluster_config\(|https://kubernetes\.default\.svc/"
)
"""How programs reach the API server of their own cluster as their pod's account."""
_OWN_CONFIGURATION: Final = ("--kubeconfig", "--token", "--as", "--server", "KUBECONFIG")


def check(stack: Stack, made: Sequence[Workload], cluster: Cluster, *, people: bool) -> None:
    """Notes what is refused for sure; of `people` where it is known who signs in. `made`: everything that runs pods."""
    _programs(stack, made, cluster)
    if not people:
        return
    try:
        _teams(stack, cluster)
    except UnreadableInput:  # a role or a binding that is not known yet
        return


def _teams(stack: Stack, cluster: Cluster) -> None:
    """Whoever a team's namespace is shared with, one group of them is the team, with all of its rights."""
    bindings: dict[str, list[View]] = {}
    for view in stack.of_type(RBAC_ROLE_BINDING):
        bindings.setdefault(view.text("metadata.namespace") or "default", []).append(view)
    groups = {name: [text for view in views for text in _groups(view)] for name, views in bindings.items()}
    teams = {
        name: view
        for view in stack.of_type(NAMESPACE)
        if isinstance(view.mapping("metadata.labels").get(TEAM_LABEL), str) and (name := view.text("metadata.name"))
    }
    if not any(groups.get(name) for name in teams):
        return  # people are let in by another way
    for name, view in teams.items():
        lacking = {group: list(_lacking(cluster, name, Person((group,)))) for group in groups.get(name, ())}
        if not lacking:
            view.error(
                "rights-team-lacks",
                "metadata.name",
                f"no role of namespace {name} is bound to a group: its team may submit nothing",
            )
        elif all(lacking.values()):
            group, lacks = min(lacking.items(), key=lambda item: len(item[1]))
            at = next(binding for binding in bindings[name] if group in _groups(binding))
            more = f" and {len(lacks) - 1} more" if len(lacks) > 1 else ""
            at.error(
                "rights-team-lacks",
                "roleRef",
                f"members of {group} cannot {lacks[0]}{more}: no role of theirs allows it",
            )


def _groups(view: View) -> list[str]:
    return [
        subject["name"]
        for _, subject in view.items("subjects")
        if subject.get("kind") == "Group" and isinstance(subject.get("name"), str)
    ]


def _lacking(cluster: Cluster, namespace: str, who: Person) -> Iterator[str]:
    for where, rights in ((namespace, IN_THE_OWN_NAMESPACE), ("", IN_THE_CLUSTER)):
        for right in rights:
            for verb, thing in _requests(right):
                if cluster.may(who, verb, thing, where).refused:
                    yield f"{verb} {thing} in {where or 'the cluster'}"


def _requests(right: Right) -> Iterator[tuple[str, str]]:
    for resource in right.resources:
        plural, _, sub = resource.partition("/")
        thing = f"{plural}{f'.{right.group}' if right.group else ''}{f'/{sub}' if sub else ''}"
        yield from ((verb, thing) for verb in right.verbs)


def _programs(stack: Stack, made: Sequence[Workload], cluster: Cluster) -> None:
    accounts = {
        (view.text("metadata.namespace") or "default", view.text("metadata.name") or ""): view
        for view in stack.of_type(SERVICE_ACCOUNT)
    }
    for workload in made:
        account = workload.spec.get("serviceAccountName", "default")
        asked = list(_asked(workload))
        calls = bool(asked) or _calls_the_api(workload)
        if workload.origin != "object" or workload.is_template or not calls or not isinstance(account, str):
            continue
        view = stack.view_of(workload.resource)
        recorded = accounts.get((workload.namespace, account))
        if recorded is None and account != "default":
            continue  # somebody else makes it, with its roles
        mounts = workload.spec.get("automountServiceAccountToken")
        if mounts is None and recorded is not None:
            mounts = recorded.flag("automountServiceAccountToken")
        if mounts is False and not _has_token(workload):
            view.error(
                "rights-program-no-token",
                workload.at("automountServiceAccountToken"),
                f"{workload.told()} calls the API server and its pods get no token of {workload.namespace}/{account}",
                hint="automountServiceAccountToken: true for these pods",
            )
            continue
        for path, (verb, thing, namespace, name) in asked:
            try:
                verdict = cluster.may(Pod(workload.namespace, account), verb, thing, namespace, name)
            except UnreadableInput:
                continue
            if verdict.refused:
                view.error(
                    "rights-program-lacks",
                    path,
                    f"{workload.told()} is refused what its program asks for: {verdict.words}",
                )


def _has_token(workload: Workload) -> bool:
    return any(path.endswith("serviceAccountToken.path") for path, _ in known_texts(workload.spec.get("volumes")))


def _calls_the_api(workload: Workload) -> bool:
    """Whether a program says that it uses the token of its pod."""
    return any(
        _USES_TOKEN.search(text)
        for _, container in workload.containers()
        for key in ("command", "args")
        for _, text in known_texts(container.get(key))
    )


def _asked(workload: Workload) -> Iterator[tuple[str, Asked]]:
    """What the pods ask of their own cluster as their own account, each with its path."""
    for at, container in workload.containers():
        if container.get("command") is UNKNOWN or container.get("args") is UNKNOWN:
            continue
        yield from ((workload.at(f"{at}.args"), one) for one in keepers.asked(container))
        texts = [text for key in ("command", "args") for _, text in known_texts(container.get(key))]
        words = " ".join(texts)
        own = [str(name) for _, name in known_texts(container.get("env"))]
        if any(text in words for text in _OWN_CONFIGURATION) or "KUBECONFIG" in own:
            continue
        for found in _KUBECTL.finditer(words):
            yield from ((workload.at(f"{at}.args"), one) for one in _requested(found, workload.namespace))


def _requested(found: re.Match[str], own: str) -> Iterator[Asked]:
    flags = f"{found['flags']} {found['rest']}"
    if re.search(r"(^|\s)(-A|--all-namespaces|-f|--filename)\b", flags) or "$" in found["rest"]:
        return
    named = _NAMESPACE.search(flags)
    namespace = named["name"] if named else own
    words = [word for word in _NAMESPACE.sub(" ", found["rest"]).split() if not word.startswith("-")]
    kind, _, name = (words[0] if words else "").partition("/")
    name = name or (words[1] if len(words) > 1 else "")
    command, of_pods = found["command"], "/" not in "".join(words[:1]) or kind in ("po", "pod", "pods")
    if command in _OF_PODS and of_pods:
        yield (*_OF_PODS[command], namespace, name or kind)
    elif command in ("cordon", "drain"):
        yield "patch", "nodes", "", kind
    elif (plural := _PLURALS.get(kind.lower())) is not None:
        where = "" if plural in _WITHOUT_NAMESPACE else namespace
        if command == "scale":
            yield "patch", f"{plural}/scale", where, name
        elif command == "get" and name:
            yield "get", plural, where, name
        else:
            yield from ((verb, plural, where, name) for verb in _VERBS.get(command, ()))


Asked = tuple[str, str, str, str]
"""Verb, resource, namespace and name."""
_OF_PODS: Final = {"logs": ("get", "pods/log"), "exec": ("create", "pods/exec")}
