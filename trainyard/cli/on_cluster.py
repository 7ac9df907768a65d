"""What asks a stack's cluster, with the kubeconfig that Pulumi gives out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.teardown.freeze import Kubectl


@contextmanager
def on_cluster(pulumi: Pulumi, why: str) -> Iterator[Callable[[], Kubectl]]:
    """What gives `kubectl` on the cluster, opened when it is needed first; `why` it is, for whoever has it not."""
    found: list[Kubectl] = []
    with ExitStack() as until_the_end:

        def kubectl() -> Kubectl:
            from trainyard.cli.programs import need
            from trainyard.cli.way_in import kubectl_of

            if not found:
                need("kubectl", why=why)
                found.append(until_the_end.enter_context(kubectl_of(pulumi.output("kubeconfig"))))
            return found[0]

        yield kubectl
