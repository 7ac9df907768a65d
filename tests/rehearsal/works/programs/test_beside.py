"""Programs that end, and what is right beside each: other packages, other sets of jobs, keys that are no secret."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.kubernetes import gang_hosts, imports, key_files
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster


def told(check: Any, *objects: Any) -> int:
    """How often a check tells."""
    stack = Stack(list(objects), CONTEXT)
    check(Cluster(stack))
    return len(stack.findings)


def program(text: str, **files: str) -> int:
    """What is told of a program with files beside it, all of one config map."""
    data = {"main.py": text, **{name.replace("__", "."): body for name, body in files.items()}}
    items = [{"key": key, "path": key.replace(".", "/", key.count(".") - 1)} for key in data]
    spec = {
        "containers": [{"name": "a", "command": ["python", "/code/main.py"],
                        "volumeMounts": [{"name": "code", "mountPath": "/code"}]}],
        "volumes": [{"name": "code", "configMap": {"name": "code", "items": items}}],
    }  # fmt: skip
    return told(
        imports.check, obj("v1", "ConfigMap", "code", "team", data=data),
        obj("batch/v1", "Job", "a", "team", spec={"template": {"spec": spec}}),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("from own import one\n", 0),
        ("from own import other\n", 1),
        ("from own import (\n    one,  # the first (of two)\n)\n", 0),
        ("from own import (one,  # noqa\n)\n", 0),
        ("from own import one, \\\n    one\n", 0),
        ("'''\nfrom own import other\n'''\n", 0),
        ('"""\nfrom own import other\n"""\n', 0),
        ("# from own import other\n", 0),
        ("from datasets import load_dataset\n", 0),  # of the image: the folder of that name has no program in it
        ("import datasets\nimport torch\n", 0),
        ("from .own import one\n", 1),
        ("try:\n    from .own import one\nexcept ImportError:\n    from own import one\n", 0),
    ],
)
def test_imports_are_read_as_python_reads_them(text, count):
    assert program(text, own__one__py="", datasets__list__txt="a") == count


def jobs(name: str, *words: str) -> Any:
    template = {
        "spec": {"parallelism": 2, "template": {"spec": {"containers": [{"name": "a", "command": list(words)}]}}}
    }
    return obj("jobset.x-k8s.io/v1alpha2", "JobSet", name, "team", spec={
        "replicatedJobs": [{"name": "worker", "template": template}]})  # fmt: skip


@pytest.mark.parametrize(
    ("host", "count"),
    [
        ("train-worker-0-1.train", 0),
        ("train-worker-0-2.train", 1),
        ("train-worker-0-1.other", 1),
        ("train-eval-worker-0-0.train-eval", 0),  # of the other set
        ("train-worker-0-1.train.team.svc", 0),
    ],
)
def test_a_host_may_be_of_a_set_with_a_longer_name(host, count):
    assert told(gang_hosts.check, jobs("train", "run", f"--master={host}"), jobs("train-eval", "run")) == count


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--tls-private-key-file=/etc/tls/tls.crt"], 1),
        (["--tls-private-key-file", "tls.crt"], 1),
        (["--tls-cert-file=/etc/tls/tls.key"], 1),
        (["--service-account-key-file=/etc/sa/sa.crt"], 0),
        (["--jwt-public-key-file=/etc/jwt/issuer.crt"], 0),
        (["--tls-secret-key=ca.crt"], 0),  # the key of a Secret
        (["--tls-private-key-file=/etc/tls/tls.key", "--tls-cert-file=/etc/tls/tls.crt"], 0),
        ([None, 3, ["--tls-cert-file"]], 0),
    ],
)
def test_only_a_private_key_is_no_certificate(words, count):
    spec = {"containers": [{"name": "a", "command": ["server"], "args": words, "env": ["odd", {"name": 3}]}]}
    assert told(key_files.check, obj("v1", "Pod", "a", "team", spec=spec)) == count
