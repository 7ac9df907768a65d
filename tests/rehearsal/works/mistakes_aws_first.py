"""Sixty mistakes in what is made of AWS, written from the components alone, before any rule was read."""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import refer, reworded, statement, user_data, without
from tests.rehearsal.works.mistakes import DROP, Mistake, drop, edit, in_json, put

LARGE, UAE = "large-aws", "uae-aws"
SECURITY = "arn:aws:sns:us-east-1:123456789012:security-topic-c2267fb"

ACCESS = [
    Mistake(
        "flow-log-trusts-the-wrong-service",
        "the role of the flow logs trusts EC2, so nobody can take it to write them",
        edit(
            aws.ROLE,
            "network-flow-logs",
            reworded("assumeRolePolicy", "vpc-flow-logs.amazonaws.com", "ec2.amazonaws.com"),
        ),
        "rights-role-untrusted",
    ),
    Mistake(
        "monitoring-trust-of-another-database",
        "the monitoring role may be taken for a database of another name",
        edit(
            aws.ROLE,
            "acme-demo-mlflow-monitoring",
            reworded("assumeRolePolicy", "db:acme-demo-mlflow", "db:acme-mlflow"),
        ),
        "rights-role-untrusted",
    ),
    Mistake(
        "control-plane-trust-of-another-cluster",
        "the control plane's role may be taken for the cluster's old name",
        edit(aws.ROLE, "cluster-control", reworded("assumeRolePolicy", "cluster/acme-demo", "cluster/acme-demo-1")),
        "rights-role-untrusted",
    ),
    Mistake(
        "team-role-for-another-namespace",
        "a team's role may be taken from another team's namespace alone",
        edit(aws.ROLE, "team-vision-role", reworded("assumeRolePolicy", "team-vision", "team-language")),
        "rights-binding-untrusted",
    ),
    Mistake(
        "nodes-cannot-pull",
        "the right to pull images is attached to the control plane's role, not the nodes'",
        refer(
            aws.ATTACHMENT,
            "cluster-node-AmazonEC2ContainerRegistryPullOnly",
            "role",
            aws.ROLE,
            "cluster-control",
            "name",
        ),
        "rights-role-lacks",
    ),
    Mistake(
        "bastion-opens-no-channel",
        "the bastion may not open the channel that a session goes through",
        edit(aws.POLICY, "bastion", statement("policy", "Sessions", without("Action", "ssmmessages:OpenDataChannel"))),
        "rights-program-lacks",
    ),
    Mistake(
        "volumes-with-the-data-key",
        "the driver of volumes may use the data's key; its volumes are of the platform's",
        edit(
            aws.POLICY,
            "cluster-ebs-policy",
            reworded("policy", "b045abef-4849-497d-8ff1-6d0f845ebe4e", "a4f75315-d125-497f-8153-1e6f71602f0a"),
        ),
        "rights-key",
    ),
    Mistake(
        "autoscaler-of-another-cluster",
        "the autoscaler may size groups tagged for a cluster of another name",
        edit(
            aws.POLICY,
            "autoscaler-role-policy",
            reworded("policy", "cluster-autoscaler/acme-demo", "cluster-autoscaler/acme"),
        ),
        "rights-program-lacks",
        stack="demo",
    ),
    Mistake(
        "logs-of-the-group-alone",
        "the sender of logs may write to the group's ARN, which is not its streams'",
        edit(
            aws.POLICY,
            "team-logs-role-policy",
            statement(
                "policy",
                "SendLogs",
                put("Resource", ["arn:aws:logs:us-east-1:123456789012:log-group:/trainyard/acme-demo/team-logs"]),
            ),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "alerts-under-another-context",
        "Alertmanager may use the key for the topic of security alone",
        edit(
            aws.POLICY,
            "alertmanager-role-policy",
            statement(
                "policy",
                "KeyOfAlerts",
                put(
                    "Condition.StringEquals",
                    {
                        "kms:EncryptionContext:aws:sns:topicArn": SECURITY,
                        "kms:ViaService": "sns.us-east-1.amazonaws.com",
                    },
                ),
            ),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "mounts-without-writing",
        "the EFS driver on the nodes may mount homes and not write to them",
        edit(
            aws.POLICY,
            "efs-mounts-role-policy",
            statement("policy", "MountDirectories", without("Action", "elasticfilesystem:ClientWrite")),
        ),
        "rights-volume",
        stack=LARGE,
    ),
    Mistake(
        "bastion-with-the-nodes-role",
        "the bastion's profile holds the nodes' role, which Session Manager does not answer",
        refer(aws.PROFILE, "bastion", "role", aws.ROLE, "cluster-node", "name"),
        "reference-unused",
    ),
]
KEYS = [
    Mistake(
        "key-for-other-log-groups",
        "the platform's key lets log groups below /aws/eks encrypt; others are refused",
        edit(
            aws.KEY,
            "platform-key",
            statement(
                "policy",
                "EncryptLogGroups",
                put(
                    "Condition.ArnLike",
                    {
                        "kms:EncryptionContext:aws:logs:arn": [
                            "arn:aws:logs:us-east-1:123456789012:log-group:/aws/eks/*"
                        ]
                    },
                ),
            ),
        ),
        "rights-key",
    ),
    Mistake(
        "database-key-through-another-region",
        "the tracking key is for RDS of us-east-1, in a stack of me-central-1",
        edit(
            aws.KEY, "tracking-key", reworded("policy", "rds.me-central-1.amazonaws.com", "rds.us-east-1.amazonaws.com")
        ),
        "policy:region-outside-residency",
        stack=UAE,
    ),
    Mistake(
        "events-may-not-use-the-key",
        "EventBridge may not use the key of the topic it publishes to",
        edit(
            aws.KEY,
            "platform-key",
            statement(
                "policy",
                "PublishAlerts",
                lambda s: s["Principal"].__setitem__(
                    "Service", [one for one in s["Principal"]["Service"] if one != "events.amazonaws.com"]
                ),
            ),
        ),
        "rights-delivery-key",
    ),
    Mistake(
        "grant-on-another-key",
        "FSx is lent the platform's key; the bucket's objects are of the data's",
        refer(aws.GRANT, "globex-production-lustre-data-key", "keyId", aws.KEY, "platform-key", "arn"),
        "rights-key",
        stack=LARGE,
    ),
    Mistake(
        "alias-of-another-key",
        "the alias for data leads to the platform's key",
        refer(aws.ALIAS, "data-alias", "targetKeyId", aws.KEY, "platform-key", "keyId"),
        "programs-key-alias",
    ),
    Mistake(
        "nodes-volumes-with-the-data-key",
        "nodes' volumes are encrypted with a key that Auto Scaling may not use",
        refer(aws.TEMPLATE, "cluster-cpu-template", "blockDeviceMappings[0].ebs.kmsKeyId", aws.KEY, "data-key", "arn"),
        "rights-key",
    ),
]
BUCKETS = [
    Mistake(
        "access-logs-to-the-data",
        "access logs of checkpoints go to the data bucket, whose policy admits no delivery",
        refer(
            aws.LOGGING,
            "acme-demo-checkpoints-logging",
            "targetBucket",
            aws.LOGGING,
            "acme-demo-data-logging",
            "bucket",
        ),
        "rights-delivery-key",
    ),
    Mistake(
        "lifecycle-of-nothing",
        "old versions expire below a prefix that nobody writes to",
        edit(
            aws.LIFECYCLE,
            "acme-demo-checkpoints-lifecycle",
            put("rules[0].filter.prefix", "checkpoints/"),
            put("rules[1].filter.prefix", "checkpoints/"),
        ),
        "programs-prefix",
    ),
    Mistake(
        "uploads-never-aborted",
        "the rule that ends unfinished uploads is off",
        edit(aws.LIFECYCLE, "acme-demo-data-lifecycle", put("rules[2].status", "Disabled")),
        None,
        "to switch a rule of a lifecycle off costs by itself, and is a choice",
    ),
    Mistake(
        "versions-suspended",
        "versioning of artifacts is suspended: the rule for superseded versions has none to keep",
        edit(aws.VERSIONING, "acme-demo-artifacts-versioning", put("versioningConfiguration.status", "Suspended")),
        "policy:bucket-without-versioning",
    ),
    Mistake(
        "bucket-under-another-key",
        "the data bucket encrypts with the tracking key, which its readers may not use",
        refer(
            aws.ENCRYPTION,
            "acme-demo-data-encryption",
            "rules[0].applyServerSideEncryptionByDefault.kmsMasterKeyId",
            aws.KEY,
            "tracking-key",
            "arn",
        ),
        "rights-key",
    ),
    Mistake(
        "deny-names-another-endpoint",
        "the checkpoints' policy lets pods in through an endpoint that is not the network's",
        edit(
            aws.BUCKET_POLICY,
            "acme-demo-checkpoints-policy",
            statement(
                "policy",
                "DenyPodsOutsideNetwork",
                lambda s: s["Condition"].update(
                    {
                        k: {kk: ("vpc-0123456789abcdef0" if "Vpc" in kk else vv) for kk, vv in v.items()}
                        for k, v in s["Condition"].items()
                    }
                ),
            ),
        ),
        "rights-pod-lacks",
    ),
]
NETWORK = [
    Mistake(
        "private-names-off",
        "the endpoint of STS answers to no public name; calls go past it",
        edit(aws.ENDPOINT, "network-sts-interface", put("privateDnsEnabled", False)),
        "paths-endpoint-unnamed",
    ),
    Mistake(
        "endpoints-admit-another-range",
        "the endpoints admit addresses of another range than the network's",
        edit(aws.INGRESS, "network-endpoints-https", put("cidrIpv4", "10.1.0.0/16")),
        "paths-endpoint-closed",
    ),
    Mistake(
        "endpoint-behind-the-fabric",
        "the endpoint of KMS is in the fabric's group, which admits GPU nodes alone",
        refer(aws.ENDPOINT, "network-kms-interface", "securityGroupIds[0]", aws.GROUP, "gpu-nodes-efa"),
        "paths-endpoint-closed",
    ),
    Mistake(
        "layers-of-another-region",
        "the endpoint of S3 lets image layers of another region by",
        edit(aws.ENDPOINT, "network-s3", reworded("policy", "prod-us-east-1-starport", "prod-us-west-2-starport")),
        "rights-images",
    ),
    Mistake(
        "endpoint-for-another-account",
        "the endpoint of CloudWatch Logs admits principals of another account",
        edit(aws.ENDPOINT, "network-logs-interface", reworded("policy", "123456789012", "210987654321")),
        "rights-pod-lacks",
    ),
    Mistake(
        "private-subnet-in-the-isolated-table",
        "a private subnet is in the table that has no way out",
        refer(aws.IN_TABLE, "network-private-us-east-1c", "routeTableId", aws.TABLE, "network-isolated"),
        "paths-image-out-of-reach",
    ),
    Mistake(
        "nat-in-a-private-subnet",
        "the NAT gateway stands in a private subnet, and sends to itself",
        refer(aws.NAT, "network-nat-us-east-1a", "subnetId", aws.SUBNET, "network-private-us-east-1a"),
        "paths-image-out-of-reach",
    ),
    Mistake(
        "names-off",
        "the network gives no DNS names: private names of endpoints do not resolve",
        edit(aws.VPC, "network-vpc", put("enableDnsHostnames", False)),
        "paths-dns-of-vpc",
    ),
    Mistake(
        "block-before-allow",
        "the DNS rule that blocks all comes before the one that allows",
        edit(aws.DNS_RULE, "dns-others", put("priority", 50)),
        "paths-name-blocked",
    ),
    Mistake(
        "no-names-of-aws",
        "the list of allowed names lacks AWS's own",
        edit(aws.DNS_LIST, "dns-allowed", without("domains", "*.amazonaws.com")),
        "paths-name-blocked",
    ),
    Mistake(
        "dns-rules-bound-to-nothing",
        "the DNS rules are bound to no network",
        drop(aws.DNS_BOUND, "dns-association"),
        "policy:dns-open",
    ),
    Mistake(
        "api-rule-on-another-group",
        "the rule that lets the bastion to the API is on the endpoints' group",
        refer(aws.INGRESS, "cluster-api-bastion", "securityGroupId", aws.GROUP, "network-endpoints"),
        "paths-api-unreachable",
    ),
]
NODES = [
    Mistake(
        "deployer-only-looks",
        "whoever runs `pulumi up` may look at the cluster and make nothing",
        edit(
            aws.ENTRY_POLICY,
            "cluster-deployer",
            put("policyArn", "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"),
        ),
        "rights-nobody-deploys",
    ),
    Mistake(
        "role-for-the-nodes-account",
        "the volumes' role is bound to the driver's account on nodes, not the controller's",
        edit(aws.IDENTITY, "cluster-ebs-ebs-csi-controller-sa", put("serviceAccount", "ebs-csi-node-sa")),
        "rights-binding-untrusted",
    ),
    Mistake(
        "no-identity-agent",
        "the agent that hands pods their roles is not installed",
        drop(aws.ADD_ON, "cluster-eks-pod-identity-agent"),
        "rights-no-pod-identity-agent",
    ),
    Mistake(
        "image-without-drivers",
        "GPU nodes start from the image without NVIDIA's drivers",
        edit(aws.NODES, "gpu-nodes-dev-on-demand", put("amiType", "AL2023_x86_64_STANDARD")),
        "machines-image-driver",
    ),
    Mistake(
        "scaled-from-zero-with-one-gpu",
        "the autoscaler is told that an empty group's nodes have one GPU",
        edit(aws.GROUP_TAG, "gpu-nodes-train-spot-resources-nvidia-com-gpu", put("tag.value", "1")),
        "placement-scaling-tag",
    ),
    Mistake(
        "reservation-not-used",
        "the reserved nodes prefer no reservation",
        edit(
            aws.TEMPLATE,
            "gpu-nodes-train-reserved-template",
            put("capacityReservationSpecification", {"capacityReservationPreference": "none"}),
        ),
        "machines-reservation",
    ),
    Mistake(
        "nodes-outside-the-clusters-group",
        "interfaces of the fabric's nodes are in the fabric's group alone",
        refer(
            aws.TEMPLATE,
            "gpu-nodes-train-spot-template",
            "networkInterfaces[0].securityGroups[0]",
            aws.GROUP,
            "gpu-nodes-efa",
        ),
        "flows-kubelet",
    ),
    Mistake(
        "volume-of-another-device",
        "the template sizes a device that the image does not start from",
        edit(aws.TEMPLATE, "cluster-cpu-template", put("blockDeviceMappings[0].deviceName", "/dev/sda1")),
        "machines-root-device",
    ),
    Mistake(
        "parts-with-another-boundary",
        "the user data names a boundary that its parts do not use",
        edit(aws.TEMPLATE, "gpu-nodes-dev-on-demand-template", user_data('boundary="trainyard"', 'boundary="//"')),
        "machines-user-data",
    ),
    Mistake(
        "fabric-spread",
        "the fabric's nodes are placed on racks apart",
        edit("aws:ec2/placementGroup:PlacementGroup", "gpu-nodes-train-spot-placement", put("strategy", "spread")),
        "machines-placement",
    ),
]
STORES = [
    Mistake(
        "database-behind-the-endpoints",
        "the database is in the endpoints' group, which lets HTTPS in alone",
        refer(aws.DATABASE, "acme-demo-mlflow", "vpcSecurityGroupIds[0]", aws.GROUP, "network-endpoints"),
        "flows-database",
    ),
    Mistake(
        "database-logs-to-another-group",
        "the log group kept for PostgreSQL's log has another name than RDS writes to",
        edit(aws.LOGS, "acme-demo-mlflow-log-postgresql", put("name", "/aws/rds/instance/mlflow/postgresql")),
        "reference-log-group",
    ),
    Mistake(
        "mount-target-missing",
        "a zone with nodes has no mount target of the homes",
        drop(aws.MOUNT_TARGET, "globex-production-shared-us-west-2c"),
        "paths-no-mount-target",
        stack=LARGE,
    ),
    Mistake(
        "home-never-made",
        "a team's access point starts at a directory that nothing makes",
        edit(aws.ACCESS_POINT, "globex-production-shared-home-foundation", put("rootDirectory.creationInfo", DROP)),
        "programs-directory",
        stack=LARGE,
    ),
    Mistake(
        "lustre-linked-to-checkpoints",
        "the file system's data comes from the bucket of checkpoints",
        edit(
            aws.REPOSITORY_LINK,
            "globex-production-lustre-data",
            reworded("dataRepositoryPath", "globex-production-data-660a81c", "globex-production-checkpoints-db1e45e"),
        ),
        "rights-key",
        stack=LARGE,
    ),
    Mistake(
        "lustre-without-its-second-ports",
        "the file servers' answers from ports 1018 to 1023 do not get in",
        drop(aws.INGRESS, "globex-production-lustre-ingress-cluster-1018"),
        "flows-lustre",
        stack=LARGE,
    ),
    Mistake(
        "cache-of-another-prefix",
        "the cache of registry.k8s.io is kept below another prefix than images are named with",
        edit(aws.CACHE, "images-globex-production-k8s", put("ecrRepositoryPrefix", "globex-production/kubernetes")),
        "programs-cached-image",
        stack=LARGE,
    ),
    Mistake(
        "cache-of-another-registry",
        "the cache for quay.io is filled from public.ecr.aws",
        edit(aws.CACHE, "images-globex-production-quay", put("upstreamRegistryUrl", "public.ecr.aws")),
        "programs-cached-image",
        stack=LARGE,
    ),
]
WATCHED = [
    Mistake(
        "alarm-of-an-arn",
        "the alarm's dimension is the topic's ARN; the metric's is its name",
        refer(aws.ALARM, "watchdog-silent", "dimensions.TopicName", aws.TOPIC, "watchdog-topic", "arn"),
        "programs-alarm",
    ),
    Mistake(
        "silence-is-well",
        "the alarm on silence takes missing data for well",
        edit(aws.ALARM, "watchdog-silent", put("treatMissingData", "notBreaching")),
        "programs-alarm",
    ),
    Mistake(
        "alarm-tells-the-watchdog",
        "the alarm tells the topic that nobody is subscribed to",
        refer(aws.ALARM, "watchdog-silent", "alarmActions[0]", aws.TOPIC, "watchdog-topic", "arn"),
        "programs-unheard",
    ),
    Mistake(
        "events-of-another-kind",
        "the rule waits for events of a kind that GuardDuty does not send",
        edit(aws.RULE, "security-findings", in_json("eventPattern", put("detail-type", ["GuardDuty Findings"]))),
        "programs-pattern",
    ),
    Mistake(
        "severity-out-of-reach",
        "the rule waits for a severity that no finding has",
        edit(aws.RULE, "security-findings", in_json("eventPattern", put("detail.severity", [{"numeric": [">=", 40]}]))),
        "programs-pattern",
    ),
    Mistake(
        "both-targets-of-one-rule",
        "the second rule's target is on the first rule",
        refer(aws.TARGET, "security-record-off", "rule", aws.RULE, "security-findings", "name"),
        "programs-event",
    ),
    Mistake(
        "query-of-another-cluster",
        "the saved query looks in the log group of another cluster",
        edit(aws.QUERY, "cluster-refused-requests", put("logGroupNames", ["/aws/eks/acme/cluster"])),
        "reference-log-group",
    ),
    Mistake(
        "trail-records-no-tier",
        "the trail records objects of buckets by their logical names",
        edit(
            aws.TRAIL,
            "acme-demo-trail-trail",
            reworded("advancedEventSelectors", "acme-demo-data-f6c28dc", "acme-demo-data"),
        ),
        "policy:objects-without-trail",
    ),
    Mistake(
        "detector-off",
        "the detector of threats is off",
        edit(aws.DETECTOR, "threat-detection-detector", put("enable", False)),
        "programs-switched-off",
    ),
    Mistake(
        "budget-of-another-tag",
        "the budget counts what carries a tag that nothing carries",
        edit(aws.BUDGET, "budget-budget", reworded("costFilters", "user:project$", "user:Project$")),
        "programs-budget",
    ),
    Mistake(
        "budget-tells-security",
        "the budget's alerts go to the topic of security, which does not admit budgets",
        refer(
            aws.BUDGET,
            "budget-budget",
            "notifications[2].subscriberSnsTopicArns[0]",
            aws.TOPIC,
            "security-topic",
            "arn",
        ),
        "rights-delivery",
    ),
    Mistake(
        "budget-at-fifty-dollars",
        "the alert is at fifty dollars, not at fifty per cent",
        edit(aws.BUDGET, "budget-budget", put("notifications[0].thresholdType", "ABSOLUTE_VALUE")),
        "programs-budget",
    ),
]

MISTAKES = [*ACCESS, *KEYS, *BUCKETS, *NETWORK, *NODES, *STORES, *WATCHED]
