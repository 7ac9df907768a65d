"""What a member of a team would ask of the API server to run an image of anybody's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from trainyard.policies.guard_attacks import Wall
from trainyard.policies.guard_objects import CPU, GPU, KINDS, Made, asks, container, pod, train_job
from trainyard.rehearsal.works.rights.kubernetes.admission import Request

_DIGEST: Final = f"@sha256:{'0' * 64}"
_IMAGES: Final = (f"registry.attacker.example/a{_DIGEST}",)
_OF_HUB: Final = ("attacker/a:1", f"docker.io/attacker/a:1{_DIGEST}")
"""What everybody may publish at Docker Hub, which is no attacker's registry where somebody chose the whole of it."""
_WORDS: Final = (".image",)
_REGISTRY: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?(?P<below>/[a-z0-9._-]+)?")
"""A registry, or an organisation of one, without a slash at its end: as the beginning of a name it is others' too."""


@lru_cache(maxsize=1)
def hub_walls() -> tuple[Wall, ...]:
    """Images of Docker Hub by their whole name, of nobody in particular: where all get in, it was chosen as a whole."""
    return tuple(_hub_walls())


def _hub_walls() -> Iterator[Wall]:
    for image in ("docker.io/attacker/a:1", f"docker.io/somebody/b/c{_DIGEST}"):
        for kind in ("containers", "initContainers"):
            asked = asks(pod(CPU, **{kind: [_container(image)]}))
            yield Wall("images of Docker Hub", "", "pods", _WORDS, (asked,), None)


@lru_cache(maxsize=16)
def walls(literals: frozenset[str], caches: frozenset[str], *, hub_is_chosen: bool) -> tuple[Wall, ...]:
    """Images of anybody's, in pods of every way to make or change one, and in the jobs that would wait for such pods.

    `literals` are the texts of the stack's guards: names that begin like what they allow, or have it elsewhere, are
    tried too. `caches` are repositories that fetch whatever is published somewhere. The same again for the same texts:
    what guards say of a request is kept by whose it is.
    """
    return tuple(_walls(literals, caches, hub_is_chosen=hub_is_chosen))


def _walls(literals: frozenset[str], caches: frozenset[str], *, hub_is_chosen: bool) -> Iterator[Wall]:
    images = (
        *_IMAGES,
        *(f"{cache}/attacker/a:1" for cache in sorted(caches)),
        *(() if hub_is_chosen else _OF_HUB),
        *sorted({name for text in literals for name in _like(text)}),
    )
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


def _like(literal: str) -> Iterator[str]:
    """Names of an attacker's that begin with a text, or have it further down; none where it is no place of images."""
    found = _REGISTRY.fullmatch(literal.removesuffix("/"))
    if found is None:
        return
    if not literal.endswith("/"):
        yield f"{literal}attacker/a:1" if found["below"] else f"{literal}.attacker.example/a:1"
    yield f"registry.attacker.example/{literal.removesuffix('/')}/a:1"


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
