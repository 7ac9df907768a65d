"""The recorded Kubernetes objects by kind, namespace and name: what a reference can find."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.recorded.read import follow
from trainyard.rehearsal.context import Stack, View


@dataclass(slots=True)
class Objects:
    """The recorded objects by kind, namespace and name, and which of them have names that are not known yet."""

    known: set[tuple[str, str, str]] = field(default_factory=set)
    blurred: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, stack: Stack) -> Objects:
        """Everything of the recording that can be referred to."""
        objects = cls(known=set(stack.context.assumed_objects))
        objects.known |= {("ServiceAccount", *pair) for pair in stack.context.assumed_service_accounts}
        for view in stack.views:
            if view.type == "kubernetes:helm.sh/v3:Release":
                if view.flag("createNamespace") and view.text("namespace"):
                    objects.known.add(("Namespace", "", str(view.text("namespace"))))
                continue
            kind = view.text("kind")
            if not view.type.startswith("kubernetes:") or kind is None:
                continue
            name, namespace = object_name(view), object_namespace(view)
            if name is None or namespace is None:
                objects.blurred.add((kind, namespace or ""))
                if namespace is None:
                    objects.blurred.add((kind, "*"))
            else:
                objects.known.add((kind, namespace, name))
        return objects

    def lacks(self, kind: str, namespace: str, name: str) -> bool:
        """Whether nothing of that name exists for sure."""
        if (kind, namespace, name) in self.known or (kind, namespace) in self.blurred or (kind, "*") in self.blurred:
            return False
        return not (kind == "ServiceAccount" and name == "default") and not (
            kind == "ConfigMap" and name == "kube-root-ca.crt"
        )

    def names(self, kind: str, namespace: str) -> list[str]:
        """The names of a kind in a namespace."""
        return sorted(item[2] for item in self.known if item[:2] == (kind, namespace))


def object_name(view: View) -> str | None:
    """The name that the object has or will have; None where it is not known."""
    if view.has("metadata.name"):
        return view.text("metadata.name")
    found = follow(view.resource.outputs, "metadata", "name")
    return found if isinstance(found, str) else None


def object_namespace(view: View) -> str | None:
    """The namespace, empty for what has none, None where it is not known."""
    if view.is_unknown("metadata") or view.is_unknown("metadata.namespace"):
        return None
    return view.text("metadata.namespace") or ""
