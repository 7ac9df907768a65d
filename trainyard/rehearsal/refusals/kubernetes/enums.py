"""Texts that the API server checks and the published schemas leave open, by definition and field.

Source: API reference of Kubernetes 1.35, and pkg/apis/*/validation of it as generally known.
"""

from __future__ import annotations

from typing import Final

_SCOPES: Final = (
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)  # fmt: skip
_ADMISSION: Final = ("ValidatingWebhook", "MutatingWebhook", "ValidatingAdmissionPolicySpec")
_RULES: Final = ("RuleWithOperations", "NamedRuleWithOperations")
_EXTENSIONS: Final = "apiextensions-apiserver.pkg.apis.apiextensions.v1"

ENUMS: Final[dict[str, tuple[str, ...]]] = {
    "core.v1.PodSpec.restartPolicy": ("Always", "OnFailure", "Never"),
    "core.v1.PodSpec.dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "core.v1.PodSpec.preemptionPolicy": ("Never", "PreemptLowerPriority"),
    "core.v1.Container.imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "core.v1.Container.terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
    "core.v1.ContainerPort.protocol": ("TCP", "UDP", "SCTP"),
    "core.v1.ServicePort.protocol": ("TCP", "UDP", "SCTP"),
    "core.v1.ServiceSpec.type": ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
    "core.v1.ServiceSpec.sessionAffinity": ("None", "ClientIP"),
    "core.v1.Toleration.operator": ("Exists", "Equal", "Lt", "Gt"),
    "core.v1.Toleration.effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    "core.v1.Taint.effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    "core.v1.NodeSelectorRequirement.operator": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    "core.v1.TopologySpreadConstraint.whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
    "core.v1.SeccompProfile.type": ("RuntimeDefault", "Unconfined", "Localhost"),
    "core.v1.PersistentVolumeSpec.persistentVolumeReclaimPolicy": ("Retain", "Delete", "Recycle"),
    "core.v1.PersistentVolumeSpec.volumeMode": ("Filesystem", "Block"),
    "core.v1.PersistentVolumeClaimSpec.volumeMode": ("Filesystem", "Block"),
    "core.v1.PersistentVolumeSpec.accessModes": ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
    "core.v1.PersistentVolumeClaimSpec.accessModes": (
        "ReadWriteOnce",
        "ReadOnlyMany",
        "ReadWriteMany",
        "ReadWriteOncePod",
    ),
    "core.v1.LimitRangeItem.type": ("Container", "Pod", "PersistentVolumeClaim"),
    "apps.v1.DeploymentStrategy.type": ("Recreate", "RollingUpdate"),
    "apps.v1.DaemonSetUpdateStrategy.type": ("OnDelete", "RollingUpdate"),
    "apps.v1.StatefulSetUpdateStrategy.type": ("OnDelete", "RollingUpdate"),
    "apps.v1.StatefulSetSpec.podManagementPolicy": ("OrderedReady", "Parallel"),
    "batch.v1.CronJobSpec.concurrencyPolicy": ("Allow", "Forbid", "Replace"),
    "batch.v1.JobSpec.completionMode": ("NonIndexed", "Indexed"),
    "networking.v1.NetworkPolicySpec.policyTypes": ("Ingress", "Egress"),
    "networking.v1.NetworkPolicyPort.protocol": ("TCP", "UDP", "SCTP"),
    "networking.v1.HTTPIngressPath.pathType": ("Exact", "Prefix", "ImplementationSpecific"),
    "policy.v1.PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy": ("IfHealthyBudget", "AlwaysAllow"),
    "meta.v1.LabelSelectorRequirement.operator": ("In", "NotIn", "Exists", "DoesNotExist"),
    "rbac.v1.Subject.kind": ("User", "Group", "ServiceAccount"),
    "rbac.v1.RoleRef.kind": ("Role", "ClusterRole"),
    "storage.v1.StorageClass.volumeBindingMode": ("Immediate", "WaitForFirstConsumer"),
    "storage.v1.StorageClass.reclaimPolicy": ("Delete", "Retain"),
    "core.v1.HostPathVolumeSource.type": (
        "",
        "DirectoryOrCreate",
        "Directory",
        "FileOrCreate",
        "File",
        "Socket",
        "CharDevice",
        "BlockDevice",
    ),
    "core.v1.ImageVolumeSource.pullPolicy": ("Always", "IfNotPresent", "Never"),
    "core.v1.VolumeMount.mountPropagation": ("None", "HostToContainer", "Bidirectional"),
    "core.v1.VolumeMount.recursiveReadOnly": ("Disabled", "IfPossible", "Enabled"),
    "core.v1.HTTPGetAction.scheme": ("HTTP", "HTTPS"),
    "core.v1.Container.restartPolicy": ("Always", "OnFailure", "Never"),
    "core.v1.ContainerResizePolicy.resourceName": ("cpu", "memory"),
    "core.v1.ContainerResizePolicy.restartPolicy": ("NotRequired", "RestartContainer"),
    "core.v1.PodSecurityContext.fsGroupChangePolicy": ("OnRootMismatch", "Always"),
    "core.v1.PodSecurityContext.supplementalGroupsPolicy": ("Merge", "Strict"),
    "core.v1.SecurityContext.procMount": ("Default", "Unmasked"),
    "core.v1.AppArmorProfile.type": ("RuntimeDefault", "Unconfined", "Localhost"),
    "core.v1.PodOS.name": ("linux", "windows"),
    "core.v1.TopologySpreadConstraint.nodeAffinityPolicy": ("Honor", "Ignore"),
    "core.v1.TopologySpreadConstraint.nodeTaintsPolicy": ("Honor", "Ignore"),
    "core.v1.ServiceSpec.internalTrafficPolicy": ("Cluster", "Local"),
    "core.v1.ServiceSpec.externalTrafficPolicy": ("Cluster", "Local"),
    "core.v1.ServiceSpec.ipFamilies": ("IPv4", "IPv6"),
    "core.v1.ServiceSpec.ipFamilyPolicy": ("SingleStack", "PreferDualStack", "RequireDualStack"),
    "core.v1.ServiceSpec.trafficDistribution": ("PreferClose", "PreferSameZone", "PreferSameNode"),
    "core.v1.ResourceQuotaSpec.scopes": _SCOPES,
    "core.v1.ScopedResourceSelectorRequirement.scopeName": _SCOPES,
    "core.v1.ScopedResourceSelectorRequirement.operator": ("In", "NotIn", "Exists", "DoesNotExist"),
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted": ("Retain", "Delete"),
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled": ("Retain", "Delete"),
    "autoscaling.v2.MetricSpec.type": ("Object", "Pods", "Resource", "ContainerResource", "External"),
    "autoscaling.v2.MetricTarget.type": ("Utilization", "Value", "AverageValue"),
    "autoscaling.v2.HPAScalingRules.selectPolicy": ("Max", "Min", "Disabled"),
    "autoscaling.v2.HPAScalingPolicy.type": ("Pods", "Percent"),
    "batch.v1.JobSpec.podReplacementPolicy": ("TerminatingOrFailed", "Failed"),
    "batch.v1.PodFailurePolicyRule.action": ("FailJob", "FailIndex", "Ignore", "Count"),
    "batch.v1.PodFailurePolicyOnExitCodesRequirement.operator": ("In", "NotIn"),
    "batch.v1.PodFailurePolicyOnPodConditionsPattern.status": ("True", "False", "Unknown"),
    "discovery.v1.EndpointSlice.addressType": ("IPv4", "IPv6", "FQDN"),
    "scheduling.v1.PriorityClass.preemptionPolicy": ("Never", "PreemptLowerPriority"),
    "storage.v1.CSIDriverSpec.fsGroupPolicy": ("None", "File", "ReadWriteOnceWithFSType"),
    "storage.v1.CSIDriverSpec.volumeLifecycleModes": ("Persistent", "Ephemeral"),
    "resource.v1.ExactDeviceRequest.allocationMode": ("ExactCount", "All"),
    "resource.v1.DeviceSubRequest.allocationMode": ("ExactCount", "All"),
    "resource.v1.DeviceToleration.operator": ("Exists", "Equal"),
    "resource.v1.DeviceToleration.effect": ("NoSchedule", "NoExecute"),
    "flowcontrol.v1.PriorityLevelConfigurationSpec.type": ("Exempt", "Limited"),
    "flowcontrol.v1.LimitResponse.type": ("Queue", "Reject"),
    **{f"admissionregistration.v1.{kind}.failurePolicy": ("Ignore", "Fail") for kind in _ADMISSION},
    **{
        f"admissionregistration.v1.{kind}.matchPolicy": ("Exact", "Equivalent")
        for kind in ("ValidatingWebhook", "MutatingWebhook", "MatchResources")
    },
    **{
        f"admissionregistration.v1.{kind}.operations": ("CREATE", "UPDATE", "DELETE", "CONNECT", "*") for kind in _RULES
    },
    **{f"admissionregistration.v1.{kind}.scope": ("Cluster", "Namespaced", "*") for kind in _RULES},
    "admissionregistration.v1.MutatingWebhook.reinvocationPolicy": ("Never", "IfNeeded"),
    "admissionregistration.v1.ParamRef.parameterNotFoundAction": ("Allow", "Deny"),
    "admissionregistration.v1.Validation.reason": (
        "Unauthorized",
        "Forbidden",
        "Invalid",
        "RequestEntityTooLarge",
    ),
    f"{_EXTENSIONS}.CustomResourceDefinitionSpec.scope": ("Cluster", "Namespaced"),
    f"{_EXTENSIONS}.CustomResourceConversion.strategy": ("None", "Webhook"),
    f"{_EXTENSIONS}.CustomResourceColumnDefinition.type": ("integer", "number", "string", "boolean", "date"),
}
"""What each may be. A list is checked entry by entry."""
