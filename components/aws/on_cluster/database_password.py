"""The password of an RDS database, which RDS keeps and rotates in Secrets Manager, for the MLflow server's pod."""

from importlib.resources import files

import pulumi

from trainyard.components.k8s.mlflow_args import PasswordProgramArgs

INTERVAL_SECONDS = 30
"""How long new connections may fail after a rotation. Asking costs $0.05 per 10,000 calls (Secrets Manager price list,
2026-11): less than half a dollar a month and replica."""


def secrets_manager_password(secret_arn: pulumi.Input[str]) -> PasswordProgramArgs:
    """The program `pgpass.py`, which reads the secret with the pod's own role (`workload_policies.mlflow_policy`)."""
    source = files("trainyard.components.aws.on_cluster").joinpath("pgpass.py").read_text(encoding="utf-8")
    return {"source": source, "secret": secret_arn, "interval_seconds": INTERVAL_SECONDS}
