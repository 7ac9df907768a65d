"""What a member of a team would ask of the API server to run an image of anybody's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from trainyard.policies.guard_attacks import CPU, GPU, KINDS, Made, Wall, asks, container, pod, train_job
from trainyard.rehearsal.works.rights.kubernetes.admission import Request

_DIGEST: Final = f"@sha256:{'0' * 64}"
_IMAGES: Final = (f"registry.attacker.example/a{_DIGEST}", "attacker/a:1", f"docker.io/attacker/a:1{_DIGEST}")
_WORDS: Final = (".image",)
_REGISTRY: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?(?P<below>/[a-z0-9._-]+)?")
"""A registry, or an organisation of one, without a slash at its end: as the beginning of a name it is others' too."""


def walls(literals: Iterable[str]) -> Iterator[Wall]:
    """Images of anybody's, in pods of every way to make or change one, and in the jobs that would wait for such pods.

    `literals` are the texts of the stack's guards: names that only begin like what they allow are tried too.
    """
    images = (*_IMAGES, *sorted(set(map(_like, literals)) - {""}))
    whose = "images of anybody's registry"
    made = [_container(image) for image in images]
    in_pods = [pod(CPU, **{kind: [one]}) for one in made for kind in ("containers", "initContainers")]
    yield Wall(whose, "", "pods", _WORDS, tuple(map(asks, in_pods)), None)
    changed = tuple(asks(pod(CPU, containers=[one]), operation="UPDATE", old=pod(CPU)) for one in made)
    yield Wall(f"{whose} in changed pods", "", "pods", _WORDS, changed, None, "UPDATE")
    put_in = tuple(asks(pod(CPU, ephemeralContainers=[one]), operation="UPDATE", old=pod(CPU)) for one in made)
    yield Wall(f"{whose} in a debugger", "", "pods/ephemeralcontainers", _WORDS, put_in, None, "UPDATE")
    for kind, (group, _) in KINDS.items():
        what = f"{whose} in {kind}, which hold GPUs for pods that are refused"
        yield Wall(what, group, kind, _WORDS, tuple(_of_jobs(kind, made)), None)


def _like(literal: str) -> str:
    """A name of an attacker's that begins with a text; empty where the text is no place of images."""
    found = _REGISTRY.fullmatch(literal)
    if found is None:
        return ""
    return f"{literal}attacker/a:1" if found["below"] else f"{literal}.attacker.example/a:1"


def _container(image: str) -> Made:
    return container(CPU, image=image)


def _of_jobs(kind: str, made: list[Made]) -> Iterator[Request]:
    _, maker = KINDS[kind]
    for one in made:
        if kind != "trainjobs":
            yield from (asks(maker(GPU, **{key: [one]})) for key in ("containers", "initContainers"))
            continue
        item: Any = train_job(GPU)
        item["spec"]["trainer"]["image"] = one["image"]
        yield asks(item)
