"""What surrounds a program in its container: where Python looks, what a proxy is asked for, its image and interfaces.

Sources: Python documentation, "Command line", `-m` and `PYTHONPATH`; the conventions of `no_proxy` as curl, requests
and Go read them; tags of AWS Deep Learning Containers ("available_images.md"), as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from trainyard.problems import count, nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.programs.kubernetes.proxied import configurations, stores
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod, place
from trainyard.rehearsal.works.references.kubernetes.keys import keys_of

_PROXY: Final = re.compile(r"https://(?P<name>[a-z0-9-]+)\.(?P<space>[a-z0-9-]+)\.svc\b")
_PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")
_INSIDE: Final = (".svc", ".svc.cluster.local")
_WITHOUT_GPU: Final = re.compile(
    r"deep-learning-containers/[\w-]+:[\w.]+-cpu-|[\w/-]*(?:pytorch|tensorflow)[\w/-]*:[\w.-]*\bcpu\b"
)


def check(cluster: Cluster) -> None:
    """Every container of the stack."""
    for pod in cluster.pods:
        for container in pod.containers:
            env = _env(container)
            if env is None:
                continue
            _module(pod, container, env, cluster)
            _proxy(pod, container, env, cluster)
            _image(pod, container)
            _interface(pod, container, env)
    for view in cluster.of("ConfigMap"):
        data = view.mapping("data")
        if any(key.upper() == "HTTPS_PROXY" for key in data):
            texts = {key: (f"data.{key}", text) for key, text in data.items() if isinstance(text, str)}
            _direct(view, texts)
            _spoken(view, texts, cluster)
            stores(view, texts, place(view), cluster)


def _env(container: Container) -> dict[str, tuple[int, str]] | None:
    """What is told by value, with its place; None where something is not known."""
    found: dict[str, tuple[int, str]] = {}
    given = container.body.get("env")
    if given is UNKNOWN or UNKNOWN in listed(given):
        return None
    for index, one in enumerate(listed(given)):
        if isinstance(one, Mapping) and isinstance(one.get("value"), str):
            found[str(one.get("name"))] = index, one["value"]
    return found


def _module(pod: Pod, container: Container, env: Mapping[str, tuple[int, str]], cluster: Cluster) -> None:
    """A module that is run from mounted config maps lies where Python looks."""
    _run(pod, container, env, cluster, listed(container.body.get("command")), "command")
    for probe in _PROBES:
        words = listed(follow(container.body, probe, "exec", "command"))
        _run(pod, container, env, cluster, words, f"{probe}.exec.command")


def _run(
    pod: Pod, container: Container, env: Mapping[str, tuple[int, str]], cluster: Cluster, words: list[Any], key: str
) -> None:
    if len(words) < 3 or words[1] != "-m" or not re.fullmatch(r"python[\d.]*", str(words[0]).rpartition("/")[2]):
        return
    package = str(words[2]).partition(".")[0]
    if package == words[2] or env.get("PYTHONPATH") is None:
        return
    mounted = list(_mounted(pod, container, cluster))
    index, given = env["PYTHONPATH"]
    roots = {PurePosixPath(one) for one in [*given.split(":"), str(container.body.get("workingDir") or "/")] if one}
    # A folder of settings may be called as the package of the image that reads them.
    own = [
        path
        for path, names in mounted
        if path.name == package and (names is None or any(name.endswith(".py") for name in names))
    ]
    if own and not any(path.parent in roots for path in own):
        pod.view.error(
            "programs-module",
            f"{container.path}.env[{index}].value",
            f"Python looks for {words[2]} in {given}, and {package} is mounted at {own[0]}: the program does not start",
            allowed=str(own[0].parent),
        )
    for path, names in mounted:
        name = str(words[2]).partition(".")[2]
        if path.name == package and path.parent in roots and names is not None and f"{name}.py" not in names:
            modules = [one.removesuffix(".py") for one in names if one.endswith(".py")]
            pod.view.error(
                "programs-module",
                f"{container.path}.{key}[2]",
                f"{path} has no module {show(name)}: the program does not start",
                hint=nearest(name, modules),
            )


def _mounted(pod: Pod, container: Container, cluster: Cluster) -> Iterator[tuple[PurePosixPath, set[str] | None]]:
    """Folders of config maps, and the names of their files where they are known."""
    volumes = {str(one.get("name")): one for _, one in pod.view.items(f"{pod.path}.volumes")}
    for mount in listed(container.body.get("volumeMounts")):
        source: Any = follow(mount, "name") if isinstance(mount, Mapping) else None
        held = volumes.get(str(source), {}).get("configMap")
        if not isinstance(held, Mapping) or not isinstance(mount.get("mountPath"), str) or mount.get("subPath"):
            continue
        view = (
            cluster.find("ConfigMap", pod.namespace or "", str(held.get("name"))) if pod.namespace is not None else None
        )
        names = keys_of(view) if view is not None and not held.get("items") else None
        yield PurePosixPath(mount["mountPath"]), set(names) if names is not None else None


def _is_plain(service: View, cluster: Cluster) -> bool:
    """Whether the pods of a service mount a configuration of Squid without TLS of its own."""
    return any("https_port " not in text for text in configurations(service, cluster))


def _direct(view: View, env: Mapping[str, tuple[str, str]]) -> None:
    """What asks a proxy within the cluster asks the cluster's other services directly."""
    for proxy, without in (("HTTPS_PROXY", "NO_PROXY"), ("https_proxy", "no_proxy")):
        if proxy not in env or ".svc" not in env[proxy][1]:
            continue
        path, given = env.get(without, (env[proxy][0], ""))
        parts = [one.strip() for one in given.split(",")]  # `*.svc` is read by Go alone, not by Python and curl
        if "*" not in given.split(",") and not any(
            one.lstrip(".") in ("svc", "svc.cluster.local", "cluster.local") for one in parts
        ):
            tell = view.warning if any(one.startswith("*.") for one in parts) else view.error
            tell(
                "programs-proxy",
                path,
                f"{without} leaves out services of the cluster: the proxy is asked for them, and it leads outside only",
                allowed=", ".join(_INSIDE),
            )


def _spoken(view: View, env: Mapping[str, tuple[str, str]], cluster: Cluster) -> None:
    """A proxy without TLS of its own is asked without."""
    for proxy in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        path, given = env.get(proxy, ("", ""))
        found = _PROXY.match(given)
        service = cluster.find("Service", found["space"], found["name"]) if found is not None else None
        if service is not None and _is_plain(service, cluster):
            view.error(
                "programs-proxy", path,
                f"{proxy} asks with TLS, and Squid has an http_port alone there: no request "
                "gets there", allowed=f"http:{given.partition(':')[2]}",
            )  # fmt: skip


def _proxy(pod: Pod, container: Container, env: Mapping[str, tuple[int, str]], cluster: Cluster) -> None:
    """Behind a proxy of the cluster's own, services of the cluster are asked directly, in both spellings alike."""
    texts = {name: (f"{container.path}.env[{index}].value", text) for name, (index, text) in env.items()}
    _direct(pod.view, texts)
    _spoken(pod.view, texts, cluster)
    stores(pod.view, texts, pod.namespace, cluster)
    upper, lower = env.get("HTTPS_PROXY"), env.get("https_proxy")
    if upper is not None and lower is not None and upper[1] != lower[1]:
        pod.view.error(
            "programs-proxy", f"{container.path}.env[{lower[0]}].value",
            f"https_proxy is {show(lower[1])} and HTTPS_PROXY {show(upper[1])}: programs read either", allowed=upper[1],
        )  # fmt: skip


def _image(pod: Pod, container: Container) -> None:
    image = container.body.get("image")
    limits = follow(container.body, "resources", "limits")
    gpus = quantity(limits.get("nvidia.com/gpu")) if isinstance(limits, Mapping) else None
    if isinstance(image, str) and gpus and _WITHOUT_GPU.search(image):
        pod.view.error(
            "programs-image",
            f"{container.path}.image",
            f"has no CUDA, and the container asks for {count(gpus, 'GPU')}: the program sees none",
            allowed="the image of the same version for GPUs",
        )


def _interface(pod: Pod, container: Container, env: Mapping[str, tuple[int, str]]) -> None:
    """A pod with a network of its own has one interface: eth0 (of more, its annotations say)."""
    outer = pod.path.removesuffix("spec")
    if pod.spec.get("hostNetwork") or pod.view.has(f"{outer}metadata.annotations") or pod.labels is None:
        return
    for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"):
        index, given = env.get(name, (0, ""))
        words = [word.lstrip("=") for word in given.split(",")]
        if given and not given.startswith("^") and not any(word and "eth0".startswith(word) for word in words):
            pod.view.error(
                "programs-interface", f"{container.path}.env[{index}].value",
                f"{name} is {show(given)}, and the pod has eth0 alone: ranks find no interface", allowed="eth0",
            )  # fmt: skip
