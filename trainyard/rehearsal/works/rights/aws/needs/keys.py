"""What keys of KMS have to let services and roles do with what is encrypted with them.

Sources, read 2026-11: Amazon EC2 Auto Scaling User Guide, "Required AWS KMS key policy for use with encrypted volumes";
Amazon FSx for Lustre User Guide, "Working with server-side encrypted Amazon S3 buckets"; CloudWatch Logs User Guide,
"Encrypt log data in CloudWatch Logs using AWS KMS"; kubernetes-sigs/aws-ebs-csi-driver docs/install.md, "encryption".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import UnreadableInput, known_texts
from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    DATA_REPOSITORY_ASSOCIATION,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    KEY,
    LAUNCH_TEMPLATE,
    LOG_GROUP,
    LUSTRE,
    STORAGE_CLASS,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.callers import Caller, principal, service
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.model import Context, Deed, Need, refused
from trainyard.rehearsal.works.rights.aws.needs.objects import listing, reading, writing
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.needs.services import words
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_SCALED: Final = (EKS_NODE_GROUP, AUTOSCALING_GROUP)
"""Types whose `launchTemplate` starts instances for them."""

_OBJECT: Final = "object"


def needs(places: Places, bindings: Bindings) -> Iterator[Need]:
    """What recorded keys have to allow."""
    if not places.stack.of_type(KEY) or not places.account.id:
        return
    yield from _of_volumes_of_nodes(places)
    yield from _of_repositories(places)
    yield from _of_log_groups(places)
    yield from _of_storage_classes(places, bindings)
    yield from _of_clusters(places)
    yield from _of_buckets(places, bindings)


def check(places: Places) -> None:
    """Notes keys that nobody could administer any more: AWS refuses to make one, or to delete it later."""
    for view in places.stack.of_type(KEY):
        if not view.has("policy") or not arn_of(view.resource) or view.resource.read:
            continue
        try:
            callers = list(_administrators(places, view))
        except UnreadableInput:
            continue
        deed = Deed("kms:PutKeyPolicy", arn_of(view.resource))
        if places.account.id and all(refused(places.account, caller, deed) for caller in callers):
            view.error(
                "rights-key-lock-out",
                "policy",
                f"nobody of {places.account.id} may change the policy of key {view.name}: its owner is locked out",
                allowed=f"kms:* for arn:{places.partition}:iam::{places.account.id}:root, or for who administers it",
            )


def _administrators(places: Places, view: View) -> Iterator[Caller]:
    """Everybody whom a key policy names, in its principals or its conditions, and the account's root."""
    yield principal(f"arn:{places.partition}:iam::{places.account.id}:root")
    for statement in statements(view.resource.inputs, "policy"):
        for _, text in known_texts({key: statement.get(key) for key in ("Principal", "Condition")}):
            try:
                yield principal(text.replace("*", "x").replace("?", "x"))
            except ValueError:  # a service, a key, any other text
                continue


def _linked(places: Places, name: str) -> Caller:
    return principal(f"arn:{places.partition}:iam::{places.account.id}:role/aws-service-role/{name}")


def _of_volumes_of_nodes(places: Places) -> Iterator[Need]:
    keys: dict[str, list[tuple[str, str]]] = {}
    for made in places.stack.of_type(LAUNCH_TEMPLATE):
        for path, mapping in made.items("blockDeviceMappings"):
            named = mapping.get("ebs", {}).get("kmsKeyId") if isinstance(mapping.get("ebs"), dict) else None
            if isinstance(named, str) and (key := places.key(named)):
                keys.setdefault(made.resource.urn, []).append((f"{path}.ebs.kmsKeyId", key))
    asked = set()
    for type_ in _SCALED:
        for view in places.stack.of_type(type_):
            template = view.referred("launchTemplate.id", LAUNCH_TEMPLATE) or view.referred(
                "launchTemplate.name", LAUNCH_TEMPLATE
            )
            role = view.text("serviceLinkedRoleArn") or _AUTO_SCALING
            for path, key in keys.get(template.resource.urn, ()) if template is not None else ():
                who = _linked(places, role.partition("/aws-service-role/")[2] or role)
                if template is None or (template.resource.urn, key, who.arn) in asked:
                    continue
                asked.add((template.resource.urn, key, who.arn))
                context = {"kms:ViaService": f"ec2.{key.split(':')[3]}.amazonaws.com"}
                deeds = (
                    Deed("kms:GenerateDataKeyWithoutPlaintext", key, context),
                    Deed("kms:CreateGrant", key, {**context, "kms:GrantIsForAWSResource": True}),
                )
                purpose = f"start nodes of {words(view)}, whose volumes are encrypted"
                yield Need(template, path, "rights-key", (who,), "EC2 Auto Scaling's own role", purpose, deeds)


_AUTO_SCALING: Final = "autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


def _of_repositories(places: Places) -> Iterator[Need]:
    for view in places.stack.of_type(DATA_REPOSITORY_ASSOCIATION):
        exports = view.has("s3.autoExportPolicy")
        yield from _of_repository(places, view, "dataRepositoryPath", view.text("fileSystemId") or "", exports=exports)
    for view in places.stack.of_type(LUSTRE):
        exports = view.has("exportPath")
        yield from _of_repository(places, view, "importPath", str(view.resource.id), exports=exports)


def _of_repository(places: Places, view: View, path: str, system: str, *, exports: bool) -> Iterator[Need]:
    name, _, prefix = (view.text(path) or "").removeprefix("s3://").partition("/")
    bucket = places.place(name) if name else None
    if bucket is None or bucket.read or not system.startswith("fs-"):
        return
    who = _linked(places, f"s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_{system}")
    file = f"{prefix.rstrip('/')}/{_OBJECT}".lstrip("/")
    deeds = (listing(bucket, prefix), *reading(places, bucket, file))
    if exports:
        deeds += writing(places, bucket, file)
    purpose = f"bring files {'to and from' if exports else 'from'} bucket {bucket.name}"
    yield Need(view, path, "rights-key", (who,), f"FSx's own role for {words(view)}", purpose, deeds)


def _of_log_groups(places: Places) -> Iterator[Need]:
    for view in places.stack.of_type(LOG_GROUP):
        key, arn = places.key(view.text("kmsKeyId") or ""), arn_of(view.resource).removesuffix(":*")
        if not key or not arn:
            continue
        region = key.split(":")[3]
        context: Context = {
            "kms:EncryptionContext:aws:logs:arn": arn,
            "aws:SourceAccount": places.account.id,
            "aws:SourceArn": arn,
        }
        deeds = tuple(Deed(f"kms:{action}", key, context) for action in ("Encrypt", "Decrypt", "GenerateDataKey"))
        who = service(f"logs.{region}.amazonaws.com")
        yield Need(view, "kmsKeyId", "rights-key", (who,), "CloudWatch Logs", f"encrypt {words(view)}", deeds)


def _of_storage_classes(places: Places, bindings: Bindings) -> Iterator[Need]:
    driver = next((found for found in bindings.controllers if found.name == "aws-ebs-csi-driver"), None)
    if driver is None or not driver.is_certain:
        return
    for view in places.stack.of_type(STORAGE_CLASS):
        key = places.key(view.text("parameters.kmsKeyId") or "")
        if view.text("provisioner") != "ebs.csi.aws.com" or not key:
            continue
        context = {"kms:ViaService": f"ec2.{key.split(':')[3]}.amazonaws.com"}
        deeds = (
            Deed("kms:GenerateDataKeyWithoutPlaintext", key, context),
            Deed("kms:CreateGrant", key, {**context, "kms:GrantIsForAWSResource": True}),
        )
        for account, _ in driver.accounts():
            identity = bindings.identity(driver.namespace, account)
            if identity.caller is not None:
                who = f"{driver.name}, as {driver.namespace}/{account},"
                purpose = "encrypt the volumes of the class"
                yield Need(view, "parameters.kmsKeyId", "rights-key", (identity.caller,), who, purpose, deeds)


def _of_clusters(places: Places) -> Iterator[Need]:
    """The key of a cluster's secrets, where its role is given the use of it: the key has to admit the role as well.

    A role that is given nothing of it goes by the grant that EKS makes (EKS User Guide, "Encrypt Kubernetes secrets
    with KMS", 2026-11).
    """
    for view in places.stack.of_type(EKS_CLUSTER):
        at = "encryptionConfig.provider.keyArn"
        key, role = places.key(view.text(at) or ""), places.role(view.text("roleArn") or "")
        if not key or role is None:
            continue
        context = {"kms:ViaService": f"eks.{key.split(':')[3]}.amazonaws.com"}  # of no other service, that is
        try:
            given = places.account.resources_named(role[1].arn)
        except UnreadableInput:
            continue
        if key in given:
            deeds = tuple(Deed(f"kms:{action}", key, context) for action in ("Encrypt", "Decrypt"))
            by = f"the control plane of {view.name}, with role {role[0].name},"
            yield Need(view, at, "rights-key", (role[1],), by, "encrypt the cluster's secrets", deeds)


def _of_buckets(places: Places, bindings: Bindings) -> Iterator[Need]:
    """Who may read or write objects has to be let use the bucket's key."""
    seen = set()
    for binding in bindings.all:
        role = places.role(binding.role_arn)
        caller = bindings.identity(binding.pod.namespace, binding.pod.service_account).caller
        if role is None or caller is None or (role[0].urn, binding.pod) in seen:
            continue
        seen.add((role[0].urn, binding.pod))
        try:
            objects = list(_objects(places, caller))
        except UnreadableInput:
            continue
        for name in objects:
            bucket = places.place(name)
            if bucket is None or bucket.read or not places.key_of(bucket):
                continue
            file = name.partition("/")[2]
            for verb, deeds in (("read", reading(places, bucket, file)), ("write", writing(places, bucket, file))):
                verdict = _asked(places, caller, deeds[0])
                if verdict and deeds[1:]:
                    purpose = f"{verb} the objects of bucket {bucket.name} that it may {verb}"
                    pods = f"pods of {binding.pod.namespace}/{binding.pod.service_account}"
                    at = binding.path
                    yield Need(binding.view, at, "rights-key", (caller,), pods, purpose, deeds[1:], from_network=True)


def _asked(places: Places, caller: Caller, deed: Deed) -> bool:
    """Whether it is allowed for sure."""
    try:
        return places.account.may(caller, deed.action, deed.resource, deed.context, from_network=True).allowed
    except UnreadableInput:
        return False


def _objects(places: Places, caller: Caller) -> Iterator[str]:
    """Objects that stand for what the statements of a role name."""
    seen = set()
    for text in places.account.resources_named(caller.arn):
        if text.startswith(f"arn:{places.partition}:s3:::") and "/" in text and "${" not in text:
            found = text.replace("*", _OBJECT).replace("?", "x")
            if found not in seen:
                seen.add(found)
                yield found
