"""What Pulumi.yaml gives to every stack, and this one's profile has no use for: passed over, and told.

An agency's defaults are for all of its clients, some of whom have a cluster and some managed training. What a client's
own file says and nothing would read stays an error: whoever wrote it there meant it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trainyard.plan.ledger import Ledger, spell
from trainyard.plan.lock import Lock
from trainyard.plan.make import unread_without_cluster
from trainyard.plan.managed import given_settings
from trainyard.plan.parts import Decision
from trainyard.plan.people import size_and_profile
from trainyard.settings.common import Settings
from trainyard.settings.types import Model


def without_passed_over(
    settings: Settings, shared: Collection[str], lock: Lock
) -> tuple[Settings, tuple[Decision, ...]]:
    """The settings without those defaults of all stacks that nothing of this one would read, and each as a decision.

    Args:
        settings: the stack's, defaults of Pulumi.yaml among them.
        shared: the keys, without namespace, that Pulumi.yaml gives and the stack's file does not.
        lock: what was decided for the stack before.
    """
    _, figures, known = size_and_profile(settings, lock.profile, Ledger())
    if not known or not shared:
        return settings, ()
    unread, why = _unread(settings, figures.name)
    noted = []
    for path in unread:
        if path.partition(".")[0] not in shared:
            continue
        given = [(key, value) for key, value in given_settings(settings) if key == path or key.startswith(f"{path}.")]
        if given:
            noted += [
                Decision(key, "passed over", f"Pulumi.yaml gives {_in_short(value)} to every stack; {why}")
                for key, value in given
            ]
            settings = without(settings, path.split("."))
    return settings, tuple(noted)


def _unread(settings: Settings, profile: str) -> tuple[list[str], str]:
    """The settings that nothing of such a stack reads, and why."""
    if profile != "small":
        beside = settings.managed.beside is True
        return ([] if beside else ["managed"]), f"it is of managed training, and the {profile} profile has a cluster"
    return sorted(unread_without_cluster(settings)), "it is of a cluster, and the small profile has none"


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
