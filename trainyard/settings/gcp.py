"""Settings: what only Google Cloud understands, the block `gcp` of a stack file."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.settings.shared_network import SharedNetwork
from trainyard.settings.tpus import TpuPool
from trainyard.settings.types import Model, Name, PublicCidr, StandIn, TextLikeNumber, matching


class Gcp(Model):
    """An environment's settings that have a meaning on Google Cloud alone."""

    project: (
        Annotated[
            str,
            matching(
                r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
                "must be a project's id: 6 to 30 of a-z, 0-9 and -, a letter first, no - last",
            ),
            StandIn("unseen-{number:06}"),
        ]
        | None
    ) = Field(default=None, description="id of the project; it has to be there")
    project_number: (
        Annotated[
            TextLikeNumber,
            matching(r"[1-9][0-9]{5,19}", "must be a project's number, digits in quotes"),
            StandIn("9{number:011}"),
        ]
        | None
    ) = Field(
        default=None,
        description="number of the project, digits in quotes; pods' rights are named by it",
    )
    billing_account: (
        Annotated[
            str,
            matching(r"[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}", "must look like 012345-6789AB-CDEF01"),
            StandIn("0{number:05}-6789AB-CDEF01"),
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "the billing account, for a budget of Google's, which needs a right on it; without one there is no such "
            "budget, and no managed training, which nothing else counts the money of"
        ),
    )
    billing_currency: Annotated[str, matching(r"[A-Z]{3}", "must be a currency's three letters, like USD")] = Field(
        default="USD", description="currency of the billing account: a budget takes no other"
    )
    billing_units_per_usd: float = Field(
        default=1.0,
        gt=0,
        le=100_000,
        description="units of that currency for one US dollar, in which the budget is told; 1 where it is dollars",
    )
    organisation_domain: (
        Annotated[
            str,
            matching(
                r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])",
                "must be a domain in lower case, like acme.example",
            ),
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "domain of the organisation: groups below its gke-security-groups@ are then groups on the cluster"
        ),
    )
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] | None = Field(
        default=None, description="GKE's channel, which moves the control plane's version on"
    )
    api_networks: dict[Name, PublicCidr] = Field(
        default={},
        max_length=50,
        description=(
            "public networks, by a name for people, that reach the cluster's API by its address too; by default it is "
            "reached by its DNS name alone, which IAM guards"
        ),
    )
    bucket_networks: dict[Name, PublicCidr] | None = Field(
        default=None,
        description=(
            "public networks, by a name for people, that reach data, checkpoints and artifacts besides the VPC, those "
            "of whoever deploys among them, unless they have storage.buckets.exemptFromIpFilter; {} for the VPC alone. "
            "By default whoever has a right reaches them from everywhere. It is never taken back, only switched off "
            "by hand"
        ),
    )
    data_cache_hours: int | None = Field(
        default=None,
        ge=1,
        le=168,
        description=(
            "hours that data stay in a cache on SSDs (Anywhere Cache) in each zone of the GPU pools after they were "
            "read there; no cache by default, and none has a price in the catalogue"
        ),
    )
    shared_files_gib: int | None = Field(
        default=None,
        ge=1024,
        le=102_400,
        description=(
            "size of the shared file system (Filestore), GiB, from 10,240 on in steps of 2,560, which asks for "
            "one; it is paid for, used or not"
        ),
    )
    network_project: (
        Annotated[
            str,
            matching(
                r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
                "must be a project's id: 6 to 30 of a-z, 0-9 and -, a letter first, no - last",
            ),
        ]
        | None
    ) = Field(default=None, description="id of the host project, where the network is a Shared VPC's")
    shared_network: SharedNetwork | None = Field(
        default=None, description="the Shared VPC that nodes stand in, in place of a network of the environment's own"
    )
    fast_network: Literal["dranet", "networks", "tcpx", "tcpxo"] | None = Field(
        default=None,
        description=(
            "how pods get the fast interfaces of a pool. Of A3 Ultra and A4: dranet, by claims, of which GKE sets up "
            "everything (the default); networks, by annotations, over networks of the stack's own. Of A3 High: tcpx, "
            "of A3 Mega: tcpxo, over networks of the stack's own and with a daemon of Google's in each pod, which is "
            "root of the node. Teams' namespaces then enforce no pod security level: admission policies hold baseline "
            "for all but that daemon. With tcpxo training programs have the folder of each of the node's network cards "
            "in sysfs, in which root configures, resets and removes a card. Who does not trust Google's daemon, or "
            "training programs with that, leaves it out and sets the pool's fabric: false"
        ),
    )
    tpu_pools: dict[Name, TpuPool] = Field(
        default={},
        max_length=10,
        description="pools of TPU slices by name, beside the GPU pools: no profile has one",
    )
    database_tier: (
        Annotated[str, matching(r"db-custom-[0-9]{1,2}-[0-9]{4,6}", "must look like db-custom-2-7680 (CPUs, MiB)")]
        | None
    ) = Field(default=None, description="of the tracking server's database, like db-custom-2-7680")
