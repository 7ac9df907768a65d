"""Names that the values of a chart hold: secrets and their keys, config maps, claims, classes, service accounts.

A value such as `existingSecret` tells a chart not to make the object, so somebody else has to. What the chart or
another one of its namespace may make under a name of its own, and what a controller fills in, is not told.

Source: the charts' values files as read for `rehearsal.refusals.data`, and the names that charts share by convention
(Helm documentation, "Chart Best Practices"), as generally known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.addresses import check_text
from trainyard.rehearsal.works.references.kubernetes.cluster import BUILT_IN_NAMESPACES, Cluster
from trainyard.rehearsal.works.references.kubernetes.keys import keys_of

_GIVEN: Final = {
    "existingSecret": "Secret", "existingSecretName": "Secret", "adminExistingSecret": "Secret",
    "envFromSecret": "Secret", "envFromSecretName": "Secret", "existingConfigMap": "ConfigMap",
    "existingConfigmap": "ConfigMap", "existingClaim": "PersistentVolumeClaim",
}  # fmt: skip
"""Values that name an object which the chart does not make."""
_KEYS: Final = ("userKey", "usernameKey", "passwordKey", "tokenKey", "adminUserKey", "adminPasswordKey")
_KEYS_BEGIN: Final = "existingSecret"
_DEFAULT_KEYS: Final = {"grafana": {"userKey": "admin-user", "passwordKey": "admin-password"}}
"""Keys that a chart reads of `admin.existingSecret` where its values name none (grafana 10.x, values.yaml)."""
_REFERENCES: Final = {
    "secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap", "secretRef": "Secret", "configMapRef": "ConfigMap",
}  # fmt: skip
_LISTS: Final = {
    "extraSecretMounts": ("Secret", "secretName"), "extraConfigmapMounts": ("ConfigMap", "configMap"),
    "envFromSecrets": ("Secret", "name"), "envFromConfigMaps": ("ConfigMap", "name"),
}  # fmt: skip
"""Lists of mounts and environments of the chart grafana, with the key that names the object."""
_CLASSES: Final = ("storageClassName", "storageClass")
_TEMPLATE: Final = "{{"


@dataclass(frozen=True, slots=True)
class _Named:
    path: str
    kind: str
    name: str
    keys: tuple[tuple[str, str], ...] = ()
    is_others: bool = False  # the chart says itself that it does not make it


def check(cluster: Cluster) -> None:
    """Every name in the values of every release."""
    for release in cluster.releases:
        chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
        values = release.mapping("values")
        for named in _named(values, "values", chart):
            _object(release, named, cluster)
        for path, name in _spaces(values, "values"):
            if cluster.makes_everything and cluster.find("Namespace", "", name) is None:
                release.error(
                    "reference-missing", path,
                    f"no Namespace {show(name)} is made, and the chart is told not to make it: its pods are refused",
                    allowed=", ".join(cluster.names("Namespace", "")[:12]),
                    hint=nearest(name, cluster.names("Namespace", "")),
                )  # fmt: skip
        for path, name in _classes(values, "values"):
            tell_class(release, path, name, cluster)
        for below, text in known_texts(values):
            check_text(release, f"values.{below}", text, cluster)


def tell_class(view: View, path: str, name: str, cluster: Cluster) -> None:
    """A storage class that nobody makes, or whose name nearly is one's."""
    near = cluster.lacks_class(name)
    if near is not None:
        view.error(
            "reference-storage-class",
            path,
            f"no StorageClass {show(name)} is made: its volumes are never made",
            allowed="" if near else ", ".join(cluster.names("StorageClass", "")),
            hint=f"did you mean {near}?" if near else "",
        )


def _named(values: Any, path: str, chart: str) -> Iterator[_Named]:
    if isinstance(values, list):
        for index, item in enumerate(values):
            yield from _named(item, f"{path}[{index}]", chart)
        return
    if not isinstance(values, Mapping) or values.get("enabled") is False:
        return
    yield from _of_volume(values, path)
    for key, value in values.items():
        here = f"{path}.{key}"
        kind = _GIVEN.get(key)
        if kind is not None and _is_name(value):
            keys = tuple(_sibling_keys(values, path, key, chart)) if kind == "Secret" else ()
            yield _Named(here, kind, value, keys, is_others=True)
        elif key in _REFERENCES and isinstance(value, Mapping):
            if _is_name(value.get("name")) and value.get("optional") in (None, False):
                wanted = value.get("key")
                asked = ((f"{here}.key", wanted),) if isinstance(wanted, str) else ()
                yield _Named(f"{here}.name", _REFERENCES[key], value["name"], asked)
        elif key in _LISTS:
            yield from _of_list(value, here, *_LISTS[key])
        elif key == "imagePullSecrets":
            for index, item in enumerate(listed(value)):
                name = item.get("name") if isinstance(item, Mapping) else item
                if _is_name(name):
                    yield _Named(f"{here}[{index}]", "Secret", name, is_others=True)
        elif key == "serviceAccount" and isinstance(value, Mapping) and value.get("create") is False:
            if _is_name(value.get("name")) and value["name"] != "default":
                yield _Named(f"{here}.name", "ServiceAccount", value["name"], is_others=True)
        else:
            yield from _named(value, here, key if isinstance(value, Mapping) and key == "grafana" else chart)


def _spaces(values: Any, path: str) -> Iterator[tuple[str, str]]:
    """Namespaces that a chart uses and is told not to make."""
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if key == "namespace" and values.get("createNamespace") is False and _is_name(value):
            if value not in BUILT_IN_NAMESPACES:
                yield f"{path}.{key}", value
        else:
            yield from _spaces(value, f"{path}.{key}")


def _of_volume(values: Mapping[str, Any], path: str) -> Iterator[_Named]:
    """A volume of a pod, which a list of values hands on: it has a name and says what it is of."""
    for key, kind, name in (("secret", "Secret", "secretName"), ("configMap", "ConfigMap", "name")):
        held = values.get(key)
        if _is_name(values.get("name")) and isinstance(held, Mapping) and _is_name(held.get(name)):
            keys = tuple(
                (f"{path}.{key}.items[{index}].key", item["key"])
                for index, item in enumerate(listed(held.get("items")))
                if isinstance(item, Mapping) and isinstance(item.get("key"), str)
            )
            if held.get("optional") in (None, False):
                yield _Named(f"{path}.{key}.{name}", kind, held[name], keys)


def _of_list(value: Any, path: str, kind: str, name: str) -> Iterator[_Named]:
    for index, item in enumerate(listed(value)):
        if isinstance(item, Mapping) and _is_name(item.get(name)) and item.get("optional") in (None, False):
            yield _Named(f"{path}[{index}].{name}", kind, item[name], is_others=True)


def _sibling_keys(values: Mapping[str, Any], path: str, given: str, chart: str) -> Iterator[tuple[str, str]]:
    told = {
        key: value
        for key, value in values.items()
        if key != given
        and (key in _KEYS or (key.startswith(_KEYS_BEGIN) and key.endswith("Key")))
        and isinstance(value, str)
        and value
    }
    default = _DEFAULT_KEYS.get(chart, {}) if path.endswith(".admin") else {}
    for key, value in {**{key: text for key, text in default.items() if key not in values}, **told}.items():
        yield f"{path}.{key}", value


def _classes(values: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(values, list):
        for index, item in enumerate(values):
            yield from _classes(item, f"{path}[{index}]")
    elif isinstance(values, Mapping) and values.get("enabled") is not False:
        for key, value in values.items():
            if key in _CLASSES and _is_name(value) and value != "-":
                yield f"{path}.{key}", value
            else:
                yield from _classes(value, f"{path}.{key}")


def _is_name(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value) and _TEMPLATE not in value and "$" not in value


def _object(release: View, named: _Named, cluster: Cluster) -> None:
    namespace = release.text("namespace") or ""
    if release.is_unknown("namespace"):
        return
    found = cluster.find(named.kind, namespace, named.name)
    if found is None:
        near = cluster.lacks(named.kind, namespace, named.name)
        if near is None and _nobody_makes(release, named, namespace, cluster):
            near = ""
        if near is not None:
            release.error(
                "reference-chart-value",
                named.path,
                f"no {named.kind} {show(named.name)} in namespace {show(namespace or 'default')}, and the chart makes "
                "none of that name: its pods do not start",
                hint=f"did you mean {near}?" if near else "",
            )
        return
    keys = keys_of(found) if named.kind in ("Secret", "ConfigMap") else None
    for path, key in named.keys if keys is not None else ():
        if keys is not None and key not in keys:
            release.error(
                "reference-key",
                path,
                f"{named.kind} {show(named.name)} has no key {show(key)}, so the pods that ask for it do not start",
                allowed=f"one of {', '.join(sorted(keys)[:12])}",
                hint=nearest(key, keys),
            )


def _nobody_makes(release: View, named: _Named, namespace: str, cluster: Cluster) -> bool:
    """Whether an object of a chart's namespace is surely made by nobody: neither by a chart under a name that begins
    with its release's, nor by a controller, nor beforehand."""
    if not cluster.is_made_here(namespace, named.kind):
        return False
    for other in cluster.releases:
        where = other.value("namespace")
        if where is UNKNOWN or (where or "") != namespace or (named.is_others and other is release):
            continue
        names = (other.text("name") or other.name, other.text("values.fullnameOverride") or "")
        if other.is_unknown("name") or any(name and named.name.startswith(name) for name in names):
            return False
    return True
