"""Tracking and the model registry of managed training: an MLflow App, which is not billed by the hour.

An MLflow tracking server of SageMaker does the same for about 460 USD a month (Small, 0.64 an hour; two public
projects, 2026): there is none here.
"""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_aws.sagemaker as sagemaker

from trainyard.components.outputs import register

WINDOW = "Sun:03:00"
"""When SageMaker may upgrade the app, UTC."""


class ManagedTrackingArgs(TypedDict):
    """What `ManagedTracking` needs."""

    app_name: str
    """Name of the app."""
    role_arn: pulumi.Input[str]
    """Role of the app; another one replaces the app, and every run's metadata with it."""
    artifact_uri: pulumi.Input[str]
    """Where artifacts are kept, `s3://bucket/prefix`."""
    domain_id: pulumi.Input[str]
    """The domain whose page opens it."""
    protect: bool
    """Whether Pulumi refuses to delete or replace it: with it go all runs."""


class ManagedTracking(pulumi.ComponentResource):
    """The MLflow App. Its ARN is the tracking URI of a client with the plugin `sagemaker-mlflow`."""

    app_arn: pulumi.Output[str]
    """ARN of the app."""

    def __init__(self, name: str, args: ManagedTrackingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Registered models become model packages too, so that they can be deployed from there."""
        super().__init__("trainyard:index:ManagedTracking", name, None, opts)
        app = sagemaker.MlflowApp(
            name,
            name=args["app_name"],
            role_arn=args["role_arn"],
            artifact_store_uri=args["artifact_uri"],
            model_registration_mode="AutoModelRegistrationEnabled",
            account_default_status="DISABLED",
            default_domain_id_lists=[args["domain_id"]],
            weekly_maintenance_window_start=WINDOW,
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
        )
        self.app_arn = app.arn
        register(self)


class ModelRegistryArgs(TypedDict):
    """What `ModelRegistry` needs."""

    group_names: Sequence[str]
    """Names of the groups of models, 1 to 63 letters, digits and hyphens."""
    protect: bool
    """Whether Pulumi refuses to take a group out of the stack."""


class ModelRegistry(pulumi.ComponentResource):
    """Groups of registered models. A destroy leaves them: SageMaker deletes none that has a model."""

    group_arns: pulumi.Output[Sequence[str]]
    """ARNs of the groups."""

    def __init__(self, name: str, args: ModelRegistryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """No description: another one would replace the group with the models in it."""
        super().__init__("trainyard:index:ModelRegistry", name, None, opts)
        groups = [
            sagemaker.ModelPackageGroup(
                group,
                model_package_group_name=group,
                opts=pulumi.ResourceOptions(parent=self, protect=args["protect"], retain_on_delete=True),
            )
            for group in args["group_names"]
        ]
        self.group_arns = pulumi.Output.all(*[group.arn for group in groups])
        register(self)
