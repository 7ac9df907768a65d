"""Definitions, webhooks, admission policies and classes of runtimes: further inputs that are weighed together.

Source: `ValidateCustomResourceDefinition` of apiextensions-apiserver, `validateRuleWithOperations`,
`validateWebhookClientConfig` and `validateParamRef` of pkg/apis/admissionregistration, pkg/apis/apiregistration and
pkg/apis/node of Kubernetes 1.35, as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow, split_url
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_LABEL
from trainyard.rehearsal.refusals.kubernetes.schema import as_sent

_REVIEWS: Final = ("v1", "v1beta1")
_TYPES: Final = ("object", "array", "string", "integer", "number", "boolean")
_PARAMS: Final = re.compile(r"(?<![\w.'\"])params\b(?!\s*:)")
_VARIABLE: Final = re.compile(r"(?<![\w.])variables\.([A-Za-z_]\w*)")


def check(view: View, kind: str) -> None:
    """What the API server refuses of an object that extends it."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def _definition(view: View) -> None:
    group, plural = view.text("spec.group"), view.text("spec.names.plural")
    name = view.text("metadata.name")
    if name and group and plural and name != f"{plural}.{group}":
        view.error("k8s-definition", "metadata.name", f"got {show(name)}", allowed=f"{plural}.{group}")
    if group is not None and "." not in group:
        view.error("k8s-definition", "spec.group", f"got {show(group)}", allowed="a domain such as example.com")
    for key in ("plural", "singular", "kind", "listKind"):
        text = view.text(f"spec.names.{key}")
        if text and not DNS_LABEL.fullmatch(text.lower() if key in ("kind", "listKind") else text):
            view.error("k8s-definition", f"spec.names.{key}", f"got {show(text)}", allowed="must be a DNS label")
    for index, text in enumerate(view.texts("spec.names.shortNames")):
        if not DNS_LABEL.fullmatch(text):
            here = f"spec.names.shortNames[{index}]"
            view.error("k8s-definition", here, f"got {show(text)}", allowed="must be a DNS label")
    versions = list(view.items("spec.versions"))
    stored = [path for path, entry in versions if entry.get("storage") is True]
    open_ = view.blurred("spec.versions") or UNKNOWN in [entry.get("storage") for _, entry in versions]
    if versions and len(stored) != 1 and not open_:
        view.error("k8s-definition", "spec.versions", f"{len(stored)} of them stored", allowed="storage true once")
    seen: set[object] = set()
    for path, entry in versions:
        word = entry.get("name")
        if word in seen and word is not UNKNOWN:
            view.error("k8s-duplicate", f"{path}.name", f"{show(word)} is given twice", allowed="each version once")
        seen.add(word)
        if isinstance(word, str) and not (DNS_LABEL.fullmatch(word) and word[0].isalpha()):
            view.error("k8s-definition", f"{path}.name", f"got {show(word)}", allowed="a label such as v1")
        schema = follow(entry, "schema", "openAPIV3Schema")
        if schema is None and UNKNOWN not in entry.values():
            view.error("k8s-definition", f"{path}.schema", "is missing", allowed="an openAPIV3Schema")
        elif isinstance(schema, Mapping):
            _structural(view, f"{path}.schema.openAPIV3Schema", as_sent(schema), root=True)
        for here, column in view.items(f"{path}.additionalPrinterColumns"):
            where = column.get("jsonPath")
            if isinstance(where, str) and not where.startswith("."):
                view.error(
                    "k8s-definition", f"{here}.jsonPath", f"got {show(where)}", allowed="a path such as .spec.team"
                )
        for key in ("specReplicasPath", "statusReplicasPath"):
            where = view.text(f"{path}.subresources.scale.{key}")
            head = ".spec." if key.startswith("spec") else ".status."
            if where is not None and not where.startswith(head):
                here = f"{path}.subresources.scale.{key}"
                view.error("k8s-definition", here, f"got {show(where)}", allowed=f"a path below {head}")
    if view.text("spec.conversion.strategy") == "Webhook" and view.lacks("spec.conversion.webhook"):
        view.error("k8s-definition", "spec.conversion.webhook", "is missing", allowed="needed with strategy Webhook")
    if view.flag("spec.preserveUnknownFields"):
        view.error("k8s-definition", "spec.preserveUnknownFields", "got true", allowed="false")


def _structural(view: View, path: str, schema: Mapping[str, Any], *, root: bool = False) -> None:
    """Each part of a schema says its type, and no mapping says both its keys and what other keys hold."""
    kind = schema.get("type")
    open_ = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if kind is None and (root or not open_):
        view.error("k8s-definition", f"{path}.type", "is missing", allowed=f"one of {', '.join(_TYPES)}")
    elif root and kind not in ("object", UNKNOWN):
        view.error("k8s-definition", f"{path}.type", f"got {show(kind)}", allowed="object")
    elif isinstance(kind, str) and kind not in _TYPES:
        view.error("k8s-definition", f"{path}.type", f"got {show(kind)}", allowed=f"one of {', '.join(_TYPES)}")
    parts, others, items = schema.get("properties"), schema.get("additionalProperties"), schema.get("items")
    if parts and others not in (None, False):
        view.error("k8s-definition", f"{path}.additionalProperties", "given beside properties", allowed="one of them")
    if kind == "array" and items is None:
        view.error("k8s-definition", f"{path}.items", "is missing", allowed="what a list holds")
    for name, part in parts.items() if isinstance(parts, Mapping) else ():
        if isinstance(part, Mapping) and not (root and name in ("metadata", "apiVersion", "kind")):
            _structural(view, f"{path}.properties.{name}", part)
    for key, part in (("additionalProperties", others), ("items", items)):
        if isinstance(part, Mapping):
            _structural(view, f"{path}.{key}", part)
    if "$ref" in schema:
        view.error("k8s-definition", f"{path}.$ref", "is given", allowed="the schema itself")
    for name in listed(schema.get("required")):
        if isinstance(parts, Mapping) and name not in parts and not open_ and isinstance(name, str):
            view.warning("k8s-definition", f"{path}.required", f"{show(name)} is no property", allowed="a property")


def _webhooks(view: View) -> None:
    names: set[object] = set()
    for path, entry in view.items("webhooks"):
        name = entry.get("name")
        if name in names and name is not UNKNOWN:
            view.error("k8s-webhook", f"{path}.name", f"{show(name)} is given twice", allowed="each once")
        names.add(name)
        reviews = listed(entry.get("admissionReviewVersions"))
        if not view.blurred(f"{path}.admissionReviewVersions") and not {*map(str, reviews)} & {*_REVIEWS}:
            here = f"{path}.admissionReviewVersions"
            view.error("k8s-webhook", here, f"got {show(reviews)}", allowed=f"one of {', '.join(_REVIEWS)} among them")
        _client(view, f"{path}.clientConfig", "k8s-webhook")
        for here, rule in view.items(f"{path}.rules"):
            _rule(view, here, rule, "k8s-webhook")


def _client(view: View, path: str, rule: str) -> None:
    url = view.text(f"{path}.url")
    if url is not None and not _is_secure(url):
        view.error(rule, f"{path}.url", f"got {show(url)}", allowed="https://host/path, without query or user")
    port, where = view.number(f"{path}.service.port"), view.text(f"{path}.service.path")
    if port is not None and not 1 <= port <= 65535:
        view.error(rule, f"{path}.service.port", f"got {port:g}", allowed="must be 1 to 65535")
    if where and not where.startswith("/"):
        view.error(rule, f"{path}.service.path", f"got {show(where)}", allowed="must begin with /")


def _is_secure(url: str) -> bool:
    """Whether the server may ask a webhook at an address."""
    parts = split_url(url)
    if parts is None:
        return False
    extra = parts.query or parts.fragment or parts.username
    return parts.scheme == "https" and bool(parts.hostname) and not extra


def _rule(view: View, path: str, entry: Mapping[str, Any], rule: str) -> None:
    for key in ("apiGroups", "apiVersions", "resources", "operations"):
        values = entry.get(key)
        if values in (None, []):
            view.error(
                rule,
                f"{path}.{key}",
                "is missing",
                allowed="at least one" + ("; '' is the core group" if key == "apiGroups" else ""),
            )
            continue
        known = [item for item in listed(values) if isinstance(item, str)]
        if (
            "*" in known
            and len(known) > 1
            and (key != "resources" or any("/" not in item for item in known if item != "*"))
        ):
            view.error(rule, f"{path}.{key}", f"got {show(known)}", allowed="'*' alone")
    held = {item for item in listed(entry.get("resources")) if isinstance(item, str)}
    for item in sorted(held):
        head, slash, tail = item.partition("/")
        wide = {f"{head}/*", f"*/{tail}"} - {item}
        if slash and (wide & held or ("*/*" in held and item != "*/*")):
            view.error(
                rule,
                f"{path}.resources",
                f"{item} is in {', '.join(sorted(wide & held) or ['*/*'])}",
                allowed="one of both",
            )


def _policy(view: View) -> None:
    here = "spec.matchConstraints.resourceRules"
    if view.lacks(here) or view.value(here) == []:
        view.error("k8s-admission", here, "is missing", allowed="at least one rule")
    for key in ("resourceRules", "excludeResourceRules"):
        for path, entry in view.items(f"spec.matchConstraints.{key}"):
            _rule(view, path, entry, "k8s-admission")
    kind = view.has("spec.paramKind") or view.is_unknown("spec")
    defined: set[str] = set()
    for path, text in _expressions(view):
        if not kind and _PARAMS.search(_bare(text)):
            view.error("k8s-admission", path, "reads params", allowed="spec.paramKind")
        missing = [] if view.blurred("spec.variables") else _VARIABLE.findall(_bare(text))
        for name in missing:
            if name not in defined and path.startswith("spec.variables") and name in _names(view):
                view.error("k8s-admission", path, f"reads variables.{name}, which comes later", allowed="after it")
        unclosed = _unclosed(text)
        if unclosed:
            view.error("k8s-admission", path, unclosed, allowed="an expression of CEL")
        if path.startswith("spec.variables"):
            defined.add(view.text(path.removesuffix("expression") + "name") or "")
    seen: set[object] = set()
    for path, entry in view.items("spec.matchConditions"):
        name = entry.get("name")
        if name in seen and name is not UNKNOWN:
            view.error("k8s-duplicate", f"{path}.name", f"{show(name)} is given twice", allowed="each once")
        seen.add(name)


def _names(view: View) -> set[str]:
    return {str(entry.get("name")) for _, entry in view.items("spec.variables")}


def _expressions(view: View) -> Iterator[tuple[str, str]]:
    for key in ("variables", "matchConditions", "validations"):
        for path, entry in view.items(f"spec.{key}"):
            text = entry.get("expression")
            if isinstance(text, str):
                yield f"{path}.expression", text
            if key == "validations" and isinstance(entry.get("messageExpression"), str):
                yield f"{path}.messageExpression", entry["messageExpression"]


_TEXT: Final = re.compile(r"""[rR]?("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|//[^\n]*""")
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def _bare(text: str) -> str:
    """An expression without what its texts and comments hold."""
    return _TEXT.sub("''", text)


def _unclosed(text: str) -> str:
    """Why an expression of CEL is none: a bracket or a text that is not closed, `and` for `&&`, `=` for `==`."""
    if '"""' in text or "'''" in text:
        return ""
    bare, open_ = _bare(text), []
    for letter in bare:
        if letter in "([{":
            open_.append(letter)
        elif letter in _PAIRS and (not open_ or open_.pop() != _PAIRS[letter]):
            return f"has a {letter} too many"
    if open_:
        return f"does not close {open_[-1]}"
    if bare.replace("''", "").count("'") or '"' in bare:
        return "has a text that does not end"
    found = re.search(r"(?<=[\w)\]'])\s+(and|or|not|is|AND|OR)\s+(?=[\w(!'])", bare)
    if found:
        return f"has {found[1]}, which is no operator of CEL (&&, ||, !)"
    if re.search(r"(?<![=!<>])=(?![=~])", bare):
        return "has =, which is no operator of CEL (==)"
    return ""


def _binding(view: View) -> None:
    reference = view.mapping("spec.paramRef")
    if reference and UNKNOWN not in reference.values():
        if (reference.get("name") in (None, "")) == (reference.get("selector") is None):
            view.error("k8s-admission", "spec.paramRef", "has neither, or both", allowed="one of name, selector")
        if reference.get("parameterNotFoundAction") is None:
            here = "spec.paramRef.parameterNotFoundAction"
            view.error("k8s-admission", here, "is missing", allowed="one of Allow, Deny")
    actions = view.texts("spec.validationActions")
    if len(set(actions)) != len(actions):
        view.error("k8s-validation-actions", "spec.validationActions", f"got {show(actions)}", allowed="each once")


def _service(view: View) -> None:
    version, group, name = view.text("spec.version"), view.text("spec.group"), view.text("metadata.name")
    if version and group and name and name != f"{version}.{group}":
        view.error("k8s-definition", "metadata.name", f"got {show(name)}", allowed=f"{version}.{group}")
    if view.flag("spec.insecureSkipTLSVerify") and view.has("spec.caBundle"):
        view.error("k8s-definition", "spec.caBundle", "given with insecureSkipTLSVerify", allowed="one of them")
    for key, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        number = view.number(f"spec.{key}")
        if number is not None and not 1 <= number <= most:
            view.error("k8s-number", f"spec.{key}", f"got {number:g}", allowed=f"1 to {most}")


def _runtime_class(view: View) -> None:
    handler = view.text("handler")
    if handler is not None and not DNS_LABEL.fullmatch(handler):
        view.error("k8s-name", "handler", f"got {show(handler)}", allowed="must be a DNS label")


def _flow_schema(view: View) -> None:
    number = as_number(view.value("spec.matchingPrecedence"))
    if number is not None and not 1 <= number <= 10000:
        view.error("k8s-number", "spec.matchingPrecedence", f"got {number:g}", allowed="1 to 10000")


_RULES: Final[Mapping[str, Callable[[View], None]]] = {
    "APIService": _service,
    "CustomResourceDefinition": _definition,
    "FlowSchema": _flow_schema,
    "MutatingWebhookConfiguration": _webhooks,
    "RuntimeClass": _runtime_class,
    "ValidatingAdmissionPolicy": _policy,
    "ValidatingAdmissionPolicyBinding": _binding,
    "ValidatingWebhookConfiguration": _webhooks,
}
