"""Metrics that services send of what other people's programs make, with their dimensions.

Source: each service's page of metrics and dimensions, as generally known (2026-11). There are more, so only a slip of
the pen is told of a metric; the dimensions are all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OFTEN_ELSEWHERE: Final[Mapping[str, tuple[str, ...]]] = {
    namespace: tuple(names.split())
    for namespace, names in {
        "AWS/ApiGateway": (
            "4XXError 4xx 5XXError 5xx CacheHitCount CacheMissCount ClientError ConnectCount Count DataProcessed "
            "ExecutionError IntegrationError IntegrationLatency Latency MessageCount"
        ),
        "AWS/ApplicationELB": (
            "ActiveConnectionCount AnomalousHostCount ClientTLSNegotiationErrorCount ConsumedLCUs "
            "DesyncMitigationMode_NonCompliant_Request_Count GrpcRequestCount HTTPCode_ELB_3XX_Count "
            "HTTPCode_ELB_4XX_Count HTTPCode_ELB_500_Count HTTPCode_ELB_502_Count HTTPCode_ELB_503_Count "
            "HTTPCode_ELB_504_Count HTTPCode_ELB_5XX_Count HTTPCode_Target_2XX_Count HTTPCode_Target_3XX_Count "
            "HTTPCode_Target_4XX_Count HTTPCode_Target_5XX_Count HTTP_Fixed_Response_Count HTTP_Redirect_Count "
            "HealthyHostCount HealthyStateDNS HealthyStateRouting LambdaInternalError LambdaTargetProcessedBytes "
            "LambdaUserError MitigatedHostCount NewConnectionCount PeakLCUs ProcessedBytes RejectedConnectionCount "
            "RequestCount RequestCountPerTarget RuleEvaluations TargetConnectionErrorCount TargetResponseTime "
            "TargetTLSNegotiationErrorCount UnHealthyHostCount UnhealthyRoutingRequestCount UnhealthyStateDNS "
            "UnhealthyStateRouting"
        ),
        "AWS/Athena": (
            "DPUAllocated DPUConsumed DPUCount EngineExecutionTime ProcessedBytes QueryPlanningTime QueryQueueTime "
            "ServicePreProcessingTime ServiceProcessingTime TotalExecutionTime"
        ),
        "AWS/AutoScaling": (
            "GroupAndWarmPoolDesiredCapacity GroupAndWarmPoolTotalCapacity GroupDesiredCapacity "
            "GroupInServiceCapacity GroupInServiceInstances GroupMaxSize GroupMinSize GroupPendingCapacity "
            "GroupPendingInstances GroupStandbyCapacity GroupStandbyInstances GroupTerminatingCapacity "
            "GroupTerminatingInstances GroupTotalCapacity GroupTotalInstances PredictiveScalingCapacityForecast "
            "PredictiveScalingLoadForecast PredictiveScalingMetricPairCorrelation WarmPoolDesiredCapacity "
            "WarmPoolMinSize WarmPoolPendingCapacity WarmPoolTerminatingCapacity WarmPoolTotalCapacity "
            "WarmPoolWarmedCapacity"
        ),
        "AWS/Backup": (
            "NumberOfBackupJobsAborted NumberOfBackupJobsCompleted NumberOfBackupJobsCreated "
            "NumberOfBackupJobsExpired NumberOfBackupJobsFailed NumberOfBackupJobsPending NumberOfBackupJobsRunning "
            "NumberOfCopyJobsCompleted NumberOfCopyJobsCreated NumberOfCopyJobsFailed NumberOfCopyJobsRunning "
            "NumberOfRecoveryPointsCold NumberOfRecoveryPointsCompleted NumberOfRecoveryPointsDeleting "
            "NumberOfRecoveryPointsExpired NumberOfRecoveryPointsPartial NumberOfRestoreJobsCompleted "
            "NumberOfRestoreJobsFailed NumberOfRestoreJobsPending NumberOfRestoreJobsRunning"
        ),
        "AWS/CertificateManager": "DaysToExpiry",
        "AWS/CodeBuild": "BuildDuration Builds Duration FailedBuilds QueuedDuration SucceededBuilds",
        "AWS/DynamoDB": (
            "AccountMaxReads AccountMaxWrites AccountProvisionedReadCapacityUtilization "
            "AccountProvisionedWriteCapacityUtilization AgeOfOldestUnreplicatedRecord ConditionalCheckFailedRequests "
            "ConsumedReadCapacityUnits ConsumedWriteCapacityUnits MaxProvisionedTableReadCapacityUtilization "
            "MaxProvisionedTableWriteCapacityUtilization OnDemandMaxReadRequestUnits OnDemandMaxWriteRequestUnits "
            "OnlineIndexConsumedWriteCapacity PendingReplicationCount ProvisionedReadCapacityUnits "
            "ProvisionedWriteCapacityUnits ReadThrottleEvents ReplicationLatency ReturnedBytes ReturnedItemCount "
            "ReturnedRecordsCount SuccessfulRequestLatency SystemErrors ThrottledPutRecordCount ThrottledRequests "
            "TimeToLiveDeletedItemCount TransactionConflict UserErrors WriteThrottleEvents"
        ),
        "AWS/EBS": (
            "BurstBalance VolumeAvgIOPS VolumeAvgReadLatency VolumeAvgThroughput VolumeAvgWriteLatency "
            "VolumeConsumedReadWriteOps VolumeIOPSExceededCheck VolumeIdleTime VolumeQueueLength VolumeReadBytes "
            "VolumeReadOps VolumeStalledIOCheck VolumeThroughputExceededCheck VolumeThroughputPercentage "
            "VolumeTotalReadTime VolumeTotalWriteTime VolumeWriteBytes VolumeWriteOps"
        ),
        "AWS/ECS": (
            "ActiveConnectionCount CPUReservation CPUUtilization EBSFilesystemUtilization GPUReservation "
            "MemoryReservation MemoryUtilization NewConnectionCount ProcessedBytes RequestCount TargetResponseTime"
        ),
        "AWS/ElastiCache": (
            "ActiveDefragHits AuthenticationFailures BytesUsedForCache CPUCreditBalance CPUUtilization CacheHitRate "
            "CacheHits CacheMisses CurrConnections CurrItems CurrVolatileItems DatabaseCapacityUsagePercentage "
            "DatabaseMemoryUsagePercentage ElastiCacheProcessingUnits EngineCPUUtilization Evictions FreeableMemory "
            "IsMaster MasterLinkHealthStatus MemoryFragmentationRatio NetworkBytesIn NetworkBytesOut NewConnections "
            "Reclaimed ReplicationBytes ReplicationLag SaveInProgress SwapUsage ThrottledCmds TrafficManagementActive"
        ),
        "AWS/ES": (
            "2xx 3xx 4xx 5xx AutomatedSnapshotFailure CPUCreditBalance CPUUtilization ClusterIndexWritesBlocked "
            "ClusterStatus.green ClusterStatus.red ClusterStatus.yellow ClusterUsedSpace DeletedDocuments "
            "FreeStorageSpace IndexingLatency IndexingRate JVMMemoryPressure KMSKeyError KMSKeyInaccessible "
            "MasterCPUUtilization MasterJVMMemoryPressure MasterReachableFromNode Nodes OldGenJVMMemoryPressure "
            "OpenSearchDashboardsHealthyNodes OpenSearchRequests SearchLatency SearchRate SearchableDocuments "
            "Shards.active Shards.unassigned SysMemoryUtilization ThreadpoolSearchQueue ThreadpoolSearchRejected "
            "ThreadpoolWriteQueue ThreadpoolWriteRejected WarmCPUUtilization WarmFreeStorageSpace"
        ),
        "AWS/Firehose": (
            "ActivePartitionsCount BackupToS3.DataFreshness BytesPerSecondLimit DataReadFromKinesisStream.Bytes "
            "DataReadFromKinesisStream.Records DeliveryToS3.Bytes DeliveryToS3.DataFreshness DeliveryToS3.ObjectCount "
            "DeliveryToS3.Records DeliveryToS3.Success ExecuteProcessing.Success FailedConversion.Records "
            "IncomingBytes IncomingPutRequests IncomingRecords KinesisMillisBehindLatest PartitionCountExceeded "
            "PutRecord.Latency PutRecordBatch.Latency RecordsPerSecondLimit SucceedConversion.Records "
            "SucceedProcessing.Records ThrottledDescribeStream ThrottledGetRecords ThrottledRecords"
        ),
        "AWS/Kinesis": (
            "GetRecords.Bytes GetRecords.IteratorAge GetRecords.IteratorAgeMilliseconds GetRecords.Latency "
            "GetRecords.Records GetRecords.Success IncomingBytes IncomingRecords IteratorAgeMilliseconds "
            "OutgoingBytes OutgoingRecords PutRecord.Bytes PutRecord.Latency PutRecord.Success PutRecords.Bytes "
            "PutRecords.FailedRecords PutRecords.Latency PutRecords.SuccessfulRecords PutRecords.ThrottledRecords "
            "PutRecords.TotalRecords ReadProvisionedThroughputExceeded SubscribeToShard.RateExceeded "
            "SubscribeToShardEvent.MillisBehindLatest WriteProvisionedThroughputExceeded"
        ),
        "AWS/Lambda": (
            "AsyncEventAge AsyncEventsDropped AsyncEventsReceived ClaimedAccountConcurrency ConcurrentExecutions "
            "DeadLetterErrors DeletedEventCount DestinationDeliveryFailures DroppedEventCount Duration Errors "
            "FailedInvokeEventCount FilteredOutEventCount Invocations InvokedEventCount IteratorAge OffsetLag "
            "OnFailureDestinationDeliveredEventCount PolledEventCount PostRuntimeExtensionsDuration "
            "ProvisionedConcurrencyInvocations ProvisionedConcurrencySpilloverInvocations "
            "ProvisionedConcurrencyUtilization ProvisionedConcurrentExecutions RecursiveInvocationsDropped "
            "SignatureValidationErrors Throttles UnreservedConcurrentExecutions Url4xxCount Url5xxCount "
            "UrlRequestCount UrlRequestLatency"
        ),
        "AWS/NetworkELB": (
            "ActiveFlowCount ActiveFlowCount_TCP ActiveFlowCount_TLS ActiveFlowCount_UDP "
            "ClientTLSNegotiationErrorCount ConsumedLCUs HealthyHostCount NewFlowCount NewFlowCount_TCP "
            "NewFlowCount_TLS PeakBytesPerSecond PeakPacketsPerSecond PortAllocationErrorCount ProcessedBytes "
            "ProcessedPackets RejectedFlowCount TCP_Client_Reset_Count TCP_ELB_Reset_Count TCP_Target_Reset_Count "
            "TargetTLSNegotiationErrorCount UnHealthyHostCount UnhealthyRoutingFlowCount"
        ),
        "AWS/Route53": (
            "ChildHealthCheckHealthyCount ConnectionTime DNSQueries HealthCheckPercentageHealthy HealthCheckStatus "
            "SSLHandshakeTime TimeToFirstByte"
        ),
        "AWS/SQS": (
            "ApproximateAgeOfOldestMessage ApproximateNumberOfGroupsWithInflightMessages "
            "ApproximateNumberOfMessagesDelayed ApproximateNumberOfMessagesNotVisible "
            "ApproximateNumberOfMessagesVisible NumberOfDeduplicatedSentMessages NumberOfEmptyReceives "
            "NumberOfMessagesDeleted NumberOfMessagesReceived NumberOfMessagesSent SentMessageSize"
        ),
        "AWS/SageMaker": (
            "ApproximateAgeOfOldestRequest ApproximateBacklogSize ApproximateBacklogSizePerInstance "
            "ConcurrentRequestsPerCopy ConcurrentRequestsPerModel ExpiredRequests FirstChunkInvocations "
            "FirstChunkLatency HasBacklogWithoutCapacity Invocation4XXErrors Invocation5XXErrors "
            "InvocationModelErrors Invocations InvocationsPerCopy InvocationsPerInstance MidStreamErrors "
            "ModelCacheHit ModelDownloadingTime ModelLatency ModelLoadingTime ModelLoadingWaitTime ModelSetupTime "
            "ModelUnloadingTime OverheadLatency TotalProcessingTime"
        ),
        "AWS/States": (
            "ActivitiesFailed ActivitiesHeartbeatTimedOut ActivitiesScheduled ActivitiesStarted ActivitiesSucceeded "
            "ActivitiesTimedOut ActivityRunTime ActivityScheduleTime ActivityTime ConsumedCapacity ExecutionThrottled "
            "ExecutionTime ExecutionsAborted ExecutionsFailed ExecutionsRedriven ExecutionsStarted "
            "ExecutionsSucceeded ExecutionsTimedOut ExpressExecutionBilledDuration ExpressExecutionBilledMemory "
            "ExpressExecutionMemory LambdaFunctionRunTime LambdaFunctionScheduleTime LambdaFunctionTime "
            "LambdaFunctionsFailed LambdaFunctionsScheduled LambdaFunctionsStarted LambdaFunctionsSucceeded "
            "LambdaFunctionsTimedOut OpenExecutionCount OpenExecutionLimit ProvisionedBucketSize "
            "ProvisionedRefillRate RedrivenExecutionsAborted RedrivenExecutionsFailed RedrivenExecutionsSucceeded "
            "RedrivenExecutionsTimedOut ServiceIntegrationRunTime ServiceIntegrationScheduleTime "
            "ServiceIntegrationTime ServiceIntegrationsFailed ServiceIntegrationsScheduled ServiceIntegrationsStarted "
            "ServiceIntegrationsSucceeded ServiceIntegrationsTimedOut ThrottledEvents"
        ),
        "AWS/Scheduler": (
            "InvocationAttemptCount InvocationDroppedCount InvocationThrottleCount "
            "InvocationsFailedToBeSentToDeadLetterCount InvocationsSentToDeadLetterCount TargetErrorCount "
            "TargetErrorThrottledCount"
        ),
        "AWS/Events": (
            "DeadLetterInvocations Events FailedInvocations IngestionToInvocationCompleteLatency "
            "IngestionToInvocationStartLatency IngestionToInvocationSuccessLatency InvocationAttempts Invocations "
            "InvocationsCreated InvocationsFailedToBeSentToDlq InvocationsSentToDlq MatchedEvents "
            "PutEventsApproximateCallCount PutEventsApproximateFailedCount PutEventsApproximateThrottledCount "
            "PutEventsEntriesCount PutEventsFailedEntriesCount PutEventsLatency PutEventsRequestSize "
            "RetryInvocationAttempts SuccessfulInvocationAttempts ThrottledRules TriggeredRules"
        ),
        "AWS/Logs": (
            "AnomalyCount CallCount DeliveryErrors DeliveryThrottling EMFParsingErrors EMFValidationErrors ErrorCount "
            "ForwardedBytes ForwardedLogEvents IncomingBytes IncomingLogEvents LogEventsWithFindings ThrottleCount"
        ),
        "AWS/WAFV2": (
            "AllowedRequests BlockedRequests CaptchaRequests ChallengeRequests CountedRequests PassedRequests "
            "RequestsWithValidCaptchaToken RequestsWithValidChallengeToken"
        ),
    }.items()
}
KEYS_ELSEWHERE: Final[Mapping[str, frozenset[str]]] = {
    namespace: frozenset(names.split())
    for namespace, names in {
        "AWS/ApplicationELB": "AvailabilityZone LoadBalancer TargetGroup",
        "AWS/NetworkELB": "AvailabilityZone LoadBalancer TargetGroup",
        "AWS/CertificateManager": "CertificateArn",
        "AWS/CodeBuild": "BuildId BuildNumber ProjectName",
        "AWS/DynamoDB": (
            "DelegatedOperation GlobalSecondaryIndexName Operation OperationType Principal ReceivingRegion Source "
            "StreamLabel TableName Verb"
        ),
        "AWS/EBS": "InstanceId VolumeId",
        "AWS/ECS": "ClusterName DiscoveryName ServiceName TargetDiscoveryName",
        "AWS/Firehose": "ApiName DeliveryStreamName",
        "AWS/Kinesis": "ConsumerName ShardId StreamName",
        "AWS/SageMaker": (
            "ContainerName EndpointConfigName EndpointName HostName InferenceComponentName InstanceId ModelName "
            "MultiModelName VariantName"
        ),
        "AWS/States": (
            "APIName ActivityArn Alias BucketName LambdaFunctionArn MapRunArn ServiceIntegrationResourceArn "
            "ServiceMetric StateMachineAliasArn StateMachineArn StateMachineVersionArn StateTransition ThrottledAPI "
            "Version"
        ),
        "AWS/Scheduler": "ScheduleGroup",
    }.items()
}
WITH_DIMENSIONS: Final = frozenset({
    "AWS/ApplicationELB", "AWS/AutoScaling", "AWS/CertificateManager", "AWS/EBS", "AWS/ECS", "AWS/EFS", "AWS/FSx",
    "AWS/Firehose", "AWS/Kinesis", "AWS/NATGateway", "AWS/NetworkELB", "AWS/S3", "AWS/SNS", "AWS/SQS",
})  # fmt: skip
"""Namespaces that count by one thing each, and never over all of an account; of topics, texts to telephones too."""
OVER_ALL: Final = ("SMSMonthToDateSpentUSD", "SMSSuccessRate")
"""Metrics of such a namespace that are counted over all as well."""
NAMED_ELSEWHERE: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("AWS/AutoScaling", "AutoScalingGroupName"): ("aws:autoscaling/group:Group", "name"),
    ("AWS/CodeBuild", "ProjectName"): ("aws:codebuild/project:Project", "name"),
    ("AWS/EC2", "AutoScalingGroupName"): ("aws:autoscaling/group:Group", "name"),
    ("AWS/ECS", "ClusterName"): ("aws:ecs/cluster:Cluster", "name"),
    ("AWS/ECS", "ServiceName"): ("aws:ecs/service:Service", "name"),
    ("AWS/ES", "DomainName"): ("aws:opensearch/domain:Domain", "domainName"),
    ("AWS/Firehose", "DeliveryStreamName"): ("aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream", "name"),
    ("AWS/Kinesis", "StreamName"): ("aws:kinesis/stream:Stream", "name"),
    ("AWS/SageMaker", "EndpointName"): ("aws:sagemaker/endpoint:Endpoint", "name"),
    ("AWS/States", "StateMachineArn"): ("aws:sfn/stateMachine:StateMachine", ""),
}
"""Which type a dimension names, and by which input; by its id where there is none."""
