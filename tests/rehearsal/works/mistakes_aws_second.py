"""A second set, written after the rules for what the first one showed: what slips through is told with its reason."""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import left_out, refer, reworded, statement, user_data, without
from tests.rehearsal.works.mistakes import Mistake, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_breadth import beside

LARGE, UAE = "large-aws", "uae-aws"
TRAIN = "gpu-nodes-train-spot-template"
DHCP, DHCP_BOUND = (
    "aws:ec2/vpcDhcpOptions:VpcDhcpOptions",
    "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation",
)
ACL = "aws:ec2/networkAcl:NetworkAcl"

MISTAKES = [
    Mistake(
        "password-of-another-region",
        "the tracking server may read a secret of another region",
        edit(
            aws.POLICY,
            "mlflow-role-policy",
            statement("policy", "DatabasePassword", reworded("Resource", "us-east-1", "us-west-2")),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "logs-without-putting",
        "the collector of logs may open streams and write nothing",
        edit(
            aws.POLICY, "team-logs-role-policy", statement("policy", "SendLogs", without("Action", "logs:PutLogEvents"))
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "nodes-never-end",
        "the autoscaler may not end a node",
        edit(
            aws.POLICY,
            "autoscaler-role-policy",
            statement("policy", "ScaleOwnGroups", without("Action", "autoscaling:TerminateInstanceInAutoScalingGroup")),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "grants-for-no-service",
        "the driver of volumes may lend the key only where it is not for a service of AWS",
        edit(
            aws.POLICY,
            "cluster-ebs-policy",
            statement(
                "policy", "AttachEncryptedVolumes", put("Condition", {"Bool": {"kms:GrantIsForAWSResource": "false"}})
            ),
        ),
        "rights-key",
    ),
    Mistake(
        "artifacts-elsewhere",
        "the tracking server may write below another prefix than its artifacts have",
        edit(aws.POLICY, "mlflow-role-policy", reworded("policy", "/mlflow/*", "/artifacts/*")),
        "rights-pod-lacks",
    ),
    Mistake(
        "no-session-tags",
        "a team's role may be taken and not with the tags that Pod Identity gives",
        edit(
            aws.ROLE,
            "team-vision-role",
            statement("assumeRolePolicy", "PodIdentity", without("Action", "sts:TagSession")),
        ),
        "rights-binding-untrusted",
    ),
    Mistake(
        "bounded-to-reading",
        "a team's role is bounded by a policy that only reads",
        edit(
            aws.ROLE, "team-vision-role", put("permissionsBoundary", "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess")
        ),
        "rights-key",
    ),
    Mistake(
        "administers-one-namespace",
        "whoever runs `pulumi up` administers one namespace",
        edit(
            aws.ENTRY_POLICY, "cluster-deployer", put("accessScope", {"type": "namespace", "namespaces": ["default"]})
        ),
        "rights-nobody-deploys",
    ),
    Mistake(
        "key-for-a-bucket-of-another-name",
        "the data's key is for a bucket without the ending that Pulumi gives it",
        edit(aws.KEY, "data-key", reworded("policy", "acme-demo-data-???????", "acme-demo-data")),
        "rights-key",
    ),
    Mistake(
        "key-for-another-trail",
        "the trail's key is for a trail of another name",
        edit(aws.KEY, "acme-demo-trail-key", reworded("policy", "trail/acme-demo", "trail/acme")),
        "rights-delivery-key",
    ),
    Mistake(
        "key-for-the-spot-role",
        "the key of nodes' volumes is lent to the role of Spot requests, not to Auto Scaling's",
        edit(
            aws.KEY,
            "platform-key",
            reworded(
                "policy",
                "autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
                "spot.amazonaws.com/AWSServiceRoleForEC2Spot",
            ),
        ),
        "rights-key",
    ),
    Mistake(
        "key-for-another-role",
        "the cluster's key is for roles of another name than its control plane's",
        edit(aws.KEY, "platform-key", reworded("policy", "role/cluster-control-*", "role/control-*")),
        "rights-key",
    ),
    Mistake(
        "key-for-signing",
        "the key of tracking signs and encrypts nothing",
        edit(
            aws.KEY,
            "tracking-key",
            put("keyUsage", "SIGN_VERIFY"),
            put("customerMasterKeySpec", "RSA_2048"),
            put("enableKeyRotation", False),
        ),
        "programs-key-kind",
    ),
    Mistake(
        "key-of-two-halves",
        "the key of checkpoints is an RSA key, which S3 does not encrypt with",
        edit(aws.KEY, "checkpoints-key", put("customerMasterKeySpec", "RSA_2048"), put("enableKeyRotation", False)),
        "programs-key-kind",
    ),
    Mistake(
        "deny-with-tls",
        "the bucket of artifacts refuses who comes over TLS",
        edit(
            aws.BUCKET_POLICY,
            "acme-demo-artifacts-policy",
            statement("policy", "DenyPlainHttp", put("Condition", {"Bool": {"aws:SecureTransport": "true"}})),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "deny-new-tls",
        "the data bucket refuses TLS above 1.2",
        edit(
            aws.BUCKET_POLICY,
            "acme-demo-data-policy",
            statement("policy", "DenyOldTls", put("Condition", {"NumericGreaterThan": {"s3:TlsVersion": "1.2"}})),
        ),
        "rights-volume",
    ),
    Mistake(
        "deny-the-own-account",
        "the checkpoints' bucket refuses everybody but another account",
        edit(
            aws.BUCKET_POLICY,
            "acme-demo-checkpoints-policy",
            statement("policy", "DenyOtherOwners", reworded("Condition", "123456789012", "123456789021")),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "checkpoints-in-deep-archive",
        "checkpoints go to an archive after a day, from where nobody reads them at once",
        edit(
            aws.LIFECYCLE,
            "acme-demo-checkpoints-lifecycle",
            lambda i: i["rules"].append(
                {
                    "id": "archive",
                    "status": "Enabled",
                    "filter": {"prefix": ""},
                    "transitions": [{"days": 1, "storageClass": "DEEP_ARCHIVE"}],
                }
            ),
        ),
        "programs-kept",
    ),
    Mistake(
        "endpoint-that-only-reads",
        "the endpoint of S3 lets reads by alone",
        edit(aws.ENDPOINT, "network-s3", statement("policy", "OwnBuckets", put("Action", ["s3:Get*", "s3:List*"]))),
        "rights-pod-lacks",
    ),
    Mistake(
        "subnet-of-sixteen",
        "a private subnet has sixteen addresses for nodes and their pods",
        edit(
            aws.SUBNET,
            "network-private-us-east-1b",
            lambda i: i.__setitem__("cidrBlock", i["cidrBlock"].partition("/")[0] + "/28"),
        ),
        "paths-subnet-too-small",
    ),
    Mistake(
        "route-of-the-inside",
        "the way out of a private subnet is for the inside's addresses",
        edit(aws.ROUTE, "network-private-us-east-1b-out", put("destinationCidrBlock", "10.0.0.0/8")),
        "paths-image-out-of-reach",
    ),
    Mistake(
        "names-of-the-internet",
        "the network's hosts ask a public resolver, which knows no private name",
        both(
            beside(DHCP, "names", aws.VPC, {"domainNameServers": ["8.8.8.8"]}),
            beside(DHCP_BOUND, "bound", aws.VPC, {"dhcpOptionsId": "names", "vpcId": "vpc-d8bd6820aeb50beba"}),
        ),
        "paths-dns-of-vpc",
    ),
    Mistake(
        "endpoints-over-udp",
        "the endpoints' group lets UDP in",
        edit(aws.INGRESS, "network-endpoints-https", put("ipProtocol", "udp")),
        "paths-endpoint-closed",
    ),
    Mistake(
        "database-for-the-bastion",
        "the database lets the bastion in, and not the cluster",
        refer(aws.INGRESS, "acme-demo-mlflow-ingress-cluster", "referencedSecurityGroupId", aws.GROUP, "bastion"),
        "flows-database",
    ),
    Mistake(
        "no-names-at-all",
        "CoreDNS has no replica",
        edit(aws.ADD_ON, "cluster-coredns", in_json("configurationValues", put("replicaCount", 0))),
        "refused:eks-addon-settings",
    ),
    Mistake(
        "metrics-tolerate-nothing",
        "the metrics server is for the system's nodes and does not tolerate their taint",
        edit(aws.ADD_ON, "cluster-metrics-server", in_json("configurationValues", put("tolerations", []))),
        "placement-no-node",
    ),
    Mistake(
        "repair-without-an-eye",
        "nodes are to be repaired, and what sees that a GPU is broken is not installed",
        drop(aws.ADD_ON, "cluster-eks-node-monitoring-agent"),
        None,
        "EKS repairs nodes by what the kubelet says too; the agent tells of more",
    ),
    Mistake(
        "logs-of-another-cluster",
        "the log group is named for another cluster: EKS makes its own",
        edit(aws.LOGS, "cluster-logs", put("name", "/aws/eks/acme/cluster")),
        "reference-log-group",
    ),
    Mistake(
        "accelerator-of-another-type",
        "a group's label names another GPU than its machines have",
        edit(aws.NODES, "gpu-nodes-dev-on-demand", put("labels.k8s~amazonaws~com/accelerator", "nvidia-a10g")),
        "placement-scaling-tag",
    ),
    Mistake(
        "root-of-twenty",
        "the root of GPU nodes has twenty GiB: the first image fills it",
        edit(aws.TEMPLATE, "gpu-nodes-dev-on-demand-template", put("blockDeviceMappings[0].ebs.volumeSize", 20)),
        None,
        "images lie on the local disks, which are joined",
    ),
    Mistake(
        "disks-not-joined",
        "nodes do not use their local disks, of which the autoscaler is told",
        edit(aws.TEMPLATE, TRAIN, user_data("  instance:\n    localStorage:\n      strategy: RAID0\n", "")),
        "placement-scaling-tag",
    ),
    Mistake(
        "one-interface-short",
        "nodes have three interfaces of the fabric, and the autoscaler is told four",
        edit(aws.TEMPLATE, TRAIN, lambda i: i["networkInterfaces"].pop()),
        "placement-no-node",
    ),
    Mistake(
        "instances-not-counted",
        "instances lack the tag that the budget counts by",
        edit(aws.TEMPLATE, "cluster-cpu-template", lambda i: i["tagSpecifications"].pop(0)),
        "policy:costed-resource-without-cost-tags",
    ),
    Mistake(
        "library-misspelt",
        "the database is to load a library that there is not",
        edit(
            aws.PARAMETERS,
            "acme-demo-mlflow-parameters",
            lambda i: i["parameters"].append(
                {"name": "shared_preload_libraries", "value": "pg_stat_statement", "applyMethod": "pending-reboot"}
            ),
        ),
        "machines-parameter",
    ),
    Mistake(
        "alarm-of-another-service",
        "the alarm looks in the metrics of queues",
        edit(aws.ALARM, "watchdog-silent", put("namespace", "AWS/SQS")),
        "programs-alarm",
    ),
    Mistake(
        "alarm-every-minute",
        "the alarm looks every minute for what comes every few",
        edit(aws.ALARM, "watchdog-silent", put("period", 60)),
        "programs-watchdog",
    ),
    Mistake(
        "budgets-of-a-region",
        "the topic admits budgets by an ARN with a region, which theirs have not",
        edit(
            aws.TOPIC_POLICY,
            "budget-alerts-policy",
            reworded("policy", "arn:aws:budgets::", "arn:aws:budgets:us-east-1:"),
        ),
        "rights-delivery",
    ),
    Mistake(
        "service-misspelt",
        "the topic of security admits a service that there is not",
        edit(
            aws.TOPIC_POLICY,
            "security-topic-policy",
            reworded("policy", "events.amazonaws.com", "eventbridge.amazonaws.com"),
        ),
        "rights-delivery",
    ),
    Mistake(
        "target-of-another-topic",
        "the events of security go to the budget's topic, which does not admit them",
        refer(aws.TARGET, "security-findings", "arn", aws.TOPIC, "budget-alerts", "arn"),
        "rights-delivery",
    ),
    Mistake(
        "trail-of-reads",
        "the trail records what is read alone, and a rule waits for what is changed",
        edit(
            aws.TRAIL,
            "acme-demo-trail-trail",
            lambda i: i["advancedEventSelectors"][0]["fieldSelectors"].append(
                {"field": "readOnly", "equals": ["true"]}
            ),
        ),
        "policy:objects-without-trail",
    ),
    Mistake(
        "budget-of-another-project",
        "the budget counts another project's resources",
        edit(aws.BUDGET, "budget-budget", reworded("costFilters", "$acme-demo", "$acme")),
        "programs-budget",
    ),
    Mistake(
        "mount-of-another-system",
        "a team's data is mounted by another file system's mount name",
        edit(aws.VOLUME, "volumes-foundation-data-volume", put("spec.csi.volumeAttributes.mountname", "abcdefgh/data")),
        "reference-file-system",
        stack=LARGE,
    ),
    Mistake(
        "system-of-another-region",
        "a team's scratch is mounted from a name of another region",
        edit(
            aws.VOLUME,
            "volumes-foundation-scratch-volume",
            reworded("spec", "fsx.us-west-2.amazonaws.com", "fsx.us-east-1.amazonaws.com"),
        ),
        "reference-file-system",
        stack=LARGE,
    ),
    Mistake(
        "homes-refuse-tls",
        "the homes refuse who comes over TLS",
        edit(
            aws.FILES_POLICY,
            "globex-production-shared-policy",
            statement("policy", "DenyPlainNfs", put("Condition", {"Bool": {"aws:SecureTransport": "true"}})),
        ),
        "rights-volume",
        stack=LARGE,
    ),
    Mistake(
        "grant-for-another-bucket",
        "FSx is lent the key for a bucket of another name",
        edit(
            aws.GRANT,
            "globex-production-lustre-data-key",
            reworded("constraints", "globex-production-data-660a81c", "globex-production-data"),
        ),
        "rights-key",
        stack=LARGE,
    ),
    Mistake(
        "grant-without-reading",
        "FSx is lent the key to encrypt and not to decrypt",
        edit(aws.GRANT, "globex-production-lustre-data-key", without("operations", "Decrypt")),
        "rights-key",
        stack=LARGE,
    ),
    Mistake(
        "bastion-without-a-profile",
        "the bastion has no role: Session Manager does not know it",
        left_out(aws.INSTANCE, "bastion", "iamInstanceProfile"),
        "paths-sessions-cut-off",
    ),
    Mistake(
        "bastion-without-metadata",
        "the bastion cannot ask for its credentials",
        edit(aws.INSTANCE, "bastion", put("metadataOptions.httpEndpoint", "disabled")),
        "paths-sessions-cut-off",
    ),
]
