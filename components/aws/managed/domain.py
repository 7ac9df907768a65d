"""SageMaker's domain: where people open notebooks and editors, and what ends those that nobody uses.

No `App` is ever made here: it is the running machine. People open theirs, and idle settings close them.
"""

import base64
import json
from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_aws.sagemaker as sagemaker

from trainyard.components.outputs import register

LONGEST_SCRIPT = 16_384
"""Characters of a lifecycle configuration, in base64 (SageMaker API, CreateStudioLifecycleConfig, 2026-11)."""

HIDDEN_APPS = ("Canvas", "JupyterServer", "KernelGateway", "RSessionGateway", "RStudioServerPro")
"""Kinds of app that the page does not offer: none of them has idle settings here."""


class ManagedDomainArgs(TypedDict):
    """What `ManagedDomain` needs."""

    domain_name: str
    """Name of the domain, 1 to 63 letters, digits and inner hyphens."""
    vpc_id: pulumi.Input[str]
    """VPC of the domain."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets, one of every zone from the first day: another list replaces the domain with all its homes."""
    security_group_id: pulumi.Input[str]
    """Group of editors, where they go out through the VPC."""
    private: bool
    """Whether they do."""
    key_arn: pulumi.Input[str]
    """KMS key of homes and disks."""
    execution_role_arn: pulumi.Input[str]
    """Role of people in their editors."""
    user_profiles: Sequence[str]
    """Names of the user profiles, one a person: 1 to 63 letters, digits and hyphens."""
    editor_type: str
    """Instance type that an editor has unless its owner picks another."""
    idle_minutes: int
    """Minutes without work after which an editor is stopped, 60 at least."""
    kernel_idle_minutes: int
    """Minutes after which an idle kernel or terminal is ended: to SageMaker, an open one is work."""
    space_gib: int
    """Disk of an editor, GiB."""
    max_space_gib: int
    """Largest disk that its owner may give it, GiB."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the domain."""


class ManagedDomain(pulumi.ComponentResource):
    """The domain with its user profiles and its lifecycle configuration."""

    domain_id: pulumi.Output[str]
    """Id of the domain, `d-…`."""
    domain_url: pulumi.Output[str]
    """Address of the domain; a person comes in by `aws sagemaker create-presigned-domain-url`."""

    def __init__(self, name: str, args: ManagedDomainArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the field, for what SageMaker would refuse or not do."""
        _check(name, args)
        super().__init__("trainyard:index:ManagedDomain", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        culling = sagemaker.StudioLifecycleConfig(
            f"{name}-kernels",
            studio_lifecycle_config_name=f"{args['domain_name']}-kernels",
            studio_lifecycle_config_app_type="JupyterLab",
            studio_lifecycle_config_content=encoded(culling_script(args["kernel_idle_minutes"])),
            # Its name is fixed, and another script is another configuration.
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        idle: sagemaker.DomainDefaultUserSettingsJupyterLabAppSettingsAppLifecycleManagementIdleSettingsArgsDict = {
            "lifecycle_management": "ENABLED",
            "idle_timeout_in_minutes": args["idle_minutes"],
            # Nobody gives himself another time.
            "min_idle_timeout_in_minutes": args["idle_minutes"],
            "max_idle_timeout_in_minutes": args["idle_minutes"],
        }
        domain = sagemaker.Domain(
            name,
            domain_name=args["domain_name"],
            auth_mode="IAM",
            app_network_access_type="VpcOnly" if args["private"] else "PublicInternetOnly",
            vpc_id=args["vpc_id"],
            subnet_ids=list(args["subnet_ids"]),
            kms_key_id=args["key_arn"],
            tag_propagation="ENABLED",  # the bill of an editor names the environment
            default_user_settings={
                "execution_role": args["execution_role_arn"],
                "security_groups": [args["security_group_id"]],
                "auto_mount_home_efs": "Disabled",  # homes are disks of their own
                "studio_web_portal": "ENABLED",
                "default_landing_uri": "studio::",
                "studio_web_portal_settings": {"hidden_app_types": list(HIDDEN_APPS)},
                "jupyter_lab_app_settings": {
                    "app_lifecycle_management": {"idle_settings": idle},
                    "lifecycle_config_arns": [culling.arn],
                    "default_resource_spec": {
                        "instance_type": args["editor_type"],
                        "lifecycle_config_arn": culling.arn,
                    },
                },
                "code_editor_app_settings": {
                    "app_lifecycle_management": {"idle_settings": {**idle}},
                    "default_resource_spec": {"instance_type": args["editor_type"]},
                },
                "space_storage_settings": {
                    "default_ebs_storage_settings": {
                        "default_ebs_volume_size_in_gb": args["space_gib"],
                        "maximum_ebs_volume_size_in_gb": args["max_space_gib"],
                    }
                },
            },
            # Names the person in the trail.
            domain_settings={"execution_role_identity_config": "USER_PROFILE_NAME"},
            # The home file system stays empty, and a retained one keeps an interface in every subnet.
            retention_policy={"home_efs_file_system": "Delete"},
            tags={"Name": args["domain_name"]},
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
        )
        for person in args["user_profiles"]:
            sagemaker.UserProfile(f"{name}-{person}", domain_id=domain.id, user_profile_name=person, opts=child)
        self.domain_id, self.domain_url = domain.id, domain.url
        register(self)


def culling_script(minutes: int) -> str:
    """The script that an editor runs before Jupyter starts: its configuration ends kernels and terminals at rest.

    A kernel that computes is not at rest, whether somebody looks or not.
    """
    seconds = 60 * minutes
    configuration = {
        "MappingKernelManager": {
            "cull_idle_timeout": seconds,
            "cull_interval": 300,
            "cull_connected": True,
            "cull_busy": False,
        },
        "TerminalManager": {"cull_inactive_timeout": seconds, "cull_interval": 300},
    }
    text = json.dumps(configuration, indent=2)
    folder = '"$HOME/.jupyter"'
    return f"#!/bin/bash\nset -eu\nmkdir -p {folder}\ncat > {folder}/jupyter_server_config.json <<'END'\n{text}\nEND\n"


def encoded(script: str) -> str:
    """A script as SageMaker takes it."""
    return base64.b64encode(script.encode()).decode()


def _check(name: str, args: ManagedDomainArgs) -> None:
    script = encoded(culling_script(args["kernel_idle_minutes"]))
    if len(script) > LONGEST_SCRIPT:
        raise ValueError(f"{name}: the lifecycle script has {len(script)} characters, at most {LONGEST_SCRIPT}")
    if args["idle_minutes"] < 60:
        raise ValueError(f"{name}: idle_minutes is {args['idle_minutes']}; SageMaker takes 60 at least")
    if not args["subnet_ids"]:
        raise ValueError(f"{name}: subnet_ids is empty; a domain needs one of every zone")
    if args["space_gib"] > args["max_space_gib"]:
        raise ValueError(f"{name}: space_gib is {args['space_gib']}, above max_space_gib, {args['max_space_gib']}")
