"""Templates of the editors of managed training: notebooks of Colab Enterprise, each on a machine of its own.

A template costs nothing and people make no other, so that it is the ceiling of an editor: its machine, its disk, its
network, its key, and when it is shut down. The machine itself is made by who opens a notebook, and is paid for while it
runs.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.colab as colab

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

LEAST_IDLE_MINUTES, MOST_IDLE_MINUTES = 10, 1440
"""What `idle_timeout` takes (pulumi_gcp 10.2.0: 10 minutes to 24 hours; 0 switches it off)."""


class EditorMachineArgs(TypedDict):
    """The machine of a template."""

    name: str
    """Short name that stays: letters, digits and hyphens."""
    machine_type: str
    """Machine type of Compute Engine, such as e2-standard-4."""
    accelerator_type: NotRequired[str]
    """Its GPU as Vertex AI calls it, such as NVIDIA_L4. Default: it has none."""
    accelerator_count: NotRequired[int]
    """How many of them, where it has any."""


class EditorTemplatesArgs(TypedDict):
    """What `EditorTemplates` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    location: pulumi.Input[str]
    """Region of the editors."""
    environment: str
    """Name of the environment, for whoever chooses a template."""
    machines: Sequence[EditorMachineArgs]
    """Machines, a template each."""
    network_id: pulumi.Input[str]
    """Id of the network that editors stand in."""
    subnetwork_id: pulumi.Input[str]
    """Id of its subnet."""
    internet: bool
    """Whether they reach the internet by a way of Google's. Without it they have the network's own way, or none."""
    key_id: pulumi.Input[str]
    """Key of their disks, in the region."""
    idle_minutes: int
    """Minutes without work after which an editor is shut down: 10 to 1440."""
    disk_gib: int
    """Disk of an editor, GB: 10 to 65536."""
    labels: Mapping[str, str]
    """Labels on the bill."""
    people: Sequence[str]
    """Who opens editors of these templates, as IAM members. May be empty: then owners of the project alone do."""
    role: pulumi.Input[str]
    """Role that they are given on each, `projects/PROJECT/roles/ROLE`."""


class EditorTemplates(pulumi.ComponentResource):
    """A template a machine type. `depends_on` is what it waits for: services, the agents' rights on the key."""

    template_names: list[pulumi.Output[str]]
    """Names of the templates, in the order of the machines."""

    def __init__(self, name: str, args: EditorTemplatesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for no machine, a GPU without a number, and minutes or a size that Google refuses."""
        super().__init__("trainyard:index:EditorTemplates", name, None, opts)
        idle = args["idle_minutes"]
        if not args["machines"]:
            raise ValueError("machines: got none; at least one")
        for machine in args["machines"]:
            if ("accelerator_type" in machine) != ("accelerator_count" in machine):
                raise ValueError(f"machine {machine['name']}: accelerator_type and accelerator_count go together")
        if not LEAST_IDLE_MINUTES <= idle <= MOST_IDLE_MINUTES:
            raise ValueError(f"idle_minutes: got {idle}; {LEAST_IDLE_MINUTES} to {MOST_IDLE_MINUTES}")
        if not 10 <= args["disk_gib"] <= 65_536:
            raise ValueError(f"disk_gib: got {args['disk_gib']}; 10 to 65536")
        templates = [
            colab.RuntimeTemplate(
                f"{name}-{machine['name']}",
                project=args["project"],
                location=args["location"],
                display_name=f"{args['environment']}: {machine['name']}",
                description=f"Shut down after {idle} minutes without work",
                machine_spec={
                    "machine_type": machine["machine_type"],
                    "accelerator_type": machine.get("accelerator_type"),
                    "accelerator_count": machine.get("accelerator_count"),
                },
                data_persistent_disk_spec={"disk_type": "pd-balanced", "disk_size_gb": str(args["disk_gib"])},
                network_spec={
                    "enable_internet_access": args["internet"],
                    "network": args["network_id"],
                    "subnetwork": args["subnetwork_id"],
                },
                idle_shutdown_config={"idle_timeout": f"{idle * 60}s"},
                # An editor has the rights of who opened it, and no account's.
                euc_config={"euc_disabled": False},
                shielded_vm_config={"enable_secure_boot": True},
                encryption_spec={"kms_key_name": args["key_id"]},
                labels=dict(args["labels"]),
                opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
            )
            for machine in args["machines"]
        ]
        self.template_names = [template.name for template in templates]
        for machine, template in zip(args["machines"], templates, strict=True):
            for member in args["people"]:
                colab.RuntimeTemplateIamMember(
                    f"{name}-{machine['name']}-{member.partition(':')[2]}",
                    project=args["project"],
                    location=args["location"],
                    runtime_template=template.name,
                    role=args["role"],
                    member=member,
                    opts=pulumi.ResourceOptions(parent=self),
                )
        register(self)
