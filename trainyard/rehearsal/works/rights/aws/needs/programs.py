"""What the controllers of a cluster need, as the pods that they are."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.recorded.types import STORAGE_CLASS
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import Controller, deeds, metadata_is_closed, nodes
from trainyard.rehearsal.works.rights.aws.needs.model import Need
from trainyard.rehearsal.works.rights.aws.needs.places import Places


def needs(places: Places, bindings: Bindings) -> Iterator[Need]:
    """What every installed controller of the table needs."""
    closed, of_nodes = metadata_is_closed(places), nodes(places)
    provisioners = {view.text("provisioner") for view in places.stack.of_type(STORAGE_CLASS)}
    for controller in bindings.controllers:
        when = controller.entry.get("when")
        if controller.is_certain and (when is None or when in provisioners):
            yield from _of(controller, places, bindings, closed, of_nodes)


def _of(
    controller: Controller, places: Places, bindings: Bindings, closed: bool, of_nodes: tuple[Caller, ...]
) -> Iterator[Need]:
    borrows = bool(controller.entry.get("host")) or not closed
    for account, _ in controller.accounts():
        identity = bindings.identity(controller.namespace, account)
        if identity.state in ("unknown", "refused"):
            continue
        who = (identity.caller,) if identity.caller is not None else (of_nodes if borrows else ())
        what = f"{controller.name}, as {controller.namespace}/{account},"
        if who:
            yield Need(
                controller.view,
                "addonName" if not controller.release else "chart",
                "rights-program-lacks",
                who,
                what if identity.caller else f"{what} which no role is bound to, with the role of its node,",
                controller.entry["purpose"],
                deeds(places, controller),
            )
        elif closed and of_nodes:
            controller.view.error(
                "rights-program-no-role",
                "addonName" if not controller.release else "chart",
                f"{what} has no role and its pods do not reach their node's: it cannot {controller.entry['purpose']}",
                hint=f"a Pod Identity association for {controller.namespace}/{account}",
            )
