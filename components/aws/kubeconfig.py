"""The kubeconfig of an EKS cluster."""

from collections.abc import Sequence

import pulumi

from trainyard.conventions.aws import kubeconfig_document


def kubeconfig(
    cluster_name: str,
    region: pulumi.Input[str],
    endpoint: pulumi.Output[str],
    certificate_authority: pulumi.Input[str],
    *,
    tunnel: int | None = None,
    identity: Sequence[str] = (),
) -> pulumi.Output[str]:
    """JSON that any Kubernetes client takes; `certificate_authority` is base64. `kubeconfig_document` says the rest."""
    host = endpoint.apply(lambda address: address.removeprefix("https://"))
    return pulumi.Output.json_dumps(
        kubeconfig_document(
            cluster_name, region, endpoint, certificate_authority, host=host, tunnel=tunnel, identity=identity
        )
    )
