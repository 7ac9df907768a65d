"""The components as a Pulumi package, which programs in TypeScript, Go, Java, .NET or YAML use like any other.

A platform team adds it with `pulumi package add` and gets typed classes with the arguments and outputs of the
components here; Pulumi starts this program to make their resources. The schema follows from the types and docstrings of
the components, so these keep to what a schema can say: arguments are TypedDicts, outputs plain values. Lists of
resources that our own program waits for are annotated in `__init__`, which the schema does not see.
"""

from importlib.metadata import version
from typing import Any

import pulumi
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.component import ComponentProvider

from trainyard.components.aws.backup_alerts import BackupAlerts
from trainyard.components.aws.bastion import Bastion
from trainyard.components.aws.break_glass import BreakGlass
from trainyard.components.aws.buckets import Bucket
from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.database import Database
from trainyard.components.aws.dns_firewall import DnsFirewall
from trainyard.components.aws.encryption import EnvironmentKey
from trainyard.components.aws.existing_network import ExistingNetwork
from trainyard.components.aws.gpu_nodes import GpuNodeGroups
from trainyard.components.aws.identity import PodRole
from trainyard.components.aws.image_cache import ImageCache
from trainyard.components.aws.lustre import LustreFileSystem
from trainyard.components.aws.managed.alarms import JobAlerts, SpendingBrake
from trainyard.components.aws.managed.domain import ManagedDomain
from trainyard.components.aws.managed.job_alarms import JobAlarms
from trainyard.components.aws.managed.network import TrainingWall
from trainyard.components.aws.managed.roles import ManagedRoles
from trainyard.components.aws.managed.tracking import ManagedTracking, ModelRegistry
from trainyard.components.aws.managed_prometheus import ManagedPrometheus, ManagedRules
from trainyard.components.aws.network import Network
from trainyard.components.aws.on_cluster.autoscaler import ClusterAutoscaler
from trainyard.components.aws.on_cluster.block_storage import BlockStorage
from trainyard.components.aws.on_cluster.drivers import StorageDrivers
from trainyard.components.aws.on_cluster.team_logs import TeamLogGroup, TeamLogs
from trainyard.components.aws.security_alerts import SecurityAlerts
from trainyard.components.aws.shared_files import SharedFileSystem
from trainyard.components.aws.storage import StorageTiers
from trainyard.components.aws.threat_detection import ThreatDetection
from trainyard.components.aws.trail import AuditTrail
from trainyard.components.aws.watchdog import Watchdog
from trainyard.components.gcp.alerts import AlertMetrics, AlertPolicies
from trainyard.components.gcp.backup_alarms import BackupAlarms
from trainyard.components.gcp.buckets import GcsBucket
from trainyard.components.gcp.budget import ProjectBudget
from trainyard.components.gcp.cluster import GkeCluster
from trainyard.components.gcp.database import CloudSqlDatabase
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.fabric_networks import FabricNetworks
from trainyard.components.gcp.google_apis import GoogleApis
from trainyard.components.gcp.gpu_nodes import GkeNodePools
from trainyard.components.gcp.identity import PodIdentity
from trainyard.components.gcp.image_cache import RemoteImages
from trainyard.components.gcp.lustre import ManagedLustre
from trainyard.components.gcp.managed.alarms import VertexAlarms
from trainyard.components.gcp.managed.ceilings import ClosedQuotas
from trainyard.components.gcp.managed.editors import EditorTemplates
from trainyard.components.gcp.managed.identities import CustomCodeAgent, ManagedIdentities
from trainyard.components.gcp.managed.tracking import Experiments
from trainyard.components.gcp.managed.tracking_server import TrackingServer
from trainyard.components.gcp.network import VpcNetwork
from trainyard.components.gcp.on_cluster.block_storage import DiskStorage
from trainyard.components.gcp.on_cluster.folders import SharedFolders
from trainyard.components.gcp.on_cluster.gpudirect import GpuDirect
from trainyard.components.gcp.on_cluster.pod_networks import PodNetworks
from trainyard.components.gcp.record import ProjectRecord, RecordAlarms
from trainyard.components.gcp.services import ProjectServices
from trainyard.components.gcp.shared_files import FilestoreShare
from trainyard.components.gcp.shared_network import SharedVpc
from trainyard.components.gcp.storage import GcsStorageTiers
from trainyard.components.gcp.tpu_nodes import TpuSlices
from trainyard.components.k8s.checkpoint_check import CheckpointCheck
from trainyard.components.k8s.checkpoint_drill import CheckpointDrill
from trainyard.components.k8s.egress_proxy import EgressProxy
from trainyard.components.k8s.gpu import GpuEnablement
from trainyard.components.k8s.ingest import Ingest
from trainyard.components.k8s.kueue import Kueue
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.monitoring import Monitoring
from trainyard.components.k8s.notebooks import Notebooks
from trainyard.components.k8s.runtimes import TrainingRuntimes
from trainyard.components.k8s.slice_proof import SliceProof
from trainyard.components.k8s.smoke import SmokeJob
from trainyard.components.k8s.teams import TeamNamespaces
from trainyard.components.k8s.volumes import TeamVolumes
from trainyard.components.training_proof import TrainingProof

NAME = "trainyard"
"""Name of the package: the first part of every component's type."""

COMPONENTS: tuple[type[pulumi.ComponentResource], ...] = (
    AlertMetrics,
    AlertPolicies,
    AuditTrail,
    BackupAlarms,
    BackupAlerts,
    Bastion,
    BlockStorage,
    BreakGlass,
    Bucket,
    BudgetAlerts,
    CheckpointCheck,
    CheckpointDrill,
    ClosedQuotas,
    CloudSqlDatabase,
    Cluster,
    ClusterAutoscaler,
    CustomCodeAgent,
    Database,
    DiskStorage,
    DnsFirewall,
    EditorTemplates,
    EgressProxy,
    EnvironmentKey,
    ExistingNetwork,
    Experiments,
    FabricNetworks,
    FilestoreShare,
    GcsBucket,
    GcsStorageTiers,
    GkeCluster,
    GkeNodePools,
    GoogleApis,
    GpuDirect,
    GpuEnablement,
    GpuNodeGroups,
    ImageCache,
    Ingest,
    JobAlarms,
    JobAlerts,
    Kueue,
    LustreFileSystem,
    ManagedDomain,
    ManagedIdentities,
    ManagedLustre,
    ManagedPrometheus,
    ManagedRoles,
    ManagedRules,
    ManagedTracking,
    MlflowServer,
    ModelRegistry,
    Monitoring,
    Network,
    Notebooks,
    PodIdentity,
    PodNetworks,
    PodRole,
    ProjectBudget,
    ProjectKeys,
    ProjectRecord,
    ProjectServices,
    RecordAlarms,
    RemoteImages,
    SecurityAlerts,
    SharedFileSystem,
    SharedFolders,
    SharedVpc,
    SliceProof,
    SmokeJob,
    SpendingBrake,
    StorageDrivers,
    StorageTiers,
    TeamLogGroup,
    TeamLogs,
    TeamNamespaces,
    TeamVolumes,
    ThreatDetection,
    TpuSlices,
    TrackingServer,
    TrainingProof,
    TrainingRuntimes,
    TrainingWall,
    VertexAlarms,
    VpcNetwork,
    Watchdog,
)


class Components(ComponentProvider):
    """The SDK's own provider, with whole numbers.

    A request carries every number as a double, and the SDK (3.272.0, `ComponentProvider.map_input_properties`) converts
    integers but then hands on what it got: `1024.0` would become the quantity "1024.0Gi". For the same reason this is
    not `component_provider_host`, which makes a provider of the SDK's class.
    """

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Makes a component from inputs as the engine sends them."""
        return super().construct(name, resource_type, whole_numbers(inputs), options)


def whole_numbers(value: Any) -> Any:
    """The value with an int for every number that is whole, inside of maps, lists and outputs too."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_numbers(item) for item in value]
    return value.apply(whole_numbers) if isinstance(value, pulumi.Output) else value


def provider() -> Components:
    """The package; raises an error of the SDK's analyzer for a component that has no schema."""
    return Components(list(COMPONENTS), NAME, version=version(NAME))
