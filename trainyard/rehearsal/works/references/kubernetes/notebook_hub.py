"""What JupyterHub's chart is told of its notebooks: when they end, and what their server loads.

Sources: jupyterhub/zero-to-jupyterhub-k8s 4.4.0, values.yaml, `cull` (`every` is how often it looks, `timeout` and
`maxAge` are seconds); JupyterHub documentation, `JupyterHub.last_activity_interval` (300 s: activity is known no
finer); Jupyter Server, "Extensions" (`jpserver_extensions` names modules that are imported), 2026-11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from posixpath import basename, dirname
from typing import Any, Final

from trainyard.conventions.quantities import GIBIBYTE
from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.addresses import check_text
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_ACTIVITY_SECONDS: Final = 300
_SLIP: Final = 0.85
_START_SECONDS: Final = 60
_OF_ALL: Final = "values.singleuser"
_NUMBERS: Final = ("timeout", "maxAge", "every")


def check(cluster: Cluster) -> None:
    """Every release of the chart."""
    for release in cluster.releases:
        if (release.text("chart") or "").rstrip("/").rpartition("/")[2] == "jupyterhub":
            _ends(release)
            _extensions(release)
            _spawned(release, release.mapping("values.singleuser"), "values.singleuser")
            _sign_on(release, cluster)
            _disks(release, cluster)
            _kept(release)
            _devices(release)


def _kept(release: View) -> None:
    """A database in memory: the hub forgets its people and who has a notebook, each time that it starts."""
    if release.text("values.hub.db.type") == "sqlite-memory":
        # A hub of one workshop may well forget.
        release.warning(
            "reference-notebooks", "values.hub.db.type",
            "is sqlite-memory: a hub that starts again knows nobody, and notebooks that run are nobody's",
            allowed="sqlite-pvc, postgres or mysql",
        )  # fmt: skip


def _devices(release: View) -> None:
    """What nodes offer beside cores and memory is asked for by a limit, and no pod may ask for more than its limit."""
    places = [(_OF_ALL, "extraResource.guarantees", "extraResource.limits")]
    places += [
        (f"{path}.kubespawner_override", "extra_resource_guarantees", "extra_resource_limits")
        for path, _ in release.items("values.singleuser.profileList")
    ]
    for base, guaranteed, limited in places:
        # A profile that says nothing of limits has those of all notebooks.
        path = f"{base}.{limited}" if release.has(f"{base}.{limited}") else f"{_OF_ALL}.extraResource.limits"
        if has_unknown(release.value(path)) or release.is_unknown(path):
            continue
        limits = release.mapping(path)
        for name, amount in release.mapping(f"{base}.{guaranteed}").items():
            if "/" in name and quantity(amount) and quantity(limits.get(name)) != quantity(amount):
                release.error(
                    "reference-notebooks", f"{base}.{guaranteed}",
                    f"{name} is {show(amount)}, its limit {show(limits[name]) if name in limits else 'is missing'}: "
                    "the API server refuses every such notebook", allowed=f"{limited.rpartition('.')[2]} of the same",
                )  # fmt: skip


def _ends(release: View) -> None:
    start = as_number(release.value("values.singleuser.startTimeout"))
    if start is not None and 0 < start < _START_SECONDS:
        release.error(
            "reference-notebooks", "values.singleuser.startTimeout",
            f"is {start:g} s: an image of some gigabytes is not there in that time, and the notebook is given up",
            allowed="seconds, 300 by default",
        )  # fmt: skip
    if release.value("values.cull.enabled") is False:
        return
    timeout, oldest, every = (as_number(release.value(f"values.cull.{key}")) for key in _NUMBERS)
    if timeout is not None and 0 < timeout < _ACTIVITY_SECONDS:
        release.error(
            "reference-notebooks", "values.cull.timeout",
            f"is {timeout:g} s, and the hub knows of activity every {_ACTIVITY_SECONDS} s: notebooks end while people "
            "work in them", allowed=f"seconds, {_ACTIVITY_SECONDS} or more",
        )  # fmt: skip
    if oldest and timeout is not None and oldest < timeout:
        release.error(
            "reference-notebooks", "values.cull.maxAge",
            f"is {oldest:g} s, less than timeout ({timeout:g} s): every notebook ends before it can be idle",
            allowed=f"seconds, {timeout:g} or more, or 0",
        )  # fmt: skip
    if every is not None and timeout is not None and every > timeout >= _ACTIVITY_SECONDS:
        release.warning(
            "reference-notebooks", "values.cull.every",
            f"is {every:g} s, more than timeout ({timeout:g} s): idle notebooks stay as long as that",
            allowed=f"seconds, {timeout:g} or less",
        )  # fmt: skip


_BYTES: Final = re.compile(r"\d+(\.\d+)?[KMGT]?")
_PAIRS: Final = (("memory", "mem_guarantee", "mem_limit"), ("cores", "cpu_guarantee", "cpu_limit"))
_SIZES: Final = ("mem_limit", "mem_guarantee")


def _spawned(release: View, value: Any, path: str) -> None:
    """Sizes as the spawner reads them: K, M, G and T, and nothing behind (JupyterHub, ByteSpecification)."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            _spawned(release, one, f"{path}[{index}]")
        return
    for kind, least, most in _PAIRS if isinstance(value, Mapping) else ():
        low, high = quantity(value.get(least)), quantity(value.get(most))
        if low is not None and high and high < low:
            release.error(
                "reference-notebooks", f"{path}.{most}",
                f"is {show(value[most])}, and {show(value[least])} of {kind} are guaranteed: the API server refuses "
                "each such notebook", allowed=f"{value[least]} or more",
            )  # fmt: skip
    for key, one in value.items() if isinstance(value, Mapping) else ():
        is_memory = path == "values.singleuser.memory" and key in ("limit", "guarantee")
        if (key in _SIZES or is_memory) and isinstance(one, str) and not _BYTES.fullmatch(one):
            release.error(
                "reference-notebooks", f"{path}.{key}",
                f"got {show(one)}, which the spawner does not read: no notebook starts",
                allowed="a number with K, M, G or T, which are powers of 1024: 8G",
            )  # fmt: skip
        elif isinstance(one, (Mapping, list)) and key != "extraFiles":
            _spawned(release, one, f"{path}.{key}")


_CALLBACK: Final = "/hub/oauth_callback"
_OAUTH: Final = frozenset({
    "client_id", "client_secret", "oauth_callback_url", "authorize_url", "token_url", "userdata_url", "scope",
    "extra_authorize_params", "userdata_params", "token_params", "login_service", "http_request_kwargs",
    "validate_server_cert", "userdata_token_method", "userdata_from_id_token", "basic_auth", "enable_pkce",
    "logout_redirect_url", "username_claim", "username_pattern", "username_map", "claim_groups_key",
    "auth_state_groups_key", "manage_groups", "modify_auth_state_hook", "allow_all", "allow_existing_users",
    "allowed_users", "admin_users", "blocked_users", "allowed_groups", "admin_groups", "auto_login",
    "enable_auth_state", "refresh_pre_spawn", "auth_refresh_age", "delete_invalid_users", "any_allow_config",
})  # fmt: skip
_AUTHENTICATORS: Final = {
    "GitHubOAuthenticator": _OAUTH | {
        "github_url", "github_api", "github_client_id", "github_client_secret", "allowed_organizations",
        "populate_teams_in_auth_state",
    },
    "GenericOAuthenticator": _OAUTH | {"tls_verify"},
    "GoogleOAuthenticator": _OAUTH | {"hosted_domain", "allowed_google_groups", "admin_google_groups"},
}  # fmt: skip
"""What authenticators are told (OAuthenticator 17, "API Reference"); of one that is not known only a slip is told."""


def _sign_on(release: View, cluster: Cluster) -> None:
    """What nobody reads of an authenticator's settings, and where people come back to from their provider."""
    for name, known in _AUTHENTICATORS.items():
        path = f"values.hub.config.{name}"
        given = release.mapping(path)
        for key in given:
            hint = nearest(key, known, cutoff=_SLIP) if key not in known else ""
            if hint:
                release.error(
                    "reference-notebooks", f"{path}.{key}", f"{name} reads no {show(key)}: nobody is let in by it",
                    hint=hint,
                )  # fmt: skip
        asked = given.get("http_request_kwargs")
        if isinstance(asked, Mapping) and {"proxy_host", "proxy_port"} <= set(asked):
            text = f"http://{asked['proxy_host']}:{as_number(asked['proxy_port']) or 0:g}"
            check_text(release, f"{path}.http_request_kwargs.proxy_port", text, cluster)
        address = given.get("oauth_callback_url")
        if isinstance(address, str) and not address.rstrip("/").endswith(_CALLBACK):
            release.error(
                "reference-notebooks", f"{path}.oauth_callback_url",
                f"got {show(address)}: the hub answers there at {_CALLBACK} alone, and nobody gets in",
                allowed=f"an address that ends with {_CALLBACK}",
            )  # fmt: skip


def _disks(release: View, cluster: Cluster) -> None:
    """The quota of the notebooks' namespace holds the hub's disk and those of as many people as it has claims for."""
    size = quantity(release.value("values.singleuser.storage.capacity") or "10Gi")
    hub = quantity(release.value("values.hub.db.pvc.storage") or "1Gi")
    namespace = release.text("namespace")
    if size is None or hub is None or release.text("values.singleuser.storage.type") == "none":
        return
    for quota in cluster.of("ResourceQuota"):
        if quota.text("metadata.namespace") != namespace or quota.has("spec.scopeSelector"):
            continue
        hard = quota.mapping("spec.hard")
        room, claims = quantity(hard.get("requests.storage")), quantity(hard.get("persistentvolumeclaims"))
        people = (claims - 1) if claims is not None and cluster.stack.context.ours else 1
        if room is not None and room < hub + people * size:
            # A hub may keep its database elsewhere, and homes in a share that is there already.
            quota.warning(
                "reference-quota", "spec.hard",
                f"{hard['requests.storage']} hold the hub's disk and {max(0, int((room - hub) // size))} of people's: "
                "the notebooks of others never start", allowed=f"{(hub + people * size) / GIBIBYTE:g}Gi or more",
            )  # fmt: skip


def _extensions(release: View) -> None:
    """An extension that a file enables, and the module beside it that nothing enables."""
    folders = set(str(release.value("values.singleuser.extraEnv.PYTHONPATH")).split(":"))
    files = [
        (f"values.singleuser.extraFiles.{name}", one)
        for name, one in release.mapping("values.singleuser.extraFiles").items()
        if isinstance(one, Mapping) and isinstance(one.get("mountPath"), str)
    ]
    modules = {
        basename(one["mountPath"]).removesuffix(".py"): path
        for path, one in files
        if dirname(one["mountPath"]) in folders and one["mountPath"].endswith(".py")
    }
    enabled = {name: path for path, one in files for name in _enabled(one)}
    unloaded = sorted(set(modules) - set(enabled))
    for name, path in enabled.items():
        if modules and name not in modules and "." not in name and len(unloaded) == len(modules) == 1:
            release.error(
                "reference-notebooks", f"{path}.stringData",
                f"has the server load {show(name)}, and the module that is mounted for it is {show(unloaded[0])}: "
                "nothing of it runs", allowed=unloaded[0],
            )  # fmt: skip


def _enabled(file: Mapping[str, Any]) -> Iterator[str]:
    text = file.get("stringData")
    try:
        told = json.loads(text) if isinstance(text, str) and text.lstrip().startswith("{") else file.get("data")
    except ValueError:
        return
    server = told.get("ServerApp") if isinstance(told, Mapping) else None
    found = server.get("jpserver_extensions") if isinstance(server, Mapping) else None
    for name, is_on in found.items() if isinstance(found, Mapping) else ():
        if is_on is True:
            yield str(name)
