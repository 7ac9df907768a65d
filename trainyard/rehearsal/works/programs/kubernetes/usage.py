"""Programs that a stack brings itself: each is found, and is told what its own usage line and docstring ask for.

A program that is told too little prints its usage and ends; one that is told a key by another name never reads it. Both
are taken by the API server as any text is.

Source: the programs' own docstrings, which the stack ships with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import time
from functools import cache, lru_cache
from posixpath import basename, dirname
from typing import Any, Final
from zoneinfo import available_timezones

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.programs.kubernetes.mounted import (
    OPTION,
    PROBES,
    Program,
    Usage,
    docstring,
    files_of,
    looked_for,
    plain,
    program,
    starts,
    takes_value,
    usages,
)
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_JSON: Final = re.compile(r"CONFIGURATION is JSON:\s*(\{.*?\})(?=[\s.,:;]|$)", re.DOTALL)
_KEY: Final = re.compile(r"\"(\w+)\"\s*:")
_PATH: Final = re.compile(r"/[\w./-]+")
_SAMPLES: Final = 4
"""Samples of a window below which one that is late makes the window empty."""
_NAMED: Final = {"flavors": "ResourceFlavor.kueue.x-k8s.io", "priorities": "WorkloadPriorityClass.kueue.x-k8s.io"}
"""What keys of a controller's configuration name, by kind."""


def check(cluster: Cluster) -> None:
    """Every container of our own stacks that starts Python on files of config maps.

    What other people's docstrings say of a program is no contract: it may be an example, or half of the options.
    """
    if not cluster.stack.context.ours:
        return
    for pod in cluster.pods:
        for container in pod.containers:
            found = list(starts(container))
            files = files_of(pod, container, cluster) if found else None
            if not files:
                continue
            _variables(pod, container, files)
            main: Program | None = None
            for start in found:
                missing = looked_for(start, files, container)
                if missing is not None:
                    pod.view.error(
                        "programs-module", start.at,
                        f"Python looks for {missing[0]}, and what is mounted is {missing[1]}: the program does not "
                        "start",
                    )  # fmt: skip
                one = program(start, files, container)
                if one is None:
                    continue
                is_probe = any(f".{probe}." in start.at for probe in PROBES)
                _told(pod, container, one, is_probe=is_probe)
                _parsed(pod, one)
                _configured(pod, one, cluster)
                if is_probe and main is not None and one.path == main.path:
                    _same_file(pod, container, one, main)
                    _in_time(pod, one, main)
                if not is_probe:
                    main = one


def _told(pod: Pod, container: Container, found: Program, *, is_probe: bool) -> None:
    """The words of a program against its usage lines."""
    lines = usages(found)
    if not lines:
        return
    words = list(found.words)
    fitting = [one for one in lines if [word for _, word in words[: len(one.literals)]] == list(one.literals)]
    name = basename(found.path)
    if not fitting:
        here = words[0][0] if words else container.path
        known = sorted({" ".join(one.literals) for one in lines})
        pod.view.error(
            "programs-usage", here, f"{name} knows no {show(words[0][1] if words else '')} here: it prints its usage "
            "and ends", allowed=f"one of {', '.join(known)}",
        )  # fmt: skip
        return
    line = max(fitting, key=lambda one: len(one.literals))
    values = plain(line, words[len(line.literals) :])
    index = len(line.literals)
    while index < len(words):
        at, word = words[index]
        option = OPTION.fullmatch(word)
        if word == "--":
            break
        if option is not None:
            if option[1] not in line.options and not line.is_open:
                pod.view.error(
                    "programs-usage", at, f"{name} has no option {show(option[1])}: it prints its usage and ends",
                    allowed=f"one of {', '.join(line.options)}" if line.options else "",
                    hint=nearest(option[1], line.options),
                )  # fmt: skip
            given = word.partition("=")[2] if "=" in word else words[index + 1][1] if index + 1 < len(words) else ""
            if re.search(rf"{re.escape(option[1])} SECONDS\b", line.line) and as_number(given) is None:
                pod.view.error(
                    "programs-usage", at, f"got {show(given)} where {show(line.line)} has SECONDS", allowed="a number",
                )  # fmt: skip
        index += 2 if option is not None and "=" not in word and takes_value(line, option[1]) else 1
    least, most = len(line.wanted), len(line.wanted) + len(line.optional)
    if line.is_open:
        return
    if not least <= len(values) <= most:
        pod.view.error(
            "programs-usage", values[-1][0] if values else container.path,
            f"{name} is told {len(values)} things where its usage is {show(line.line)}: it prints that and ends",
        )  # fmt: skip
        return
    _roles(pod, container, line, values, is_probe=is_probe)


def _roles(pod: Pod, container: Container, line: Usage, values: list[tuple[str, str]], *, is_probe: bool) -> None:
    """A port that a program listens on is one of its container's; seconds are a number."""
    roles = [*line.wanted, *line.optional]
    declared = {as_number(port.get("containerPort")) for port in container.ports}
    for role, (at, word) in zip(roles, values, strict=False):
        number = as_number(word)
        if role in ("PORT", "SECONDS", "INTERVAL") and number is None and "$" not in word:
            pod.view.error(
                "programs-usage", at, f"got {show(word)} where {show(line.line)} has {role}", allowed="a number",
            )  # fmt: skip
        elif role == "PORT" and "HOST" not in roles and not is_probe and declared and number not in declared:
            pod.view.error(
                "programs-port", at,
                f"has the program listen on {word}, and the container is asked on "
                f"{', '.join(sorted(f'{one:g}' for one in declared if one is not None))}",
            )  # fmt: skip


def _same_file(pod: Pod, container: Container, probe: Program, main: Program) -> None:
    """A probe by the program itself looks at the file that the program is told to write, in a folder of its own."""
    said = {path for _, word in main.words for path in _PATH.findall(word)}
    folders = {
        str(mount.get("mountPath")).rstrip("/")
        for mount in listed(container.body.get("volumeMounts"))
        if isinstance(mount, Mapping)
    }
    for at, word in probe.words:
        if not _PATH.fullmatch(word) or word in said or any(word.startswith(f"{one}/") for one in said):
            continue
        meant = [one for one in said if dirname(one) == dirname(word) and dirname(one) in folders]
        if meant:
            pod.view.error(
                "programs-probe-file", at,
                f"looks at {word}, and the program is told {meant[0]}: the probe always fails",
                allowed=meant[0],
            )  # fmt: skip


_INTERVAL: Final = re.compile(r"--interval=(\d+)")


def _in_time(pod: Pod, probe: Program, main: Program) -> None:
    """A probe that asks whether a round is recent gives the program more time than it takes between two."""
    every = next((float(found[1]) for _, word in main.words if (found := _INTERVAL.fullmatch(word))), None)
    for line in usages(probe) if every is not None else ():
        words = plain(line, probe.words)
        if [word for _, word in words[: len(line.literals)]] != list(line.literals) or "SECONDS" not in line.wanted:
            continue
        index = len(line.literals) + line.wanted.index("SECONDS")
        least = as_number(words[index][1]) if index < len(words) else None
        # A probe of the start looks at the first round alone.
        if least is not None and every is not None and least <= every and "startupProbe" not in words[index][0]:
            pod.view.error(
                "programs-probe-file", words[index][0],
                f"wants a round within {least:g} s, and the program takes one every {every:g} s: the probe fails "
                "between them", allowed=f"more than {every:g}",
            )  # fmt: skip


_MOST_STRANGE: Final = 0.25
_ARGUMENT: Final = re.compile(r"\.add_argument\(\s*((?:[\"']-[\w-]+[\"']\s*,?\s*)+)")
_MORE: Final = re.compile(
    r"parse_known_args|add_subparsers|REMAINDER|\bparents\s*=|\badd_\w*arguments\b|\(\s*parser\s*[,)]"
)
"""Where options are not all in a program's own text: others take what is left, or add theirs to its parser, as
`deepspeed.add_config_arguments(parser)` does."""
_WORDS: Final = re.compile(r"\w+")


def _parsed(pod: Pod, found: Program) -> None:
    """Options of a program that reads them with argparse: those of its own text, or the beginning of one."""
    known = _options(found.text)
    if not known:
        return
    for at, word in found.words:
        option = OPTION.fullmatch(word)
        if option is not None and word != "--" and not any(one.startswith(option[1]) for one in known):
            pod.view.error(
                "programs-usage", at,
                f"{basename(found.path)} has no option {show(option[1])}: it prints its usage and ends",
                allowed=f"one of {', '.join(sorted(known))}", hint=nearest(option[1], known),
            )  # fmt: skip


@lru_cache(maxsize=64)
def _options(text: str) -> frozenset[str]:
    """The options of a program that reads them with argparse; none where others may be among them."""
    known = {option for group in _ARGUMENT.findall(text) for option in re.findall(r"[\"'](-[\w-]+)[\"']", group)}
    if not known or _MORE.search(text):
        return frozenset()
    known |= {"--help", "-h"}
    if "BooleanOptionalAction" in text:
        known |= {f"--no-{option.removeprefix('--')}" for option in known if option.startswith("--")}
    return frozenset(known)


@lru_cache(maxsize=64)
def _vocabulary(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORDS.findall(text))


def _variables(pod: Pod, container: Container, files: Mapping[str, str]) -> None:
    """JSON in a variable that the mounted programs read: each of its keys is a word of theirs."""
    told = [
        (f"{container.path}.env[{index}].value", one)
        for index, one in enumerate(listed(container.body.get("env")))
        if isinstance(one, Mapping) and isinstance(one.get("value"), str) and one["value"].startswith("{")
    ]
    known = _vocabulary(tuple(files.values())) if told else frozenset()
    for path, one in told:
        try:
            keys = json.loads(one["value"]) if one.get("name") in known else {}
        except ValueError:
            continue
        strange = [key for key in keys if key not in known] if isinstance(keys, Mapping) else []
        # Keys that are most of them no words of the programs are names of things, as people or queues.
        for key in strange if len(strange) <= len(keys) * _MOST_STRANGE else ():
            if hint := nearest(key, known - set(keys)):
                pod.view.error(
                    "programs-usage", path, f"the programs that read {one['name']} know no {show(key)}", hint=hint,
                )  # fmt: skip


@lru_cache(maxsize=64)
def _documented(text: str) -> frozenset[str]:
    """The keys of the JSON that a program is told, as its docstring has them."""
    found = _JSON.search(docstring(text))
    if found is None:
        return frozenset()
    keys, depth = set(), 0
    body = docstring(text)[found.start(1) :]
    for part in re.finditer(r"[{}\[\]]|\"(\w+)\"\s*:", body):
        if part[1]:
            keys |= {part[1]} if depth == 1 else set()
        else:
            depth += 1 if part[0] in "{[" else -1
            if depth == 0:
                break
    return frozenset(keys)


def _configured(pod: Pod, found: Program, cluster: Cluster) -> None:
    """The JSON that a program is told: the keys that it reads, and what they name."""
    wanted = _documented(found.text)
    for at, word in found.words if wanted else ():
        try:
            told = json.loads(word)
        except ValueError:
            if word.startswith("{"):
                pod.view.error("programs-usage", at, f"is no JSON, which {basename(found.path)} is told")
            continue
        if not isinstance(told, Mapping):
            continue
        for key in sorted(wanted - set(told)):
            hint = nearest(key, set(told) - wanted)
            pod.view.error(
                "programs-usage", at,
                f"leaves out {show(key)}, which {basename(found.path)} reads: it ends"
                + (f" (is {hint} meant?)" if hint else ""),
            )  # fmt: skip
        for key in sorted(set(told) - wanted):
            pod.view.error(
                "programs-usage", at, f"{basename(found.path)} reads no {show(key)}",
                allowed=f"{', '.join(sorted(wanted))}", hint=nearest(key, wanted),
            )  # fmt: skip
        _names(pod.view, at, told, cluster)
        _labels(pod.view, at, told, cluster)
        _times(pod.view, at, told)
        for key in re.findall(r"\"(\w+)\": SHARE\b", docstring(found.text)):
            share = as_number(told.get(key))
            if share is not None and not 0 <= share <= 1:
                pod.view.error("programs-usage", at, f"{key} is {share:g}", allowed="a share, 0 to 1")


def _names(view: View, at: str, told: Mapping[str, Any], cluster: Cluster) -> None:
    """Namespaces, queues and classes that a controller is told of are there."""
    spaces = [("", one) for one in listed(told.get("namespaces")) if isinstance(one, str)]
    pairs = []
    for one in (
        *listed(told.get("queues")),
        *(told["teams"].values() if isinstance(told.get("teams"), Mapping) else ()),
    ):
        if isinstance(one, Mapping) and isinstance(one.get("namespace"), str):
            spaces.append(("", one["namespace"]))
            names = [one.get("name"), *listed(one.get("queues"))]
            pairs += [(one["namespace"], name) for name in names if isinstance(name, str)]
    wanted = [("Namespace", space, name) for space, name in spaces]
    wanted += [("LocalQueue.kueue.x-k8s.io", space, name) for space, name in pairs]
    for key, kind in _NAMED.items():
        wanted += [(kind, "", one) for one in told.get(key) or () if isinstance(one, str)]
    for kind, space, name in wanted:
        near = _lacks(kind, space, name, cluster)
        if near is not None:
            plain = kind.partition(".")[0]
            view.error(
                "programs-names", at, f"names {plain} {f'{space}/' if space else ''}{name}, which is not made",
                hint=f"did you mean {near}?" if near else "",
            )  # fmt: skip


def _labels(view: View, at: str, told: Mapping[str, Any], cluster: Cluster) -> None:
    """A controller that is told of flavors by their nodes' labels is told those that they have."""
    flavors = told.get("flavors")
    for name, labels in flavors.items() if isinstance(flavors, Mapping) else ():
        flavor = cluster.find(_NAMED["flavors"], "", name)
        own = flavor.mapping("spec.nodeLabels") if flavor is not None else None
        if isinstance(labels, Mapping) and own and labels and any(own.get(key) != one for key, one in labels.items()):
            view.error(
                "programs-names", at,
                f"knows flavor {show(name)} by labels that it has not: nothing of it is recognised",
                allowed=", ".join(f"{key}={one}" for key, one in own.items()),
            )  # fmt: skip


def _lacks(kind: str, namespace: str, name: str, cluster: Cluster) -> str | None:
    """Whether an object is missing where the stack makes others of its kind for this controller."""
    made = cluster.names(kind, namespace)
    if not made or name in made or cluster.is_blurred(kind, namespace):
        return None
    return nearest(name, made)


@cache
def _zones() -> frozenset[str]:
    """The time zones that this machine knows; empty where it has no database of them."""
    return frozenset(available_timezones())


def _times(view: View, at: str, told: Mapping[str, Any]) -> None:
    """A clock is one of the world's, a time of day is one, and a window holds several samples."""
    zone = told.get("time_zone")
    known = _zones()
    if isinstance(zone, str) and known and zone not in known:
        view.error(
            "programs-usage", at, f"there is no time zone {show(zone)}: the program ends",
            hint=nearest(zone, known),
        )  # fmt: skip
    for key in ("from", "to"):
        given = told.get(key)
        if isinstance(given, str) and not _is_time(given):
            view.error("programs-usage", at, f"{key} is {show(given)}", allowed="a time of day, as 20:00")
    if isinstance(told.get("from"), str) and told.get("from") == told.get("to"):
        view.error("programs-usage", at, "from and to are the same: whether it is day or night is never said")
    every = as_number(told.get("sample_seconds"))
    for key, value in told.items():
        seconds = as_number(value)
        if every and key.endswith("_seconds") and key != "sample_seconds" and seconds and seconds < _SAMPLES * every:
            view.error(
                "programs-window", at,
                f"{key} is {seconds:g} and there is a sample every {every:g} s: the window holds too few",
                allowed=f"seconds, {_SAMPLES * every:g} or more",
            )  # fmt: skip


def _is_time(text: str) -> bool:
    try:
        time.fromisoformat(text)
    except ValueError:
        return False
    return True
