"""What Pulumi.yaml gives to every stack, and this one's profile has no use for: passed over, and told.

An agency's defaults are for all of its clients, some of whom have a cluster and some managed training. What a client's
own file says and nothing would read stays an error: whoever wrote it there meant it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trainyard.plan.ledger import Ledger, spell
from trainyard.plan.lock import Lock
from trainyard.plan.make import of_no_use_without_cluster, unread_without_cluster
from trainyard.plan.managed import given_settings
from trainyard.plan.parts import Decision
from trainyard.plan.people import size_and_profile
from trainyard.settings.common import Settings
from trainyard.settings.read import Reading
from trainyard.settings.types import Model

_OF_A_CLUSTER = "it is of a cluster, and the small profile has none"


def without_passed_over(reading: Reading, shared: Collection[str], lock: Lock) -> tuple[Settings, tuple[Decision, ...]]:
    """The settings without those defaults of all stacks that nothing of this one would read, and each as a decision.

    Args:
        reading: of the stack's settings, defaults of Pulumi.yaml among them.
        shared: the keys, without namespace, that Pulumi.yaml gives and the stack's file does not.
        lock: what was decided for the stack before.
    """
    settings = reading.settings
    _, figures, known = size_and_profile(settings, lock.profile, Ledger())
    if not known or not shared:
        return settings, ()
    noted = []
    for path, why in _unread(settings, figures.name).items():
        given = [(key, value) for key, value in given_settings(settings) if key == path or key.startswith(f"{path}.")]
        passed = [(key, value) for key, value in given if _said_at(key, reading).partition(".")[0] in shared]
        noted += [
            Decision(key, "passed over", f"Pulumi.yaml gives {_in_short(value)} to every stack; {why}")
            for key, value in passed
        ]
        # A block has parts of both where one of them says a key at its old place, which is in another block.
        gone = [path] if passed and passed == given else [key for key, _ in passed]
        for key in gone:
            settings = without(settings, key.split("."))
    return settings, tuple(noted)


def _said_at(key: str, reading: Reading) -> str:
    """The place at which a file says a key: its own, or that where it was once."""
    return next((old for new, old in reading.moved.items() if key == new or key.startswith(f"{new}.")), key)


def _unread(settings: Settings, profile: str) -> dict[str, str]:
    """The settings that nothing of such a stack reads, each with the reason."""
    if profile != "small":
        why = f"it is of managed training, and the {profile} profile has a cluster"
        return {} if settings.managed.beside is True else {"managed": why}
    of_a_cluster = dict.fromkeys(sorted(unread_without_cluster(settings)), _OF_A_CLUSTER)
    return {**of_a_cluster, **of_no_use_without_cluster(settings)}


def _in_short(value: object) -> str:
    """A value for people; of a list or a block only that there is one."""
    return spell(value) if isinstance(value, (str, int, float, bool)) else "one"


def without(model: Settings, path: Sequence[str]) -> Settings:
    """The settings with what stands at a path as if nobody had said it."""
    changed = _without(model, path)
    assert isinstance(changed, Settings)
    return changed


def _without(model: Model, path: Sequence[str]) -> Model:
    key, *rest = path
    name, field = next(
        (name, field) for name, field in type(model).model_fields.items() if key in (field.alias or name, name)
    )
    inner = getattr(model, name)
    if rest and isinstance(inner, Model):
        return model.model_copy(update={name: _without(inner, rest)})
    said = model.model_fields_set - {name}
    changed = model.model_copy(update={name: field.get_default(call_default_factory=True)})
    changed.model_fields_set.intersection_update(said)
    return changed
