"""What asks a stack's cluster, with the kubeconfig that Pulumi gives out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from trainyard.cli.project import fail
from trainyard.review.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.teardown.freeze import Kubectl


@contextmanager
def on_cluster(pulumi: Pulumi, why: str) -> Iterator[Callable[[], Kubectl]]:
    """What gives `kubectl` on the cluster, opened when it is needed first; `why` it is, for whoever has it not.

    The way through a bastion is open from then until the block is left.
    """
    found: list[Kubectl] = []
    with ExitStack() as until_the_end:

        def kubectl() -> Kubectl:
            from trainyard.cli.programs import need
            from trainyard.cli.way_in import kubectl_of
            from trainyard.fleet.tunnel import TunnelError, opened
            from trainyard.fleet.upgrade import ways_to

            if not found:
                need("kubectl", why=why)
                try:
                    until_the_end.enter_context(opened(ways_to(pulumi.client), pulumi.folder / "tunnel.log"))
                except TunnelError as error:
                    fail(f"no way to the cluster's API: {error}", code=EXIT_STOPPED)
                found.append(until_the_end.enter_context(kubectl_of(pulumi.output("kubeconfig"))))
            return found[0]

        yield kubectl
