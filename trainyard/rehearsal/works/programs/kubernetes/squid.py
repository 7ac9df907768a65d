"""Squid's configuration: directives that it knows, and lists that are defined before they are asked.

Source: squid-cache/squid `src/cf.data.pre` (the directives, `works/inventories/squid.json`) and "Squid configuration
directives", `acl` (2026-11). With a directive that it does not know, or a list that is not defined, Squid ends:
"Bungled line", "ACL not found".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_LISTS: Final = frozenset(
    {
        "all", "manager", "localhost", "to_localhost", "to_linklocal", "CONNECT",
    }
)  # fmt: skip
"""Lists that Squid defines itself (since 3.2; the last two since 6)."""
_ASKS: Final = frozenset(
    {
        "http_access", "http_reply_access", "icp_access", "htcp_access", "cache", "miss_access", "always_direct",
        "never_direct", "adapted_http_access", "ssl_bump", "snmp_access", "send_hit", "store_miss",
        "url_rewrite_access", "tcp_outgoing_address", "delay_access", "cache_peer_access",
    }
)  # fmt: skip
"""Directives whose words are lists, but for what they do first."""
_VERBS: Final = frozenset({"allow", "deny", "peek", "splice", "stare", "bump", "terminate"})
_KINDS: Final = frozenset(
    {
        "src", "dst", "localip", "arp", "eui64", "srcdomain", "dstdomain", "srcdom_regex", "dstdom_regex", "src_as",
        "dst_as", "peername", "time", "url_regex", "urllogin", "urlpath_regex", "port", "localport", "myport",
        "myportname", "proto", "method", "http_status", "browser", "referer_regex", "ident", "ident_regex",
        "proxy_auth", "proxy_auth_regex", "snmp_community", "maxconn", "max_user_ip", "random", "req_mime_type",
        "req_header", "rep_mime_type", "rep_header", "external", "user_cert", "ca_cert", "ext_user", "ext_user_regex",
        "tag", "hier_code", "note", "annotate_transaction", "annotate_client", "adaptation_service",
        "transaction_initiator", "has", "at_step", "any-of", "all-of", "on_unsupported_protocol", "ssl_error",
        "server_cert_fingerprint", "ssl::server_name", "ssl::server_name_regex", "connections_encrypted",
        "clientside_mark", "client_connection_mark", "client_port", "server_port",
    }
)  # fmt: skip
_TOGETHER: Final = (
    ("pypi.org", ("files.pythonhosted.org",)),
    ("files.pythonhosted.org", ("pypi.org",)),
    ("huggingface.co", ("cas-bridge.xethub.hf.co", "cdn-lfs.hf.co", "cdn-lfs.huggingface.co")),
    ("registry-1.docker.io", ("auth.docker.io",)),
    ("download.pytorch.org", ("download-r2.pytorch.org",)),
)  # fmt: skip
"""A host, and those of which the same client asks one next: pip reads an index and fetches files elsewhere, Hugging
Face's files lie behind its storage, a registry hands out tokens elsewhere (each project's documentation, 2026-11)."""
_PATHS: Final = re.compile(r"squid[\w.-]*\.conf$|^squid\.conf")


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    found: Mapping[str, Any] = json.loads(
        files("trainyard.rehearsal.works.inventories").joinpath("squid.json").read_text()
    )
    return frozenset(found["directives"]), frozenset(found["gone"])


def check(cluster: Cluster) -> None:
    """Every configuration of Squid that a config map holds."""
    for view in cluster.of("ConfigMap"):
        for key, text in view.mapping("data").items():
            if isinstance(text, str) and _PATHS.search(str(key)):
                _read(view, f"data.{key}", text)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    number, held = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        held += line.split(" #")[0] if not line.lstrip().startswith("#") else ""
        if held.endswith("\\"):
            held = held[:-1] + " "
            continue
        if held.split():
            yield number, held.split()
        held = ""


def _read(view: View, path: str, text: str) -> None:
    directives, gone = _known()
    lines = list(_lines(text))
    if any(words[0] == "include" for _, words in lines):
        return
    lists = set(_LISTS)
    for number, words in lines:
        name, where = words[0], f"line {number}: "
        if name in ("if", "else", "endif"):
            continue
        if name in gone:
            view.warning("programs-squid", path, f"{where}{name} is a directive of the past: Squid leaves it out")
        elif name not in directives:
            view.error(
                "programs-squid", path, f"{where}Squid has no directive {show(name)}, and ends",
                hint=nearest(name, directives),
            )  # fmt: skip
        elif name == "acl" and len(words) > 2:
            lists.add(words[1])
            if words[2] not in _KINDS:
                view.error(
                    "programs-squid", path, f"{where}there is no kind of list {show(words[2])}, and Squid ends",
                    hint=nearest(words[2], _KINDS),
                )  # fmt: skip
        elif name in _ASKS:
            asked = [word.removeprefix("!") for word in words[1:]]
            if (
                name in ("http_access", "http_reply_access", "cache", "miss_access")
                and asked[:1]
                and asked[0] not in _VERBS
            ):
                view.error("programs-squid", path, f"{where}{name} {show(asked[0])}", allowed="allow or deny")
            first = 1 if asked[:1] and asked[0] in _VERBS else 2
            for word in asked[first:] if name in ("http_access", "http_reply_access", "cache", "miss_access") else ():
                if word not in lists:
                    view.error(
                        "programs-squid", path, f"{where}no list {show(word)} is defined above: Squid ends",
                        allowed=f"one of {', '.join(sorted(lists))}", hint=nearest(word, lists),
                    )  # fmt: skip
    _shadowed(view, path, lines)
    _names(view, path, lines)


def _names(view: View, path: str, lines: list[tuple[int, list[str]]]) -> None:
    """Names as Squid compares them: with a dot before it, a name and all below; no star, no scheme, no port."""
    allowed: set[str] = set()
    for number, words in lines:
        if words[:1] != ["acl"] or words[2:3] != ["dstdomain"]:
            continue
        for name in words[3:]:
            if name.startswith(("-", '"')):
                continue
            allowed.add(name)
            if re.fullmatch(r"\.?[\w-]+(\.[\w-]+)*|[\d.]+|\[[0-9a-fA-F:]+\]", name) is None:
                bare = re.sub(r"^[a-z]+://|^\*|[:/].*$", "", re.sub(r"^[a-z]+://", "", name))
                view.error(
                    "programs-squid", path,
                    f"line {number}: {show(name)} is compared as it stands, and no host is called so",
                    allowed=f"{bare}: a dot before it stands for all below" if bare else "a host's name",
                )  # fmt: skip
    for part, needs in _TOGETHER:
        if allowed and _lets(allowed, part) and not any(_lets(allowed, need) for need in needs):
            view.warning(
                "programs-squid", path,
                f"lets {part} by and not {needs[0]}, which the same programs ask next: they fail half way",
                allowed=f"{needs[0]} too",
            )  # fmt: skip


def _in_ports(port: int, text: str) -> bool:
    for part in text.split():
        low, _, high = part.partition("-")
        if low.isdigit() and int(low) <= port <= int(high if high.isdigit() else low):
            return True
    return not re.fullmatch(r"[\d\s-]+", text)  # of a file, or nothing that is understood


def _lets(allowed: set[str], host: str) -> bool:
    return any(host == name or (name.startswith(".") and f".{host}".endswith(name)) for name in allowed)


def lets_by(text: str, host: str) -> bool | None:
    """Whether a configuration lets requests for a host by; None where something else than its name decides."""
    lines = [words for _, words in _lines(text)]
    if any(words[0] == "include" for words in lines):
        return None
    names: dict[str, set[str]] = {}
    others = set()
    for words in lines:
        if words[0] == "acl" and words[2:3] == ["dstdomain"] and not any(one.startswith('"') for one in words[3:]):
            names.setdefault(words[1], set()).update(one for one in words[3:] if not one.startswith("-"))
        elif words[0] == "acl" and len(words) > 1:
            others.add(words[1])
    for words in lines:
        if words[0] != "http_access" or len(words) < 3:
            continue
        asked = [_meets(word, host, names, others) for word in words[2:]]
        if words[1] == "allow" and False not in asked:
            return True if None not in asked else None
        if words[1] == "deny" and all(asked):
            return False
    return None


def _meets(word: str, host: str, names: Mapping[str, set[str]], others: Collection[str]) -> bool | None:
    """Whether a request for a host is of a list; None where its name does not say."""
    name = word.removeprefix("!")
    found = True if name == "all" else None if name in others or name not in names else _lets(names[name], host)
    return found if name == word or found is None else not found


def _shadowed(view: View, path: str, lines: list[tuple[int, list[str]]]) -> None:
    """A rule for all that stands before others: they are never asked."""
    rules = [(number, words) for number, words in lines if words[0] == "http_access"]
    for index, (number, words) in enumerate(rules[:-1]):
        if words[2:] == ["all"]:
            view.error(
                "programs-squid",
                path,
                f"line {number}: {' '.join(words)} ends the asking: the {len(rules) - index - 1} rules below are never "
                "reached",
                allowed="as the last http_access",
            )
            return
    ports: dict[str, str] = {}
    for _, words in lines:
        if words[0] == "acl" and words[2:3] == ["port"]:  # several lines of one name are one list
            ports[words[1]] = " ".join([*ports.get(words[1], "").split(), *words[3:]])
    others = [words[2] for _, words in rules if words[1] == "deny" and len(words) == 3]
    for name in (one[1:] for one in others if one.startswith("!") and one[1:] in ports):
        if not any(_in_ports(port, ports[name]) for port in (80, 443)):
            view.error(
                "programs-squid", path,
                f"lets requests to no port but {ports[name]} by: what programs ask of the outside is at 443",
                allowed="443 among them",
            )  # fmt: skip
    # Without a list of names to let by, a proxy that refuses all is meant so, as in a network without a way out.
    names = any(words[0] == "acl" and words[2:3] == ["dstdomain"] for _, words in lines)
    if rules and names and not any(words[1:2] == ["allow"] for _, words in rules):
        view.error("programs-squid", path, "no http_access allows anything: every request is refused")
