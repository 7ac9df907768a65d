"""What recorded pods say themselves that they use: buckets, secrets and log groups in their commands and environment.

Sources, read 2026-11: MLflow, "Tracking server", proxied artifact access (the server lists, reads and writes below the
artifacts' destination); aws/amazon-cloudwatch-logs-for-fluent-bit and Fluent Bit's `cloudwatch_logs` output; AWS
Secrets Manager User Guide, "Secret encryption and decryption".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.read import follow, known_texts, steps, value_at
from trainyard.recorded.types import CONFIG_MAP, DATABASE, DATABASE_CLUSTER, SECRETS_MANAGER_SECRET
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings, Identity
from trainyard.rehearsal.works.rights.aws.needs.controllers import metadata_is_closed, nodes
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need, refused
from trainyard.rehearsal.works.rights.aws.needs.objects import listing, reading, writing
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.recorded_pods import RecordedPod

_BUCKET: Final = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]+)(?P<prefix>/[^\s\"',;?]*)?")
_SECRET: Final = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@!-]+")
OWN_CREDENTIALS: Final = re.compile(
    r"AWS_(ACCESS_KEY_ID|PROFILE|SHARED_CREDENTIALS_FILE|ROLE_ARN|ENDPOINT_URL\w*)|\w*S3_ENDPOINT\w*"
)
_LOG_GROUP: Final = re.compile(r"^\s*log_group_name\s+(?P<group>\S+)\s*$", re.MULTILINE | re.IGNORECASE)
_ARTIFACTS: Final = "--artifacts-destination"
_ARTIFACTS_IN_ENV: Final = ("MLFLOW_ARTIFACTS_DESTINATION", "_MLFLOW_SERVER_ARTIFACT_DESTINATION")


def needs(places: Places, bindings: Bindings, pods: list[RecordedPod]) -> Iterator[Need]:
    """What the words of every pod ask for."""
    secrets = _secrets(places)
    maps = {
        (view.text("metadata.namespace") or "default", view.text("metadata.name") or ""): view
        for view in places.stack.of_type(CONFIG_MAP)
    }
    for pod in pods:
        asked = list(_asked(places, pod, secrets, maps))
        if not asked or _has_own_credentials(pod):
            continue
        who, words = _who(places, bindings, pod)
        for path, purpose, deeds, whole in asked:
            if not who:
                if words:
                    pod.view.error(
                        "rights-pod-no-role",
                        path,
                        f"{pod} cannot {purpose}: {words}",
                        hint=f"a Pod Identity association for {pod.namespace}/{pod.account}",
                    )
                continue
            if whole or all(refused(places.account, one, deed, from_network=True) for one in who for deed in deeds):
                yield Need(
                    pod.view, path, "rights-pod-lacks", who, f"{pod}, {words},", purpose, deeds, from_network=True
                )


def _has_own_credentials(pod: RecordedPod) -> bool:
    """Whether its rights may come from elsewhere than its service account: keys, another store, somebody's agent."""
    if (
        pod.has_more_variables
        or any(OWN_CREDENTIALS.fullmatch(name) for name in pod.variables)
        or any("endpoint" in text for _, text in pod.words)
    ):
        return True
    mounts = [
        path
        for _, container in pod.workload.containers()
        for mount in listed(container.get("volumeMounts"))
        if isinstance(path := follow(mount, "mountPath"), str)
    ]
    metadata = f"{pod.workload.path.rpartition('.')[0]}.metadata.annotations".lstrip(".")
    annotated = pod.view.mapping(metadata)
    return any(".aws" in path for path in mounts) or any(re.search(r"iam\.amazonaws|vault", key) for key in annotated)


Asked = tuple[str, str, tuple[Deed, ...], bool]
"""Path, purpose, deeds, and whether all of them are needed; else one would do."""


def _who(places: Places, bindings: Bindings, pod: RecordedPod) -> tuple[tuple[Caller, ...], str]:
    identity = bindings.identity(pod.namespace, pod.account) if pod.account else Identity("unknown")
    if identity.caller is not None:
        return (identity.caller,), f"as {pod.namespace}/{pod.account}"
    if identity.state != "none" or not nodes(places):
        return (), ""
    if pod.on_host or not metadata_is_closed(places):
        return nodes(places), "with the role of its node"
    return (), f"no role is bound to {pod.namespace}/{pod.account}, and its node's is out of reach"


def _asked(
    places: Places,
    pod: RecordedPod,
    secrets: Mapping[str, str],
    maps: Mapping[tuple[str, str], View],
) -> Iterator[Asked]:
    texts = [text for _, text in pod.words]
    serves = any("mlflow" in text for text in texts) and "server" in texts
    for number, (path, text) in enumerate(pod.words):
        for found in _BUCKET.finditer(text):
            bucket = places.place(found["bucket"])
            if bucket is None or bucket.read:
                continue
            prefix = (found["prefix"] or "").strip("/")
            name = f"{prefix}/object" if prefix else "object"
            before = texts[number - 1] if number else ""
            artifacts = text.startswith(_ARTIFACTS) or before == _ARTIFACTS or _is_variable(pod, text)
            deeds = (
                listing(bucket, f"{prefix}/" if prefix else ""),
                *reading(places, bucket, name),
                *writing(places, bucket, name),
            )
            if serves and artifacts:
                yield path, f"keep artifacts in {found[0]}", deeds, True
            else:
                of_s3 = tuple(deed for deed in deeds if deed.action.startswith("s3:"))
                yield path, f"use {found[0]}", of_s3, False
        for found in _SECRET.finditer(text):
            if found[0] in secrets:
                yield path, "read the secret", _secret(found[0], secrets[found[0]]), True
    yield from _logs(places, pod, maps)


def _is_variable(pod: RecordedPod, text: str) -> bool:
    return any(pod.variables.get(name) == text for name in _ARTIFACTS_IN_ENV)


def _logs(places: Places, pod: RecordedPod, maps: Mapping[tuple[str, str], View]) -> Iterator[Asked]:
    for name in pod.config_maps:
        view = maps.get((pod.namespace, name))
        for _, text in known_texts(view.inputs.get("data")) if view is not None else ():
            if "cloudwatch" not in text:
                continue
            for found in _LOG_GROUP.finditer(text):
                arn = f"arn:{places.partition}:logs:{places.region}:{places.account.id}:log-group:{found['group']}"
                deeds = tuple(
                    Deed(
                        f"logs:{action}",
                        f"{arn}:log-stream:stream",
                        spellings=(arn,) if action == "CreateLogStream" else (),
                    )
                    for action in ("CreateLogStream", "PutLogEvents")
                )
                yield pod.workload.at("volumes"), f"send logs to {found['group']}", deeds, True


def _secrets(places: Places) -> dict[str, str]:
    """Keys (empty: AWS's own) by the ARN of the recorded secret."""
    found = {}
    for view in places.stack.of_type(SECRETS_MANAGER_SECRET):
        if arn_of(view.resource):
            found[arn_of(view.resource)] = _key(places, view, "kmsKeyId")
    for view in (*places.stack.of_type(DATABASE), *places.stack.of_type(DATABASE_CLUSTER)):
        for secret in _master_secrets(view.resource):
            found[secret] = _key(places, view, "masterUserSecretKmsKeyId")
    return found


def _key(places: Places, view: View, path: str) -> str:
    return places.key(view.text(path) or "")


def _master_secrets(database: RecordedResource) -> Iterator[str]:
    secrets = value_at(database.outputs, "masterUserSecrets", unknown=None)
    for secret in secrets if isinstance(secrets, list) else ():
        arn = follow(secret, *steps("secretArn"))
        if arn is not UNKNOWN and isinstance(arn, str):
            yield arn


def _secret(arn: str, key: str) -> tuple[Deed, ...]:
    read = Deed("secretsmanager:GetSecretValue", arn)
    if not key:
        return (read,)
    region = arn.split(":")[3]
    context = {"kms:ViaService": f"secretsmanager.{region}.amazonaws.com", "kms:EncryptionContext:SecretARN": arn}
    return (read, Deed("kms:Decrypt", key, context))
