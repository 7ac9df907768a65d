"""The kubeconfig of an EKS cluster."""

import pulumi


def kubeconfig(
    cluster_name: str,
    region: pulumi.Input[str],
    endpoint: pulumi.Input[str],
    certificate_authority: pulumi.Input[str],
) -> pulumi.Output[str]:
    """JSON that any Kubernetes client takes. It holds no secret: `aws eks get-token` fetches a token at each use.

    `certificate_authority` is base64. `region` stands in it, so that the caller's own default region does not matter.
    """
    return pulumi.Output.json_dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": cluster_name,
            "clusters": [
                {
                    "name": cluster_name,
                    "cluster": {"server": endpoint, "certificate-authority-data": certificate_authority},
                }
            ],
            "contexts": [{"name": cluster_name, "context": {"cluster": cluster_name, "user": cluster_name}}],
            "users": [
                {
                    "name": cluster_name,
                    "user": {
                        "exec": {
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": "aws",
                            "args": ["eks", "get-token", "--cluster-name", cluster_name, "--region", region],
                            "interactiveMode": "Never",
                        }
                    },
                }
            ],
        }
    )
