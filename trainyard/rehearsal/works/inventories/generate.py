"""Writes the lists anew from the projects' own documents.

    python -m trainyard.rehearsal.works.inventories.generate FOLDER

FOLDER holds a clone of each repository that `SOURCES` names, under the name of its last part.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOURCES: Final = {
    "kube-state-metrics": "https://github.com/kubernetes/kube-state-metrics",
    "dcgm-exporter": "https://github.com/NVIDIA/dcgm-exporter",
    "kueue": "https://github.com/kubernetes-sigs/kueue",
    "node_exporter": "https://github.com/prometheus/node_exporter",
    "autoscaler": "https://github.com/kubernetes/autoscaler",
    "squid": "https://github.com/squid-cache/squid",
    "fluent-bit": "https://github.com/fluent/fluent-bit",
    "go-dcgm": "https://github.com/NVIDIA/go-dcgm",
}
_LABEL: Final = re.compile(r"(?:^|\n)\s*`([a-zA-Z_]\w*)(?:=`|`\s*[=:])\s*<?([^<>`\n]*)")
_OPTION: Final = re.compile(r"FLB_CONFIG_MAP_\w+,\s*\"([\w.-]+)\"")
_FLAG: Final = re.compile(r"^\| `([a-z0-9-]+)` \|")
_ALTERNATIVES: Final = re.compile(r"[\w-]+(\|[\w-]+)+")
_PLUGINS: Final = {
    "cloudwatch_logs": "plugins/out_cloudwatch_logs/cloudwatch_logs.c",
    "stackdriver": "plugins/out_stackdriver/stackdriver.c",
    "s3": "plugins/out_s3/s3.c",
    "stdout": "plugins/out_stdout/stdout.c",
    "tail": "plugins/in_tail/tail.c",
    "systemd": "plugins/in_systemd/systemd.c",
    "kubernetes": "plugins/filter_kubernetes/kubernetes.c",
    "grep": "plugins/filter_grep/grep.c",
    "modify": "plugins/filter_modify/modify.c",
    "record_modifier": "plugins/filter_record_modifier/filter_modifier.c",
}
_FREE: Final = frozenset({"grep", "modify", "record_modifier", "stdout"})
"""Plugins that read words of their own beside the options that they declare."""


def main(folder: Path) -> None:
    """Writes the files beside this module."""
    _write("metrics.json", _metrics(folder))
    _write("squid.json", _squid(folder / "squid"))
    _write("fluent_bit.json", _fluent_bit(folder / "fluent-bit"))
    _write("dcgm_fields.json", {"source": _source(folder / "go-dcgm"), "fields": _fields(folder / "go-dcgm")})
    _write("autoscaler.json", {"source": _source(folder / "autoscaler"), "flags": sorted(_flags(folder))})


def _write(name: str, content: object) -> None:
    lines = re.sub(r"\n {3,}", " ", json.dumps(content, indent=1, sort_keys=True))
    Path(__file__).with_name(name).write_text(re.sub(r"\n {2}(?=[\]}])", "", lines) + "\n")


def _git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *words], check=True, capture_output=True, text=True).stdout


def _source(clone: Path) -> str:
    return f"{SOURCES[clone.name]} {_git(clone, 'log', '-1', '--format=%h %cs').strip()}"


def _text(clone: Path, path: str) -> str:
    return _git(clone, "show", f"HEAD:{path}")


def _metrics(folder: Path) -> dict[str, object]:
    state, kueue = folder / "kube-state-metrics", folder / "kueue"
    kube: dict[str, dict[str, list[str]]] = {}
    collectors: dict[str, list[str]] = {}
    for path in _git(state, "ls-tree", "-r", "--name-only", "HEAD", "docs/metrics").split():
        names = dict(_of_table(_text(state, path)))
        kube |= names
        collectors[Path(path).stem.removesuffix("-metrics")] = sorted(names)
    queues = dict(_of_table(_text(kueue, "site/content/en/v0.19/docs/reference/metrics.md")))
    counters = _text(folder / "dcgm-exporter", "etc/default-counters.csv").splitlines()
    node = _text(folder / "node_exporter", "collector/fixtures/e2e-output.txt")
    return {
        "sources": [
            _source(folder / name) for name in ("kube-state-metrics", "kueue", "dcgm-exporter", "node_exporter")
        ],
        "kube-state-metrics": kube,
        "collectors": collectors,
        "kueue": queues,
        "dcgm-exporter": sorted(line.split(",")[0].strip() for line in counters if line.strip()[:1] not in ("", "#")),
        "node-exporter": sorted(name for name in re.findall(r"^# TYPE (\S+)", node, re.M) if name.startswith("node_")),
    }


def _of_table(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Each metric with its labels, and the values that a label is said to have, if it is one of a few."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) < 5 or not re.fullmatch(r"`?[a-z][a-z0-9_]+`?", cells[1]):
            continue
        name, kind = cells[1].strip("`"), cells[2].lower()
        labels: dict[str, list[str]] = {}
        for cell in cells[3:]:
            if "`" not in cell:
                continue
            for label, said in _LABEL.findall(
                html.unescape(cell).replace("\\|", "|").replace("<br>", "\n").replace("<br/>", "\n")
            ):
                values = said.strip()
                labels[label] = values.split("|") if _ALTERNATIVES.fullmatch(values) else []
        for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            yield f"{name}{suffix}", {**labels, **({"le": []} if suffix == "_bucket" else {})}


def _squid(clone: Path) -> dict[str, object]:
    text = _text(clone, "src/cf.data.pre")
    found: dict[str, str] = {}
    for names, kind in re.findall(r"^NAME:\s*(.+)\n(?:.*\n)*?TYPE:\s*(\S+)", text, re.M):
        found |= dict.fromkeys(names.split(), kind)
    gone = sorted(name for name, kind in found.items() if kind == "obsolete")
    return {"source": _source(clone), "directives": sorted(set(found) - set(gone)), "gone": gone}


def _fluent_bit(clone: Path) -> dict[str, object]:
    folders = _git(clone, "ls-tree", "--name-only", "HEAD", "plugins/").split()
    kinds = {"in": "input", "out": "output", "filter": "filter"}
    plugins: dict[str, list[str]] = {kind: [] for kind in kinds.values()}
    for folder in folders:
        kind, _, name = folder.removeprefix("plugins/").partition("_")
        if kind in kinds:
            plugins[kinds[kind]].append(name)
    options = {
        name: sorted(set(_OPTION.findall(_text(clone, path)))) for name, path in _PLUGINS.items() if name not in _FREE
    }
    service = set(
        re.findall(r'^#define FLB_CONF_STR_\w+\s+"([\w.]+)"', _text(clone, "include/fluent-bit/flb_config.h"), re.M)
    )
    return {
        "source": _source(clone),
        "plugins": {kind: sorted(names) for kind, names in plugins.items()},
        "options": options,
        "service": sorted(one.lower() for one in service),
    }


def _fields(clone: Path) -> list[str]:
    """The fields that DCGM's exporter can ask for, by their names of now and of before."""
    constants = _text(clone, "pkg/dcgm/const_fields.go")
    legacy = [line.partition(",")[0] for line in _text(clone, "pkg/dcgm/legacy_fields.csv").splitlines()[1:]]
    return sorted({*re.findall(r"\bDCGM_FI_[A-Z0-9_]+", constants), *filter(None, legacy)})


def _flags(folder: Path) -> Iterator[str]:
    for line in _text(folder / "autoscaler", "cluster-autoscaler/FAQ.md").splitlines():
        found = _FLAG.match(line)
        if found is not None:
            yield found[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
