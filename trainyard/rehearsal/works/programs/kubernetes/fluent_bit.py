"""Fluent Bit's configuration: sections, plugins and options that it knows, and what each output cannot do without.

Source: fluent/fluent-bit (`works/inventories/fluent_bit.json`: the plugins' own `FLB_CONFIG_MAP` and
`include/fluent-bit/flb_config.h`), and its manual, "Configuration file" and "Multiline parsing" (2026-11). With an
option that a plugin does not know Fluent Bit ends: "unknown configuration property".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_SECTIONS: Final = frozenset(
    {
        "SERVICE",
        "INPUT",
        "FILTER",
        "OUTPUT",
        "PARSER",
        "MULTILINE_PARSER",
        "PLUGINS",
        "CUSTOM",
        "UPSTREAM",
        "NODE",
        "STREAM_TASK",
    }
)
_OF_ALL: Final = {
    "INPUT": frozenset(
        {
            "name", "tag", "alias", "mem_buf_limit", "storage.type", "storage.pause_on_chunks_overlimit", "threaded",
            "routable", "log_level", "log_suppress_interval", "host", "port", "listen", "processors",
            "mem_buf_limit_type", "tls", "tls.verify", "net.dns.mode", "thread.ring_buffer.capacity",
        }
    ),
    "OUTPUT": frozenset(
        {
            "name", "match", "match_regex", "alias", "retry_limit", "workers", "host", "port", "ipv6", "tls",
            "tls.verify", "tls.debug", "tls.ca_file", "tls.ca_path", "tls.crt_file", "tls.key_file", "tls.key_passwd",
            "tls.vhost", "log_level", "log_suppress_interval", "storage.total_limit_size", "no_multiplex",
        }
    ),
    "FILTER": frozenset({"name", "match", "match_regex", "alias", "log_level", "log_suppress_interval"}),
}  # fmt: skip
_SPACES: Final = re.compile(r"/containers/\*_([a-z0-9-]+)_\*")
"""The namespace in a pattern of logs: the kubelet calls them POD_NAMESPACE_CONTAINER-ID.log."""
_NEEDS: Final = {
    "tail": (("path",),),
    "cloudwatch_logs": (("region",), ("log_group_name",), ("log_stream_name", "log_stream_prefix")),
    "s3": (("bucket",), ("region",)),
}
"""Options without which a plugin does not start, each with its alternatives."""
_MULTILINE: Final = frozenset({"docker", "cri", "java", "go", "ruby", "python"})
"""Parsers of several lines that are built in."""
_OF_AMAZON: Final = ("cloudwatch", "firehose", "kinesis")
"""Outputs of aws-for-fluent-bit beside Fluent Bit's own (its README)."""
_FREE: Final = ("net.", "storage.", "aws.", "tls.")
_SERVICE: Final = frozenset({"storage.path", "storage.sync", "storage.checksum", "storage.metrics", "flush", "grace"})


@dataclass(frozen=True, slots=True)
class Section:
    """A section, with where it begins."""

    title: str
    line: int
    keys: dict[str, str] = field(default_factory=dict)  # names in small letters


@cache
def _known() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(
        files("trainyard.rehearsal.works.inventories").joinpath("fluent_bit.json").read_text()
    )
    return found


def check(cluster: Cluster) -> None:
    """Every configuration of Fluent Bit in its classic form that a config map holds."""
    for view in cluster.of("ConfigMap"):
        for key, text in view.mapping("data").items():
            if isinstance(text, str) and is_configuration(text):
                _read(view, f"data.{key}", text)
                _tailed(view, f"data.{key}", text, cluster)


def is_configuration(text: str) -> bool:
    """Whether a text is a configuration of Fluent Bit in its classic form."""
    named = "[SERVICE]" in text or "[OUTPUT]" in text  # most texts are not, and some are long
    return named and re.search(r"^\s*\[SERVICE\]|^\s*\[OUTPUT\]", text, re.MULTILINE) is not None


def sections_of(text: str) -> Iterator[Section]:
    """The sections of a configuration in its classic form."""
    section = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.startswith(("#", "@")):
            continue
        found = re.fullmatch(r"\[([A-Za-z_]+)\]", words)
        if found is not None:
            if section is not None:
                yield section
            section = Section(found[1].upper(), number)
        elif section is not None:
            key, _, value = words.partition(" ")
            section.keys[key.lower()] = value.strip()
    if section is not None:
        yield section


def _read(view: View, path: str, text: str) -> None:
    is_whole = "@INCLUDE" not in text
    sections = list(sections_of(text))
    parsers = {one.keys.get("name") for one in sections if one.title in ("PARSER", "MULTILINE_PARSER")}
    files_of_parsers = any("parsers_file" in one.keys for one in sections) or not is_whole
    for section in sections:
        where = f"line {section.line}: "
        if section.title not in _SECTIONS:
            view.error(
                "programs-fluent-bit", path, f"{where}there is no section {show(section.title)}, and Fluent Bit ends",
                allowed=f"one of {', '.join(sorted(_SECTIONS))}", hint=nearest(section.title, _SECTIONS),
            )  # fmt: skip
        elif section.title == "SERVICE":
            known = {*_known()["service"], *_SERVICE}
            for key in section.keys:
                if key not in known and not key.startswith(_FREE) and (hint := nearest(key, known, cutoff=0.8)):
                    view.error("programs-fluent-bit", path, f"{where}nothing reads {show(key)} here", hint=hint)
        elif section.title in _OF_ALL:
            _plugin(view, path, where, section)
            for name in section.keys.get("multiline.parser", "").split(","):
                name = name.strip()
                if name and name not in _MULTILINE | parsers and not files_of_parsers:
                    view.error(
                        "programs-fluent-bit",
                        path,
                        f"{where}no parser {show(name)} is defined, and Fluent Bit ends",
                        allowed=f"one of {', '.join(sorted(_MULTILINE))}, or a file of parsers",
                        hint=nearest(name, _MULTILINE),
                    )
            written = [one.strip() for one in section.keys.get("multiline.parser", "").split(",") if one.strip()]
            if "docker" in written and "cri" not in written and "/var/log/" in section.keys.get("path", ""):
                view.error(
                    "programs-fluent-bit", path,
                    f"{where}multiline.parser is docker, and containerd writes the nodes' logs: no line is taken apart",
                    allowed="cri, or docker, cri",
                )  # fmt: skip
            parser = section.keys.get("parser")
            if parser and section.title == "INPUT" and parser not in parsers and not files_of_parsers:
                view.error(
                    "programs-fluent-bit", path, f"{where}no parser {show(parser)} is defined: nothing is parsed",
                    allowed="a Parsers_File in [SERVICE]",
                )  # fmt: skip
    _matched(view, path, sections, is_whole)


def _tailed(view: View, path: str, text: str, cluster: Cluster) -> None:
    """Logs are read from a folder that the container mounts."""
    name = view.text("metadata.name")
    for pod in cluster.pods:
        volumes = {
            str(one.get("name"))
            for one in listed(pod.spec.get("volumes"))
            if isinstance(one, Mapping) and follow(one, "configMap", "name") == name
        }
        for container in pod.containers:
            mounts = [one for one in listed(container.body.get("volumeMounts")) if isinstance(one, Mapping)]
            if not volumes & {str(one.get("name")) for one in mounts}:
                continue
            folders = [str(one.get("mountPath")).rstrip("/") + "/" for one in mounts]
            for section in sections_of(text):
                given = section.keys.get("path", "") if section.title == "INPUT" else ""
                held = section.keys.get("db", "")
                if held.startswith("/") and not any(held.startswith(folder) for folder in folders):
                    view.error(
                        "programs-fluent-bit", path,
                        f"line {section.line}: keeps its place in {held}, and {pod.title} mounts nothing there: with "
                        "each restart every log is sent again", allowed=f"below one of {', '.join(folders)}",
                    )  # fmt: skip
                spaces = _SPACES.findall(given)
                for space in spaces:
                    known = set(cluster.labels_of_namespaces)
                    near = "" if space in known or "*" in space else nearest_of(space, known)
                    alone = space not in known and known & set(spaces) and cluster.makes_everything
                    if near or alone:
                        view.warning(
                            "programs-fluent-bit", path,
                            f"line {section.line}: reads logs of namespace {show(space)}, which is not there",
                            hint=f"did you mean {near}?" if near else "",
                        )  # fmt: skip
                _grouped(view, path, section)
                hosts = {
                    str(one.get("mountPath")).rstrip("/"): str(source)
                    for one in mounts
                    if isinstance(source := _host_path(pod, one), str)
                }
                for one in filter(None, (part.strip() for part in given.split(","))):
                    below = next((at for at in hosts if one.startswith(f"{at}/")), "")
                    at_host = hosts[below].rstrip("/") + one.removeprefix(below) if below else ""
                    if _LOGS in one and at_host and not at_host.startswith("/var/log/"):
                        view.error(
                            "programs-fluent-bit", path,
                            f"line {section.line}: reads {one}, which {pod.title} mounts from {hosts[below]} of the "
                            "node: the kubelet writes no logs there", allowed="/var/log of the node",
                        )  # fmt: skip
                        break
                    if one.startswith("/") and not any(one.startswith(folder) for folder in folders):
                        view.error(
                            "programs-fluent-bit", path,
                            f"line {section.line}: reads {one}, and {pod.title} mounts nothing there",
                            allowed=f"below one of {', '.join(folders)}",
                        )  # fmt: skip
                        break


_LOGS: Final = "/containers/"
_PLACE: Final = re.compile(r"<(\w+)>")


def _host_path(pod: Pod, mount: Mapping[str, Any]) -> Any:
    volumes = (one for one in listed(pod.spec.get("volumes")) if isinstance(one, Mapping))
    held = next((one for one in volumes if one.get("name") == mount.get("name")), {})
    return follow(held, "hostPath", "path")


def _grouped(view: View, path: str, section: Section) -> None:
    """A tag's parts in angle brackets are groups of the expression beside it."""
    tag, expression = section.keys.get("tag", ""), section.keys.get("tag_regex", "")
    if section.title != "INPUT" or not expression:
        return
    for name in _PLACE.findall(tag):
        if f"(?<{name}>" not in expression:
            view.error(
                "programs-fluent-bit", path,
                f"line {section.line}: Tag has <{name}>, which Tag_Regex finds nothing for: the tag is not made of the "
                "file's name", allowed=f"one of {', '.join(re.findall(r'[(][?]<(.+?)>', expression))}",
            )  # fmt: skip


def _plugin(view: View, path: str, where: str, section: Section) -> None:
    name = section.keys.get("name", "").lower()
    kind = section.title.lower()
    known = _known()["plugins"][kind]
    if not name:
        view.error("programs-fluent-bit", path, f"{where}[{section.title}] has no Name, and Fluent Bit ends")
        return
    is_named = name in known or name in _OF_AMAZON
    if not is_named and (hint := nearest(name, known)) and not section.keys.get("path", "").endswith(".so"):
        view.error(
            "programs-fluent-bit", path, f"{where}there is no {kind} {show(name)}, and Fluent Bit ends", hint=hint
        )
    options = _known()["options"].get(name)
    if options is None:
        return
    every = {*options, *_OF_ALL[section.title]}
    for key in section.keys:
        if (
            key not in every
            and not key.startswith(_FREE)
            and not any(one.endswith("_") and key.startswith(one) for one in options)
        ):
            view.error(
                "programs-fluent-bit", path, f"{where}{name} has no option {show(key)}, and Fluent Bit ends",
                hint=nearest(key, every),
            )  # fmt: skip
    for ways in _NEEDS.get(name, ()):
        if not any(way in section.keys for way in ways):
            view.error("programs-fluent-bit", path, f"{where}{name} does not start without {' or '.join(ways)}")


def _is_of_namespaces(sections: list[Section]) -> bool:
    """Whether every input's tags begin with the namespace of the pod."""
    given = [one.keys.get("tag", "") for one in sections if one.title == "INPUT"]
    return bool(given) and all(tag.startswith("<namespace>") for tag in given)


def _begins(pattern: str) -> str:
    """What a pattern of tags begins with, up to its first star."""
    return pattern.partition("*")[0]


def _matched(view: View, path: str, sections: list[Section], is_whole: bool) -> None:
    """An output whose pattern no tag can match gets nothing."""
    tags = [one.keys.get("tag", one.keys.get("name", "")) for one in sections if one.title == "INPUT"]
    if not is_whole or not tags or any("<" in tag or "*" in tag or "$" in tag for tag in tags):
        tags = []
    for section in sections:
        match = section.keys.get("match")
        if section.title not in ("OUTPUT", "FILTER"):
            continue
        if match is None and "match_regex" not in section.keys:
            view.error(
                "programs-fluent-bit", path, f"line {section.line}: [{section.title}] has no Match: it gets no record"
            )
        elif match is not None and is_whole and _is_of_namespaces(sections) and _begins(match).endswith("."):
            spaces = {name for one in sections for name in _SPACES.findall(one.keys.get("path", ""))}
            if spaces and not any(_matches(_begins(match) + "*", f"{space}.pod") for space in spaces):
                view.error(
                    "programs-fluent-bit", path,
                    f"line {section.line}: Match {show(match)} is the beginning of no tag: it gets no record",
                    allowed="*, or " + ", ".join(f"{space}.*" for space in sorted(spaces)[:3]),
                )  # fmt: skip
        elif match is not None and tags and not any(_matches(match, tag) for tag in tags):
            view.error(
                "programs-fluent-bit", path,
                f"line {section.line}: Match {show(match)} is the tag of no input: it gets no record",
                allowed=f"a pattern of {', '.join(tags)}",
            )  # fmt: skip


def _matches(pattern: str, tag: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), tag) is not None
