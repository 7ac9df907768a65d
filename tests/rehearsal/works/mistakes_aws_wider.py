"""Half a hundred more, still before any rule was read: fields that nobody looks at, and references that are swapped."""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import refer, reworded, statement, user_data, without
from tests.rehearsal.works.mistakes import DROP, Mistake, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_breadth import beside

LARGE, UAE = "large-aws", "uae-aws"
BUS = "aws:cloudwatch/eventBus:EventBus"

MISTAKES = [
    Mistake(
        "driver-without-its-policy",
        "the driver of volumes may make none",
        drop(aws.ATTACHMENT, "cluster-ebs-AmazonEBSCSIDriverPolicy"),
        "rights-program-lacks",
    ),
    Mistake(
        "addresses-for-the-nodes",
        "the network plugin's policy is attached to the nodes' role; the plugin has another",
        refer(aws.ATTACHMENT, "cluster-cni-AmazonEKS_CNI_Policy", "role", aws.ROLE, "cluster-node", "name"),
        "rights-program-lacks",
    ),
    Mistake(
        "monitoring-with-another-policy",
        "the monitoring role holds the policy for queries over HTTP",
        edit(
            aws.ATTACHMENT,
            "acme-demo-mlflow-monitoring-policy",
            put("policyArn", "arn:aws:iam::aws:policy/AmazonRDSDataFullAccess"),
        ),
        "policy:wildcard-admin",
    ),
    Mistake(
        "control-plane-without-policy",
        "the control plane's role may do nothing",
        drop(aws.ATTACHMENT, "cluster-control-AmazonEKSClusterPolicy"),
        "rights-role-lacks",
    ),
    Mistake(
        "bastion-trusts-systems-manager",
        "the bastion's role trusts Systems Manager; it is EC2 that hands it out",
        edit(aws.ROLE, "bastion", reworded("assumeRolePolicy", "ec2.amazonaws.com", "ssm.amazonaws.com")),
        "rights-role-untrusted",
    ),
    Mistake(
        "flow-logs-with-anothers-role",
        "the flow log writes with the role of the database's monitoring",
        refer(aws.FLOW_LOG, "network-flow-log", "iamRoleArn", aws.ROLE, "acme-demo-mlflow-monitoring", "arn"),
        "rights-role-untrusted",
    ),
    Mistake(
        "flow-logs-to-anothers-group",
        "the flow log writes to the cluster's log group, which its role may not",
        refer(aws.FLOW_LOG, "network-flow-log", "logDestination", aws.LOGS, "cluster-logs", "arn"),
        "rights-role-lacks",
    ),
    Mistake(
        "nodes-with-the-control-planes-role",
        "a node group has the control plane's role",
        refer(aws.NODES, "cluster-cpu", "nodeRoleArn", aws.ROLE, "cluster-control", "arn"),
        "rights-role-untrusted",
    ),
    Mistake(
        "ingest-writes-elsewhere",
        "who writes the data may write below another prefix",
        edit(
            aws.POLICY,
            "ingest-role-policy",
            statement("policy", "Write", put("Resource", ["arn:aws:s3:::acme-demo-data-f6c28dc/raw/*"])),
        ),
        "rights-volume",
    ),
    Mistake(
        "team-key-through-another-region",
        "a team may use the key of checkpoints through S3 of another region",
        edit(
            aws.POLICY,
            "team-vision-role-policy",
            statement(
                "policy", "Key1", put("Condition.StringEquals", {"kms:ViaService": "s3.us-west-2.amazonaws.com"})
            ),
        ),
        "rights-key",
    ),
    Mistake(
        "home-left-out",
        "the file system's policy leaves one team's access point out",
        edit(
            aws.FILES_POLICY,
            "globex-production-shared-policy",
            statement(
                "policy",
                "MountAsIamSays",
                lambda s: s["Condition"]["StringEquals"]["elasticfilesystem:AccessPointArn"].pop(0),
            ),
        ),
        None,
        "the driver's own role lets it in: of one account either policy is enough",
        stack=LARGE,
    ),
    Mistake(
        "driver-finds-no-mount-target",
        "the EFS driver may not look mount targets up",
        edit(
            aws.POLICY,
            "efs-driver-role-policy",
            statement("policy", "LookUp", without("Action", "elasticfilesystem:DescribeMountTargets")),
        ),
        None,
        "volumes that are there already are mounted by the name of the file system",
        stack=LARGE,
    ),
    Mistake(
        "subnet-without-its-role",
        "a private subnet is not marked for internal load balancers",
        edit(aws.SUBNET, "network-private-us-east-1a", put("tags", {"Name": "x"}), put("tagsAll", {"Name": "x"})),
        None,
        "nothing in these stacks makes a load balancer",
    ),
    Mistake(
        "api-on-another-port",
        "the office's network is let in to port 6443; EKS answers on 443",
        edit(aws.INGRESS, "cluster-api-192.168.0.0-16", put("fromPort", 6443), put("toPort", 6443)),
        "paths-api-unreachable",
        stack=UAE,
    ),
    Mistake(
        "bastion-out-on-http",
        "the bastion is let out on port 80 alone",
        edit(aws.EGRESS, "bastion-https", put("fromPort", 80), put("toPort", 80)),
        "paths-sessions-cut-off",
    ),
    Mistake(
        "database-port-of-another-engine",
        "the cluster is let in to MySQL's port",
        edit(aws.INGRESS, "acme-demo-mlflow-ingress-cluster", put("fromPort", 3306), put("toPort", 3306)),
        "flows-database",
    ),
    Mistake(
        "fabric-over-tcp",
        "the fabric's group lets TCP by; the fabric is no TCP",
        edit(aws.INGRESS, "gpu-nodes-efa-in", put("ipProtocol", "tcp"), put("fromPort", 0), put("toPort", 65535)),
        "paths-fabric-closed",
    ),
    Mistake(
        "fabric-without-a-way-out",
        "the fabric's group lets nothing out to itself",
        drop(aws.EGRESS, "gpu-nodes-efa-out"),
        "paths-fabric-closed",
    ),
    Mistake(
        "homes-on-another-port",
        "the homes' group lets another port in than NFS's",
        edit(aws.INGRESS, "globex-production-shared-ingress-cluster", put("fromPort", 2409), put("toPort", 2409)),
        "flows-nfs",
        stack=LARGE,
    ),
    Mistake(
        "registry-misspelt",
        "the list of allowed names has the registry of Kubernetes under another domain",
        edit(
            aws.DNS_LIST,
            "dns-allowed",
            without("domains", "registry.k8s.io"),
            lambda i: i["domains"].append("registry.k8s.com"),
        ),
        "paths-name-blocked",
    ),
    Mistake(
        "names-of-one-type",
        "the rule that allows names is for addresses of IPv6",
        edit(aws.DNS_RULE, "dns-allow", put("qType", "AAAA")),
        "paths-name-blocked",
    ),
    Mistake(
        "no-audit-log",
        "the cluster writes no audit log, which a saved query and threat detection read",
        edit(aws.CLUSTER, "cluster-cluster", without("enabledClusterLogTypes", "audit")),
        "reference-log-stream",
    ),
    Mistake(
        "query-of-another-stream",
        "the saved query filters on streams that EKS does not write",
        edit(aws.QUERY, "cluster-refused-requests", reworded("queryString", "kube-apiserver-audit", "kube-api-audit")),
        "reference-log-stream",
    ),
    Mistake(
        "walls-not-kept",
        "the network plugin does not keep network policies",
        edit(aws.ADD_ON, "cluster-vpc-cni", in_json("configurationValues", put("enableNetworkPolicy", "false"))),
        "programs-policies-off",
    ),
    Mistake(
        "no-driver-of-volumes",
        "the driver that the storage class names is not installed",
        drop(aws.ADD_ON, "cluster-aws-ebs-csi-driver"),
        "reference-driver",
    ),
    Mistake(
        "spot-bought-on-demand",
        "the group labelled spot buys on demand",
        edit(aws.NODES, "gpu-nodes-train-spot", put("capacityType", "ON_DEMAND")),
        "policy:spot-share-below-target",
    ),
    Mistake(
        "more-nodes-than-reserved",
        "the reserved group may grow to four; one is reserved",
        edit(aws.NODES, "gpu-nodes-train-reserved", put("scalingConfig.maxSize", 4)),
        "policy:gpu-count-over-profile",
    ),
    Mistake(
        "group-not-found",
        "a group lacks the tag that the autoscaler looks for",
        drop(aws.GROUP_TAG, "gpu-nodes-train-on-demand-enabled"),
        None,
        "EKS puts that tag on the groups of its own node groups by itself",
    ),
    Mistake(
        "group-of-another-pool",
        "the autoscaler is told another pool than an empty group's nodes have",
        edit(aws.GROUP_TAG, "cluster-cpu-label-ml-platform-pool", put("tag.value", "system")),
        "placement-scaling-tag",
    ),
    Mistake(
        "storage-without-a-unit",
        "the autoscaler is told of seven thousand bytes of storage",
        edit(aws.GROUP_TAG, "gpu-nodes-train-spot-resources-ephemeral-storage", put("tag.value", "7200")),
        "placement-scaling-tag",
    ),
    Mistake(
        "told-of-another-group",
        "what empty nodes have is told of another group",
        refer(
            aws.GROUP_TAG,
            "gpu-nodes-train-reserved-resources-nvidia-com-gpu",
            "autoscalingGroupName",
            aws.GROUP_TAG,
            "cluster-cpu-enabled",
            "autoscalingGroupName",
        ),
        "placement-scaling-tag",
    ),
    Mistake(
        "taint-told-without-effect",
        "the autoscaler is told a taint without its effect",
        edit(aws.GROUP_TAG, "gpu-nodes-train-spot-taint-ml-platform-capacity", put("tag.value", "spot")),
        "placement-scaling-tag",
    ),
    Mistake(
        "configuration-of-another-kind",
        "the nodes' configuration is of a kind that nodeadm does not read",
        edit(aws.TEMPLATE, "gpu-nodes-train-spot-template", user_data("kind: NodeConfig", "kind: NodeConfiguration")),
        "machines-user-data",
    ),
    Mistake(
        "script-of-another-type",
        "the user data's script has a type that cloud-init does not run",
        edit(aws.TEMPLATE, "gpu-nodes-train-spot-template", user_data("text/x-shellscript", "text/x-sh")),
        "machines-user-data",
    ),
    Mistake(
        "no-metadata",
        "nodes cannot ask who they are",
        edit(aws.TEMPLATE, "cluster-cpu-template", put("metadataOptions.httpEndpoint", "disabled")),
        "machines-metadata",
    ),
    Mistake(
        "no-fabric-interfaces",
        "the fabric's first interface is an ordinary one",
        edit(
            aws.TEMPLATE,
            "gpu-nodes-train-spot-template",
            *(put(f"networkInterfaces[{i}].interfaceType", "interface") for i in range(4)),
        ),
        "placement-no-node",
    ),
    Mistake(
        "placed-with-another-group",
        "spot nodes are placed in the group of the nodes on demand",
        refer(
            aws.TEMPLATE,
            "gpu-nodes-train-spot-template",
            "placement.groupName",
            "aws:ec2/placementGroup:PlacementGroup",
            "gpu-nodes-train-on-demand-placement",
            "name",
        ),
        "reference-unused",
    ),
    Mistake(
        "template-of-another-group",
        "nodes on demand start from the template of the reserved ones",
        refer(
            aws.NODES,
            "gpu-nodes-train-on-demand",
            "launchTemplate.id",
            aws.TEMPLATE,
            "gpu-nodes-train-reserved-template",
        ),
        "machines-reservation",
    ),
    Mistake(
        "database-of-another-name",
        "the database that is made has another name than MLflow asks for",
        edit(aws.DATABASE, "acme-demo-mlflow", put("dbName", "tracking")),
        "programs-database",
    ),
    Mistake(
        "database-on-another-port",
        "the database answers on a port that nobody is let in to",
        edit(aws.DATABASE, "acme-demo-mlflow", put("port", 5433)),
        "flows-database",
    ),
    Mistake(
        "password-under-another-key",
        "the password is encrypted with a key that MLflow may not use",
        refer(aws.DATABASE, "acme-demo-mlflow", "masterUserSecretKmsKeyId", aws.KEY, "platform-key", "arn"),
        "rights-pod-lacks",
    ),
    Mistake(
        "five-connections",
        "the database takes five connections",
        edit(
            aws.PARAMETERS,
            "acme-demo-mlflow-parameters",
            lambda i: i["parameters"].append(
                {"name": "max_connections", "value": "5", "applyMethod": "pending-reboot"}
            ),
        ),
        "programs-connections",
    ),
    Mistake(
        "checkpoints-expire",
        "checkpoints are deleted after thirty days, the newest too",
        edit(
            aws.LIFECYCLE,
            "acme-demo-checkpoints-lifecycle",
            put("rules[0]", {"id": "x", "status": "Enabled", "filter": {"prefix": ""}, "expiration": {"days": 30}}),
        ),
        "policy:lifecycle-deletes-newest-version",
    ),
    Mistake(
        "public-block-of-another-bucket",
        "one bucket's public access is blocked twice, another's never",
        refer(
            "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
            "acme-demo-artifacts-public-access",
            "bucket",
            aws.LOGGING,
            "acme-demo-data-logging",
            "bucket",
        ),
        "reference-twice",
    ),
    Mistake(
        "mail-of-the-watchdog",
        "people are subscribed to the watchdog's topic, not to the alerts'",
        refer(aws.SUBSCRIPTION, "budget-ml-platform@acme.example", "topic", aws.TOPIC, "watchdog-topic", "arn"),
        "programs-unheard",
    ),
    Mistake(
        "topic-under-the-accounts-key",
        "the topic of security is under AWS's own key, which EventBridge may not use",
        edit(aws.TOPIC, "security-topic", put("kmsMasterKeyId", "alias/aws/sns")),
        "rights-delivery-key",
    ),
    Mistake(
        "alarm-reversed",
        "the alarm is on where messages come",
        edit(aws.ALARM, "watchdog-silent", put("comparisonOperator", "GreaterThanThreshold")),
        "programs-watchdog",
    ),
    Mistake(
        "rule-on-a-bus-of-its-own",
        "the rule listens on a bus that no service of AWS sends to",
        both(
            beside(BUS, "security", aws.RULE, {"name": "security"}),
            edit(aws.RULE, "security-record-off", put("eventBusName", "security")),
        ),
        "programs-event",
    ),
    Mistake(
        "source-misspelt",
        "the rule waits for an event source that does not exist",
        edit(
            aws.RULE,
            "security-record-off",
            in_json("eventPattern", put("detail.eventSource", ["cloudtrail.aws.com", "guardduty.aws.com"])),
        ),
        "programs-pattern",
    ),
    Mistake(
        "budget-of-a-year",
        "a month's budget is counted over a year",
        edit(aws.BUDGET, "budget-budget", put("timeUnit", "ANNUALLY")),
        "policy:budget-without-alerts",
    ),
    Mistake(
        "budget-a-tenth",
        "the budget lost a nought",
        edit(aws.BUDGET, "budget-budget", put("limitAmount", "7000")),
        "policy:ceiling-spend-over-budget",
    ),
    Mistake(
        "repository-misspelt",
        "the repository of an image has another name than pods pull it by",
        edit(aws.REPOSITORY, "images-globex-production-k8s-kueue-kueue", put("name", "globex-production/k8s/kueue")),
        "programs-cached-image",
        stack=LARGE,
    ),
    Mistake(
        "new-data-not-seen",
        "what is written to the data bucket does not come into the file system",
        edit(
            aws.REPOSITORY_LINK,
            "globex-production-lustre-data",
            put("s3", DROP),
            put("batchImportMetaDataOnCreate", False),
        ),
        "programs-directory",
        stack=LARGE,
    ),
    Mistake(
        "linked-elsewhere",
        "scratch is linked at another folder than volumes are mounted from",
        edit(aws.REPOSITORY_LINK, "globex-production-lustre-scratch", put("fileSystemPath", "/scratch2")),
        "programs-directory",
        stack=LARGE,
    ),
    Mistake(
        "folder-of-another-owner",
        "a team's scratch belongs to a user that no pod is",
        edit(
            "aws:s3/bucketObjectv2:BucketObjectv2",
            "globex-production-lustre-scratch-teams-foundation",
            put("metadata.file-owner", "20001"),
            put("metadata.file-group", "20001"),
        ),
        "programs-mount",
        stack=LARGE,
    ),
    Mistake(
        "home-of-another-user",
        "everybody in a home is a user who may not write to it",
        edit(
            aws.ACCESS_POINT, "globex-production-shared-home-foundation", put("posixUser", {"uid": 2000, "gid": 2000})
        ),
        "programs-mount",
        stack=LARGE,
    ),
    Mistake(
        "bastion-cut-off",
        "the bastion stands in an isolated subnet, from where Session Manager is out of reach",
        refer(aws.INSTANCE, "bastion", "subnetId", aws.SUBNET, "network-isolated-us-east-1a"),
        "paths-sessions-cut-off",
    ),
    Mistake(
        "secrets-under-another-key",
        "the cluster's secrets are under a key that its role may not use",
        refer(aws.CLUSTER, "cluster-cluster", "encryptionConfig.provider.keyArn", aws.KEY, "tracking-key", "arn"),
        "policy:key-shared-between-classes",
    ),
    Mistake(
        "team-logs-to-no-group",
        "the group made for teams' logs has another name than the collector writes to",
        edit(aws.LOGS, "team-log-group", put("name", "/trainyard/acme-demo/logs-of-teams")),
        "reference-log-group",
    ),
    Mistake(
        "volumes-class-under-the-data-key",
        "volumes of pods are under a key that their driver may not use",
        refer(
            "kubernetes:storage.k8s.io/v1:StorageClass",
            "blocks-class",
            "parameters.kmsKeyId",
            aws.KEY,
            "data-key",
            "arn",
        ),
        "rights-key",
    ),
]
