"""nginx as a proxy: a configuration that it reads, upstreams that are defined, and servers asked as they speak.

Source: nginx documentation, "Configuration file's structure" (a directive ends with `;`), `upstream`, `proxy_pass`
and `resolver` (a name is looked up once, at the start, and where it is unknown nginx ends), 2026-11. Only what is
mounted is read: a file may include others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.programs.kubernetes.listening import configurations
from trainyard.rehearsal.works.programs.kubernetes.schemes import spoken
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_TOKEN: Final = re.compile(r"""#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{};]|(?:\$\{\w+\}|[^\s{};"'])+""")
_OF_LUA: Final = "_by_lua_block"
"""What opens a block of OpenResty's that is a program in Lua, and not made of directives."""
_OF_NGINX: Final = re.compile(r"(?:^|[\s/\"'\[])(?:nginx|openresty)\b")
_PASS: Final = re.compile(r"(?P<scheme>https?|grpcs?)://(?P<host>[\w.-]+)(?::(?P<port>\d+))?(?:/.*)?")
_SERVICE: Final = re.compile(r"(?P<name>[a-z0-9-]+)\.(?P<space>[a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?")
_PASSES: Final = frozenset({"proxy_pass", "grpc_pass"})


class _Read:
    """What a configuration says."""

    def __init__(self) -> None:
        self.wrong = ""
        self.upstreams: dict[str, list[str]] = {}
        self.passes: list[str] = []
        self.includes = False


def check(cluster: Cluster) -> None:
    """Every container of nginx whose configuration is a recorded config map."""
    told: set[tuple[str, str]] = set()
    for pod in cluster.pods:
        for container in pod.containers:
            words = f"{container.body.get('image')} {container.body.get('command')} {container.body.get('args')}"
            if not _OF_NGINX.search(words):
                continue
            found = [
                (view, path, _read(text))
                for view, path, text in configurations(pod, container, cluster)
                if path.endswith((".conf", ".template"))
                and _OF_LUA not in text
                and re.search(r"\b(?:server|location|upstream)\b[^;]*\{", text)
            ]
            upstreams = {name: one for _, _, read in found for name, one in read.upstreams.items()}
            includes = any(read.includes for _, _, read in found)
            for view, path, read in found:
                if (view.resource.urn, path) not in told:
                    told.add((view.resource.urn, path))
                    _judge(view, path, read, upstreams, pod, cluster, includes=includes)


def _judge(
    view: View, path: str, read: _Read, upstreams: dict[str, list[str]], pod: Pod, cluster: Cluster, *, includes: bool
) -> None:
    if read.wrong:
        view.error("programs-nginx", path, f"{read.wrong}: nginx does not start", allowed="name value;")
        return
    speaks = spoken(cluster)
    for where in read.passes:
        found = _PASS.fullmatch(where)
        if found is None or "$" in where:
            continue
        host, scheme = found["host"], found["scheme"]
        servers = upstreams.get(host, [f"{host}:{found['port'] or (443 if scheme.endswith('s') else 80)}"])
        if (
            host not in upstreams
            and "." not in host
            and host != "localhost"
            and not includes
            and pod.namespace is not None
        ):
            hint = cluster.lacks("Service", pod.namespace, host) if not found["port"] or upstreams else None
            if hint is not None:
                view.error(
                    "programs-nginx", path, f"passes on to {show(host)}, which is no upstream of it and no Service of "
                    f"namespace {pod.namespace}: nginx does not start",
                    allowed=f"one of {', '.join(sorted(upstreams))}" if upstreams else "",
                    hint=nearest(host, upstreams) or hint,
                )  # fmt: skip
        for server in servers if scheme in ("http", "https") else ():
            name, _, port = server.partition(":")
            service = _SERVICE.fullmatch(name)
            if service is None or not port.isdigit():
                continue
            wanted = speaks.get((service["space"], service["name"], int(port)))
            if wanted is not None and wanted != scheme and host in upstreams:
                view.error(
                    "programs-nginx", path, f"asks {server} by {scheme}, and its pods speak {wanted} there",
                    allowed=f"{wanted}://{host}",
                )  # fmt: skip


def _read(text: str) -> _Read:
    read, opened, words = _Read(), list[str](), list[str]()
    for word in _words(text):
        if word == "{":
            opened.append(words[0] if words else "")
            if words[:1] == ["upstream"] and len(words) > 1:
                read.upstreams[words[1]] = []
                opened[-1] = f"upstream {words[1]}"
            words = []
        elif word == "}":
            if words:
                read.wrong = read.wrong or f"{show(' '.join(words)[:60])} does not end with ';'"
            if not opened:
                read.wrong = read.wrong or "has a } too many"
                return read
            opened.pop()
            words = []
        elif word == ";":
            _directive(read, opened, words)
            words = []
        else:
            if (
                words
                and word in _PASSES | {"listen", "server_name", "root", "location", "proxy_set_header"}
                and _ends(words)
            ):
                read.wrong = read.wrong or f"{show(' '.join(words)[:60])} does not end with ';'"
            words.append(word)
    if opened:
        read.wrong = read.wrong or f"does not close {opened[-1] or 'a block'}"
    return read


def _ends(words: list[str]) -> bool:
    """Whether what stands before a directive's name is a directive of its own."""
    return (
        words[0] in _PASSES | {"listen", "server_name", "root", "proxy_set_header", "worker_processes"}
        and len(words) > 1
    )


def _directive(read: _Read, opened: list[str], words: list[str]) -> None:
    if not words:
        return
    if words[0] in _PASSES and len(words) > 1:
        read.passes.append(words[1].strip("\"'"))
    elif words[0] == "include":
        read.includes = read.includes or "mime.types" not in words[-1]
    elif words[0] == "server" and opened and opened[-1].startswith("upstream ") and len(words) > 1:
        read.upstreams[opened[-1].removeprefix("upstream ")].append(words[1])


def _words(text: str) -> Iterator[str]:
    for found in _TOKEN.finditer(text):
        if not found[0].startswith("#"):
            yield found[0]
