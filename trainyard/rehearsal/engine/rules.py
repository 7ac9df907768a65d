"""What the engine refuses and an in-process run lets pass, and what nobody refuses but is wrong all the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.alike import written
from trainyard.recorded.model import Alias, Finding, RecordedResource, Secret, has_secret, leaves
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER, PULUMI_STACK, RENDERING
from trainyard.recorded.unseen import has_unseen_objects
from trainyard.rehearsal.engine.manifests import CONFIG_GROUP
from trainyard.rehearsal.engine.recorder import STACK_REFERENCE, Recording, WrongProvider

_URN = re.compile(r"urn:pulumi:[^:]+::[^:]+::[^:]+(:[^:]+)*::.+")
_DURATION = re.compile(r"[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|[-+]?0")

SHORTEST_SECRET = 8
"""Shorter secrets are not looked for in plain inputs: they occur by chance."""


def check_recording(
    recording: Recording, placeholders: Collection[str] = (), configuration: Mapping[str, str] | None = None
) -> Iterator[Finding]:
    """All rules that need one run only. `placeholders` are texts that stand for secrets of the stack file,
    `configuration` is what the engine hands to the program, by full keys.
    """
    yield from _duplicate_urns(recording.resources)
    yield from _aliases(recording.resources)
    yield from _timeouts(recording.resources)
    yield from _providers(recording, configuration or {})
    yield from _plain_secrets(recording, placeholders)
    by_urn = {resource.urn: resource for resource in recording.resources}
    for urn in recording.outputs_registered_twice:
        if urn in by_urn:
            yield Finding.of(by_urn[urn], "outputs-twice", "register_outputs is called twice; the engine refuses that")
    for urn in recording.transformed:
        if urn in by_urn:
            yield Finding.of(
                by_urn[urn],
                "transform-not-run",
                "has transforms, which only the engine runs: they are not rehearsed",
                level="warning",
            )
    unseen = [resource for resource in recording.resources if not resource.custom and has_unseen_objects(resource)]
    parents = {resource.parent for resource in unseen}  # a group is told by the file in it
    for resource in unseen:
        made = _UNSEEN.get(resource.type)
        if made is not None and resource.urn not in parents:
            yield Finding.of(
                resource,
                "manifests-unchecked",
                f"{made} are not known here: none of them is judged, and what names one is not accused",
                level="warning",
            )
    for type_, name, what in recording.asked_too_early:
        yield Finding(
            "warning",
            "get-resource-early",
            f'get_resource("{what}") finds nothing at a first preview, which does not ask a provider whose cluster is'
            " to be made: the SDK ends with a KeyError there",
            type=type_,
            name=name,
            component=recording.component_of(type_, name),
            hint="bring up the cluster first, by --target or as a stack of its own; or pulumi up --skip-preview",
        )
    for name in sorted(set(recording.missing_stacks)):
        if recording.stacks_are_told:
            yield Finding(
                "error",
                "missing-stack",
                f'there is no stack "{name}"',
                type=STACK_REFERENCE,
                name=name,
                hint="the rehearsal knows the stacks whose outputs it is given",
            )
        else:
            yield Finding(
                "warning",
                "stack-unchecked",
                f'the outputs of the stack "{name}" are not known here: what is made of them is not judged',
                type=STACK_REFERENCE,
                name=name,
                hint=f"pulumi stack output --json --stack {name} > FILE, then --stack-outputs {name}=FILE",
            )
    for severity, text in recording.messages:
        yield Finding("error" if severity == "error" else "warning", "logged", " ".join(text.split()))


_UNSEEN: Final = {
    "kubernetes:helm.sh/v3:Chart": "the objects that Helm renders of its chart",
    "kubernetes:helm.sh/v4:Chart": "the objects that Helm renders of its chart",
    "kubernetes:kustomize:Directory": "the objects of its kustomization",
    "kubernetes:kustomize/v2:Directory": "the objects of its kustomization",
    "kubernetes:yaml/v2:ConfigFile": "the objects of its file, which the provider reads,",
    "kubernetes:yaml:ConfigFile": "the objects of its file, whose text is not known,",
    "kubernetes:yaml:ConfigGroup": "the objects of its texts, which are not known,",
    CONFIG_GROUP: "the objects of its files, or of what is not known yet,",
}
"""Components whose objects no run of the program registers, and what these are."""


def check_both_runs(preview: Recording, known: Recording) -> Iterator[Finding]:
    """Resources that exist in one of the runs only: a preview does not show them, or `up` never makes them."""
    if any(run.error is not None or run.hang is not None for run in (preview, known)):
        return
    # A function of what a chart renders is called at a preview, with nothing, and here not where all is known.
    is_blurred = any(RENDERING.search(one.urn) and has_unseen_objects(one) for one in known.resources)
    for run, other, where in ((known, preview, "when outputs are known"), (preview, known, "at a preview")):
        if is_blurred and run is preview:
            continue
        there = {resource.urn for resource in other.resources}
        for resource in run.resources:
            # What reads manifests asks its provider, which a preview does not before the cluster is there.
            if resource.urn not in there and not RENDERING.search(resource.parent):
                yield Finding.of(
                    resource,
                    "one-run-only",
                    f"exists only {where}",
                    hint="make it outside of apply, and its name from what is known",
                )


def _duplicate_urns(resources: Iterable[RecordedResource]) -> Iterator[Finding]:
    by_urn: dict[str, list[RecordedResource]] = defaultdict(list)
    for resource in resources:
        by_urn[resource.urn].append(resource)
    for urn, same in by_urn.items():
        if len(same) > 1:
            where = ", ".join(sorted({other.component or "the stack" for other in same}))
            yield Finding.of(
                same[1],
                "duplicate-urn",
                f"{len(same)} resources have this type chain and name (in {where}); the engine refuses {urn}",
                hint="parents' names are not part of a URN: begin the child's name with the component's",
            )


def alias_urn(resource: RecordedResource, alias: Alias) -> str:
    """The URN that an alias stands for: the parts it leaves out are the resource's own."""
    if alias.urn:
        return alias.urn
    stack, project = resource.urn.removeprefix("urn:pulumi:").split("::")[:2]
    chain = [] if alias.no_parent else _type_chain(alias.parent_urn or resource.parent)
    chain.append(alias.type or resource.type)
    place = f"urn:pulumi:{alias.stack or stack}::{alias.project or project}"
    return f"{place}::{'$'.join(chain)}::{alias.name or resource.name}"


def _type_chain(urn: str) -> list[str]:
    if not urn:
        return []
    types = urn.split("::")[2].split("$")
    return [type_ for type_ in types if type_ != PULUMI_STACK]


def _aliases(resources: Iterable[RecordedResource]) -> Iterator[Finding]:
    claimed: dict[str, RecordedResource] = {}
    own = {resource.urn for resource in resources}
    for resource in resources:
        for alias in resource.aliases:
            given = alias.urn or alias.parent_urn
            if given and not _URN.fullmatch(given):
                yield Finding.of(
                    resource,
                    "malformed-alias",
                    f'the alias "{given}" is no URN',
                    allowed="urn:pulumi:<stack>::<project>::<type>::<name>, or an Alias object",
                )
                continue
            urn = alias_urn(resource, alias)
            other = claimed.setdefault(urn, resource)
            if other is not resource:
                yield Finding.of(resource, "alias-twice", f"{other.type} {other.name} claims the alias {urn} too")
            elif urn in own and urn != resource.urn:
                yield Finding.of(resource, "alias-twice", f"the alias {urn} is another resource of this stack")


def _timeouts(resources: Iterable[RecordedResource]) -> Iterator[Finding]:
    for resource in resources:
        for key, text in resource.custom_timeouts.items():
            if not _DURATION.fullmatch(text):
                yield Finding.of(
                    resource, "malformed-timeout", f'"{text}" is no duration', path=f"custom_timeouts.{key}",
                    allowed="like 30m, 1h30m or 90s",
                )  # fmt: skip


_WITHOUT_CREDENTIALS: Final = frozenset({"random", "tls", "time", "null", "std", "pulumi"})
"""Packages whose resources are worked out where the program runs: there is no account that one could mistake."""


_CLUSTERS: Final = frozenset({EKS_CLUSTER, GKE_CLUSTER})


def _providers(recording: Recording, configuration: Mapping[str, str]) -> Iterator[Finding]:
    """Resources that would go to whatever account the shell has.

    A program may mean that: it configures the package's default provider, or gives no resource of the package another
    one. It does not where the engine is told to refuse default providers, where it handed over another provider, where
    it has made one of the package and configures none by default, or where it has just made the cluster that objects go
    to.
    """
    wrong: Mapping[tuple[str, str], WrongProvider] = {
        (wrong.type, wrong.name): wrong for wrong in recording.wrong_providers if not wrong.key
    }
    disabled = configuration.get("pulumi:disable-default-providers", "")
    configured = {key.partition(":")[0] for key in configuration}
    explicit = {found.type.rpartition(":")[2] for found in recording.resources if found.is_provider}
    makes_clusters = any(found.type in _CLUSTERS for found in recording.resources)
    for resource in recording.resources:
        if not resource.custom or resource.is_provider or resource.type == STACK_REFERENCE or resource.provider:
            continue
        if resource.package in _WITHOUT_CREDENTIALS:
            continue
        handed = wrong.get((resource.type, resource.name))
        also = f"; it was handed one for {handed.package}" if handed else ""
        if (
            handed
            or (resource.package in explicit and resource.package not in configured)
            or (resource.package == "kubernetes" and makes_clusters)
            or f'"{resource.package}"' in disabled
            or '"*"' in disabled
        ):
            yield Finding.of(
                resource,
                "default-provider",
                f"has no explicit provider for {resource.package}{also}: it would use the ambient credentials",
                hint="pass providers=[…] to the component, or provider=… to the resource",
            )
    for entry in recording.wrong_providers:
        if entry.key:
            yield Finding(
                "error",
                "wrong-provider",
                f'providers has the key "{entry.key}" for a provider of {entry.package}: it is dropped in silence',
                type=entry.type,
                name=entry.name,
                component=recording.component_of(entry.type, entry.name),
                hint="pass a list of providers",
            )


def _plain_secrets(recording: Recording, placeholders: Collection[str]) -> Iterator[Finding]:
    # Only what nobody chose: a user name beside a password is secret too where the SDK wraps the whole `stringData`,
    # and stands in the clear in other places with full right.
    secrets = {text for text in placeholders if len(text) >= SHORTEST_SECRET}
    for resource in recording.resources:
        made = set(_texts(resource.outputs, secret=True)) if _answers_secret(resource) else set()
        if made:
            made.difference_update(_texts(resource.inputs, secret=True), _texts(resource.inputs, secret=False))
            secrets.update(text for text in made if len(text) >= SHORTEST_SECRET)
    if not secrets:
        return
    pattern = "|".join(re.escape(text) for text in sorted(secrets, key=len, reverse=True))
    for resource in recording.resources:
        if not _has_one_of(
            secrets, resource.inputs, resource.about_inputs.written
        ):  # as most: a pattern takes five times as long
            continue
        for path, value, secret in leaves(resource.inputs):
            if not secret and isinstance(value, str) and re.search(pattern, value):
                yield Finding.of(
                    resource,
                    "plain-secret",
                    "holds the text of a secret, in the clear in the state",
                    path=path,
                    hint="use Config.require_secret and pass the Output on, without unsecret",
                )
    if not _has_one_of(secrets, recording.stack_outputs, written(recording.stack_outputs)):
        return
    for path, value, secret in leaves(recording.stack_outputs):
        if not secret and isinstance(value, str) and re.search(pattern, value):
            yield Finding(
                "error", "plain-secret", "the stack output holds the text of a secret in the clear", path=path
            )


def _answers_secret(resource: RecordedResource) -> bool:
    """Whether anything in the outputs is a `Secret`. Most of them are the inputs, of which that is known."""
    if resource.has_secrets:
        return has_secret(resource.outputs)
    inputs = resource.inputs
    return has_secret([value for key, value in resource.outputs.items() if inputs.get(key) is not value])


def _has_one_of(secrets: Collection[str], value: Any, plain: bytes | None) -> bool:
    """Whether one of these texts stands in the clear anywhere in a value.

    What has no marks is `written` whole (`plain`), each text in UTF-8: where a secret is not among those bytes it is in
    no text either, and that is seen ten times as soon.
    """
    if plain is not None and not any(text.encode(errors="surrogatepass") in plain for text in secrets):
        return False
    told = "\0".join(_texts(value, secret=False))
    return any(map(told.__contains__, secrets))


def _texts(value: Any, *, secret: bool) -> list[str]:
    """The texts within secrets of `value`, or those outside of them: `leaves` without paths, a fifth of the time."""
    found: list[str] = []
    left = [(value, False)]
    while left:
        item, hidden = left.pop()
        kind = type(item)
        if isinstance(item, str):
            if hidden is secret:
                found.append(item)
            continue
        if kind is dict:
            inside = item.values()
        elif isinstance(item, Secret):
            inside, hidden = (item.value,), True
        elif isinstance(item, (list, tuple)):
            inside = item
        elif isinstance(item, Mapping):
            inside = item.values()
        else:
            continue
        for inner in inside:
            if type(inner) is str:
                if hidden is secret:
                    found.append(inner)
            else:
                left.append((inner, hidden))
    return found
