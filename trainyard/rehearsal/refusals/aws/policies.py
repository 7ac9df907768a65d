"""The grammar of IAM policies, and the names of actions.

Sources: IAM's policy grammar (user guide, as generally known; moto refuses the same); actions and managed policies
from `data/iam.json`, which names its own source and date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.types import ROLE
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_STATEMENT_KEYS = frozenset({
    "Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"
})  # fmt: skip
_VERSIONS = ("2012-10-17", "2008-10-17")
_ARN = re.compile(r"arn:[^:\s]*:[^:\s]+:[^:\s]*:[^:\s]*:.+", re.DOTALL)
_ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")  # in any case: consoles write SNS:Publish
_SIZES: Final = {"trust": 2048, "inline": 10240, "managed": 6144}
"""Most characters without white space; the trust policy's is the default quota."""
_OPERATOR = re.compile(
    r"(ForAllValues:|ForAnyValue:)?(Null|Bool|BinaryEquals|IpAddress|NotIpAddress"
    r"|String(Not)?Equals(IgnoreCase)?|String(Not)?Like|Numeric(Not)?Equals|Numeric(Less|Greater)Than(Equals)?"
    r"|Date(Not)?Equals|Date(Less|Greater)Than(Equals)?|Arn(Not)?(Equals|Like))(IfExists)?"
)


@cache
def facts() -> dict[str, Any]:
    """Services with their actions, and managed policies."""
    text = files("trainyard.rehearsal.refusals.data").joinpath("iam.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@lru_cache(maxsize=4096)
def _is_action(service: str, name: str) -> bool:
    """Whether a service has an action of this name, which may hold wildcards: policies name the same few."""
    pattern = re.compile(re.escape(name).replace(r"\*", ".*").replace(r"\?", "."), re.IGNORECASE)
    return any(pattern.fullmatch(candidate) for candidate in facts()["actions"][service])


def trust(view: View) -> None:
    """Checks a role's trust policy: who may assume it."""
    Policy(view, "assumeRolePolicy", "trust").check()


def managed(view: View) -> None:
    """Checks a managed policy's document."""
    Policy(view, "policy", "managed").check()


def inline(view: View) -> None:
    """Checks an inline policy's document, and that all of a role are no larger than one may be."""
    Policy(view, "policy", "inline").check()
    role = view.referred("role", ROLE)
    if role is None:
        return
    others = [one for one in view.stack.of_type(view.type) if one.referred("role", ROLE) is role]
    texts = [one.text("policy") for one in others]
    if None in texts or others[-1] is not view:
        return
    size = sum(len(re.sub(r"\s", "", text or "")) for text in texts)
    if size > _SIZES["inline"] and len(texts) > 1:
        message = f"role {role.name} has {len(texts)} inline policies of {size} characters in all"
        view.error("iam-size", "policy", message, allowed=f"at most {_SIZES['inline']} without spaces")


def of_resource(view: View) -> None:
    """Checks the document of a policy on a resource."""
    Policy(view, "policy", "resource").check()


class Policy:
    """One policy document of a resource, read and checked."""

    def __init__(self, view: View, path: str, kind: str) -> None:
        self.view, self.path, self.kind = view, path, kind

    def check(self) -> None:
        """Notes what IAM refuses as MalformedPolicyDocument, and actions that do not exist."""
        document = self._document()
        if document is None:
            return
        if document.get("Version", _VERSIONS[1]) not in _VERSIONS:
            self._error(
                "iam-version", "Version", f"got {show(document['Version'])}", allowed=f"one of {', '.join(_VERSIONS)}"
            )
        statements = document.get("Statement")
        if isinstance(statements, Mapping):
            statements = [statements]
        if not isinstance(statements, list) or not statements:
            self._error("iam-statement", "Statement", "is missing or empty", allowed="at least one statement")
            return
        seen: set[str] = set()
        for index, statement in enumerate(statements):
            where = f"Statement[{index}]"
            if not isinstance(statement, Mapping):
                self._error("iam-statement", where, f"got {show(statement)}", allowed="a JSON object")
                continue
            self._statement(where, statement, seen)

    def _error(self, rule_id: str, where: str, message: str, *, allowed: str = "", hint: str = "") -> None:
        self.view.error(rule_id, f"{self.path}.{where}" if where else self.path, message, allowed=allowed, hint=hint)

    def _document(self) -> Mapping[str, Any] | None:
        value = self.view.value(self.path)
        if value is None:
            return None
        if isinstance(value, str):
            if self.kind in _SIZES and len(re.sub(r"\s", "", value)) > _SIZES[self.kind]:
                size = len(re.sub(r"\s", "", value))
                self._error(
                    "iam-size", "", f"has {size} characters", allowed=f"at most {_SIZES[self.kind]} without spaces"
                )
            try:
                value = json.loads(value)
            except ValueError as error:
                self._error("iam-json", "", f"is no JSON: {error}", allowed="a JSON object")
                return None
        if not isinstance(value, Mapping):
            self._error("iam-json", "", f"got {show(value)}", allowed="a JSON object")
            return None
        return value

    def _statement(self, where: str, statement: Mapping[str, Any], seen: set[str]) -> None:
        for key in statement:
            if key not in _STATEMENT_KEYS:
                self._error(
                    "iam-statement",
                    f"{where}.{key}",
                    "is no element of a statement",
                    hint=nearest(key, _STATEMENT_KEYS),
                )
        if statement.get("Effect") not in ("Allow", "Deny"):
            self._error(
                "iam-effect", f"{where}.Effect", f"got {show(statement.get('Effect'))}", allowed="one of Allow, Deny"
            )
        sid = statement.get("Sid")
        if isinstance(sid, str):
            if sid in seen:
                self._error("iam-sid", f"{where}.Sid", f"{show(sid)} is given twice", allowed="each Sid once")
            plain = r"[A-Za-z0-9]*" if self.kind != "resource" else r"[ -~]*"
            if not re.fullmatch(plain, sid):
                self._error("iam-sid", f"{where}.Sid", f"got {show(sid)}", allowed="letters and digits")
            seen.add(sid)
        self._one_of(where, statement, "Action", "NotAction")
        for key in ("Action", "NotAction"):
            for at, action in _texts(statement.get(key)):
                self._action(f"{where}.{key}{at}", action)
        self._resources(where, statement)
        self._principals(where, statement)
        self._condition(where, statement.get("Condition"))

    def _one_of(self, where: str, statement: Mapping[str, Any], *keys: str) -> None:
        given = [key for key in keys if key in statement]
        if len(given) != 1 or statement[given[0]] in ([], "", None):
            self._error(
                f"iam-{keys[0].lower()}",
                f"{where}.{keys[0]}",
                "is missing or empty" if not given or len(given) == 1 else f"given beside {given[1]}",
                allowed=f"one of {', '.join(keys)}",
            )

    def _action(self, where: str, action: str) -> None:
        if not _ACTION.fullmatch(action):
            self._error("iam-action", where, f"got {show(action)}", allowed="must be service:Action, like s3:GetObject")
            return
        if action == "*":
            return
        prefix, _, name = action.partition(":")
        service = prefix.lower()
        actions = facts()["actions"]
        if service not in actions and service not in facts()["services"]:
            self._error(
                "iam-service",
                where,
                f"{show(service)} is no service prefix",
                hint=nearest(service, facts()["services"]),
            )
            return
        known = actions.get(service)
        if known is None:
            return
        if not _is_action(service, name):
            hint = nearest(name, known)
            # IAM takes any name. One close to a real action is a slip; another may be newer than the table.
            note = self.view.error if hint else self.view.warning
            note("iam-unknown-action", f"{self.path}.{where}", f"{service} has no action {show(name)}", hint=hint)

    def _resources(self, where: str, statement: Mapping[str, Any]) -> None:
        if self.kind == "trust":
            for key in ("Resource", "NotResource"):
                if key in statement:
                    self._error(
                        "iam-trust", f"{where}.{key}", "has no place in a trust policy", allowed="Principal and Action"
                    )
            return
        self._one_of(where, statement, "Resource", "NotResource")
        for key in ("Resource", "NotResource"):
            for at, resource in _texts(statement.get(key)):
                if resource != "*" and not _ARN.fullmatch(resource) and not resource.startswith("${"):
                    self._error("iam-resource", f"{where}.{key}{at}", f"got {show(resource)}", allowed='an ARN or "*"')

    def _principals(self, where: str, statement: Mapping[str, Any]) -> None:
        needs = self.kind in ("trust", "resource")
        given = [key for key in ("Principal", "NotPrincipal") if key in statement]
        if not needs:
            for key in given:
                self._error(
                    "iam-principal", f"{where}.{key}", "has no place in an identity's policy", allowed="no principal"
                )
            return
        if len(given) != 1:
            self._error(
                "iam-principal",
                f"{where}.Principal",
                "is missing" if not given else "given twice",
                allowed="a principal",
            )
            return
        principal = statement[given[0]]
        if principal == "*":
            return
        if not isinstance(principal, Mapping) or not principal:
            self._error(
                "iam-principal",
                f"{where}.{given[0]}",
                f"got {show(principal)}",
                allowed='"*" or {"Service": …}, {"AWS": …}, {"Federated": …}',
            )
            return
        for kind, names in principal.items():
            self._principal(f"{where}.{given[0]}.{kind}", kind, names)

    def _principal(self, where: str, kind: str, names: Any) -> None:
        if kind not in ("AWS", "Service", "Federated", "CanonicalUser"):
            self._error(
                "iam-principal",
                where,
                f"{show(kind)} is no kind of principal",
                allowed="one of AWS, Service, Federated, CanonicalUser",
            )
            return
        for at, name in _texts(names):
            if kind == "Service" and not re.fullmatch(
                r"[a-z0-9.-]+\.(amazonaws\.com(\.cn)?|amazon\.com|aws\.internal)", name
            ):
                self._error(
                    "iam-principal",
                    f"{where}{at}",
                    f"got {show(name)}",
                    allowed="must look like pods.eks.amazonaws.com",
                )
            if kind == "AWS" and not (_ARN.fullmatch(name) or re.fullmatch(r"\*|\d{12}|A[A-Z0-9]{15,}", name)):
                self._error("iam-principal", f"{where}{at}", f"got {show(name)}", allowed='an ARN, an account or "*"')

    def _condition(self, where: str, condition: Any) -> None:
        if condition is None:
            return
        if not isinstance(condition, Mapping):
            self._error("iam-condition", f"{where}.Condition", f"got {show(condition)}", allowed="a JSON object")
            return
        for operator, keys in condition.items():
            if not _OPERATOR.fullmatch(operator):
                self._error(
                    "iam-condition",
                    f"{where}.Condition.{operator}",
                    "is no condition operator",
                    hint=nearest(operator, _OPERATORS),
                )
            elif not isinstance(keys, Mapping) or not keys:
                self._error(
                    "iam-condition", f"{where}.Condition.{operator}", f"got {show(keys)}", allowed="keys with values"
                )
            else:
                for key in keys:
                    if ":" not in key:
                        self._error(
                            "iam-condition",
                            f"{where}.Condition.{operator}",
                            f"key {show(key)}",
                            allowed="must be prefix:Key, like aws:SourceAccount",
                        )


_OPERATORS = (
    "StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "StringEqualsIgnoreCase", "NumericEquals",
    "NumericLessThan", "NumericGreaterThan", "DateLessThan", "DateGreaterThan", "Bool", "Null", "IpAddress",
    "NotIpAddress",
    "ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike",
)  # fmt: skip


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, list):
        yield from ((f"[{index}]", item) for index, item in enumerate(value) if isinstance(item, str))


def managed_policy_exists(view: View) -> None:
    """An AWS-managed policy of that name exists."""
    arn = view.text("policyArn")
    if arn is None or not re.match(r"arn:aws[a-z-]*:iam::aws:policy/", arn):
        return
    name = arn.partition(":policy/")[2]
    known = facts()["managed_policies"]
    if name not in known:
        last = nearest(name, known) or nearest(name.rpartition("/")[2], known)
        view.error("iam-managed-policy", "policyArn", f"AWS has no managed policy {show(name)}", hint=last)


RULES: Final[Rules] = {
    trust: ("aws:iam/role:Role",),
    managed: ("aws:iam/policy:Policy",),
    inline: ("aws:iam/groupPolicy:GroupPolicy", "aws:iam/rolePolicy:RolePolicy", "aws:iam/userPolicy:UserPolicy"),
    of_resource: (
        "aws:kms/key:Key",
        "aws:kms/keyPolicy:KeyPolicy",
        "aws:s3/bucketPolicy:BucketPolicy",
        "aws:sns/topicPolicy:TopicPolicy",
        "aws:sns/topic:Topic",
        "aws:secretsmanager/secret:Secret",
        "aws:secretsmanager/secretPolicy:SecretPolicy",
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "aws:sqs/queuePolicy:QueuePolicy",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
    ),
    managed_policy_exists: ("aws:iam/rolePolicyAttachment:RolePolicyAttachment",),
}
