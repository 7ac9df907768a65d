"""The pods of the charts and add-ons that a stack installs, from a table of them and the values that they are given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from trainyard.catalog.tables import tree
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADD_ON, HELM_RELEASE
from trainyard.rehearsal.works.workloads.model import Workload

_PLACING: Final = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints", "priorityClassName")
"""Keys of a pod's specification that charts take as values of the same name."""

Kind = Literal["charts", "add-ons"]


@cache
def table() -> Mapping[str, Any]:
    """What is known of charts and add-ons: `charts` and `add-ons`, each by name."""
    return tree(files(__package__).joinpath("charts.yaml"))


def chart_of(release: RecordedResource) -> str:
    """The chart's name of a Helm release, without the registry; empty where it is not known."""
    chart = bare(follow(release.inputs, "chart"))
    return chart.rpartition("/")[2] if isinstance(chart, str) else ""


def is_known(resource: RecordedResource) -> bool:
    """Whether the table holds what a release or an add-on makes."""
    if resource.type == ADD_ON:
        return bare(follow(resource.inputs, "addonName")) in table()["add-ons"]
    return chart_of(resource) in table()["charts"]


def of_charts(resources: Resources) -> Iterator[Workload]:
    """The pods of every Helm release and EKS add-on that the table holds."""
    for release in resources.of(HELM_RELEASE):
        name, namespace = _text(release, "name", release.name), _text(release, "namespace", "default")
        values = bare(follow(release.inputs, "values"))
        yield from _made("charts", chart_of(release), release, name, namespace, {} if values is None else values)
        if chart_of(release) == "jupyterhub":
            yield from _notebooks(release, namespace, values)
    for add_on in resources.of(ADD_ON):
        name = _text(add_on, "addonName", "")
        yield from _made("add-ons", name, add_on, name, "kube-system", _configuration(add_on))


def _notebooks(release: RecordedResource, namespace: str, values: Any) -> Iterator[Workload]:
    """One notebook of each kind that people choose from, as KubeSpawner makes its pod (7.1, `kubespawner_override`)."""
    own = _at(values, "singleuser")
    required = _at(own, "extraNodeAffinity.required")
    profiles = _at(own, "profileList")
    for number, entry in enumerate(profiles if isinstance(profiles, list) else ()):
        told = _at(entry, "kubespawner_override")
        asked = {"cpu": _at(told, "cpu_guarantee"), "memory": _at(told, "mem_guarantee")}
        more = _at(told, "extra_resource_guarantees")
        if told is None or more is UNKNOWN or UNKNOWN in asked.values():
            continue
        # Its K, M, G and T are powers of 1024.
        requests = {key: _binary(str(value)) for key, value in asked.items() if value is not None} | dict(more or {})
        spec: dict[str, Any] = {
            "containers": [{"name": "notebook", "resources": {"requests": requests, "limits": dict(more or {})}}],
            "nodeSelector": _at(told, "node_selector") or _at(own, "nodeSelector") or {},
            "tolerations": _at(told, "tolerations") or _at(own, "extraTolerations") or [],
        }
        if isinstance(required, list) and required:
            terms = {"nodeSelectorTerms": required}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        path = f"values.singleuser.profileList[{number}]"
        yield Workload(
            resource=release,
            name=f"notebook {_at(entry, 'slug') or _at(entry, 'display_name') or number}",
            kind="Pod",
            namespace=namespace,
            labels=None,
            spec=spec,
            replicas=1,
            origin="chart",
            path=path,
            paths=dict.fromkeys((*_PLACING, "resources"), f"{path}.kubespawner_override"),
            only_values={},
        )


def _binary(quantity: str) -> str:
    return f"{quantity}i" if quantity[-1:] in tuple("KMGT") else quantity


def _configuration(add_on: RecordedResource) -> Any:
    given = bare(follow(add_on.inputs, "configurationValues"))
    if given is None:
        return {}
    if not isinstance(given, str):
        return UNKNOWN
    try:
        return json.loads(given)
    except ValueError:  # EKS takes YAML too; the schema of the add-on is what tells a mistake
        return UNKNOWN


def _made(
    kind: Kind, chart: str, resource: RecordedResource, release: str, namespace: str, values: Any
) -> Iterator[Workload]:
    for entry in table()[kind].get(chart, {"pods": ()})["pods"]:
        if "under" not in entry or ("when" in entry and _at(values, entry["when"]) is False):
            continue
        defaults, under = entry.get("defaults", {}), entry["under"]
        paths = {key: f"{under}.{key}" if under else key for key in (*_PLACING, "resources")} | entry.get("at", {})
        spec: dict[str, Any] = {}
        for key in _PLACING:
            found = merged(defaults.get(key), _at(values, paths[key]))
            if found is not None:
                spec[key] = found
        if "everywhere" in entry and _at(values, entry["everywhere"]) is not False:
            spec["tolerations"] = [{"operator": "Exists"}]
        on_host = entry.get("hostNetwork", False)
        if on_host is True or (on_host and _at(values, on_host) is True):
            spec["hostNetwork"] = True
        account = _account(entry, values, release)
        if account:
            spec["serviceAccountName"] = account
        spec["containers"] = list(
            _containers(entry, merged(defaults.get("resources"), _at(values, paths["resources"])))
        )
        prefix = "values." if kind == "charts" else "configurationValues."
        yield Workload(
            resource=resource,
            name=entry["name"],
            kind=entry.get("kind", "Deployment"),
            namespace=_namespace(entry, values, namespace),
            labels={key: str(value).replace("RELEASE", release) for key, value in entry.get("labels", {}).items()}
            or None,
            spec=spec,
            replicas=_replicas(entry, values),
            origin="chart" if kind == "charts" else "add-on",
            path="values" if kind == "charts" else "configurationValues",
            paths={key: (prefix + path if kind == "charts" else "configurationValues") for key, path in paths.items()},
            only_values=_only(entry, values),
            offers=tuple(entry.get("offers", ())),
            strategy=_strategy(entry, values),
            driver=entry.get("driver", ""),
        )


def _containers(entry: Mapping[str, Any], resources: Any) -> Iterator[dict[str, Any]]:
    ports = [{"name": name, "containerPort": number} for name, number in entry.get("ports", {}).items()]
    first: dict[str, Any] = {"name": entry["name"]}
    if ports:
        first["ports"] = ports
    if resources is not None:
        first["resources"] = resources
    yield first
    if "beside" in entry:
        yield {"name": "beside", "resources": {"requests": entry["beside"]}}


def _replicas(entry: Mapping[str, Any], values: Any) -> int | None:
    if entry.get("kind") == "DaemonSet":
        return None
    path, default = entry["replicas"]
    given = _at(values, path)
    number = as_number(default if given is None else given)
    return None if number is None else int(number)


def _strategy(entry: Mapping[str, Any], values: Any) -> Any:
    path, default = entry.get("strategy", ("", {}))
    return merged(default, _at(values, path))


def _account(entry: Mapping[str, Any], values: Any, release: str) -> str:
    path, default = entry.get("account", ("", ""))
    given = _at(values, path) if path else None
    if given is UNKNOWN:
        return ""
    return str(given or default).replace("RELEASE", release)


def _namespace(entry: Mapping[str, Any], values: Any, of_release: str) -> str:
    """That of the release, unless the chart names another or has a value for one."""
    given = _at(values, entry["namespace_at"]) if "namespace_at" in entry else None
    return given if isinstance(given, str) and given else str(entry.get("namespace", of_release))


def _only(entry: Mapping[str, Any], values: Any) -> dict[str, tuple[str, ...]]:
    """Node labels that a chart's affinity asks for, which it builds of lists of keys and values."""
    path = entry.get("only", "")
    keys, allowed = (_at(values, f"{path}.keys"), _at(values, f"{path}.values")) if path else (None, None)
    if not isinstance(keys, list) or not isinstance(allowed, list) or UNKNOWN in (*keys, *allowed):
        return {}
    return {str(key): tuple(map(str, allowed)) for key in keys}


def merged(default: Any, given: Any) -> Any:
    """A chart's default with what its values say, as Helm merges: mappings key by key, anything else as a whole."""
    if given is None:
        return default
    if not isinstance(default, Mapping) or not isinstance(given, Mapping):
        return given
    keys = dict.fromkeys((*default, *given))
    found = {key: merged(default.get(key), given[key]) if key in given else default[key] for key in keys}
    return {key: value for key, value in found.items() if not (key in given and given[key] is None)}


def _at(values: Any, path: str) -> Any:
    return follow(values, *path.split(".")) if path else None


def _text(resource: RecordedResource, key: str, default: str) -> str:
    found = bare(follow(resource.inputs, key))
    return found if isinstance(found, str) else default
