"""A network and a cluster as many have them: public and private subnets, one NAT gateway, roles by IRSA."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

ACCOUNT = "111122223333"
ZONES = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]


def trust(**principal):
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}],
        }
    )


def allow(*statements):
    """A policy of what is allowed: pairs of actions and resources."""
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": what, "Resource": where} for what, where in statements],
        }
    )


class Ground:
    """Everything below the workloads."""

    def __init__(self, name: str, cidr: str = "10.20"):
        self.name = name
        self.vpc = aws.ec2.Vpc(
            "main", cidr_block=f"{cidr}.0.0/16", enable_dns_hostnames=True, enable_dns_support=True, tags={"Name": name}
        )
        gateway = aws.ec2.InternetGateway("main", vpc_id=self.vpc.id)
        public = aws.ec2.RouteTable(
            "public", vpc_id=self.vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}]
        )
        self.public, self.private = [], []
        for index, zone in enumerate(ZONES):
            subnet = aws.ec2.Subnet(
                f"public-{zone}", vpc_id=self.vpc.id, cidr_block=f"{cidr}.{index}.0/24", availability_zone=zone,
                map_public_ip_on_launch=True, tags={"kubernetes.io/role/elb": "1"},
            )  # fmt: skip
            aws.ec2.RouteTableAssociation(f"public-{zone}", subnet_id=subnet.id, route_table_id=public.id)
            self.public.append(subnet)
        address = aws.ec2.Eip("nat", domain="vpc", opts=pulumi.ResourceOptions(depends_on=[gateway]))
        nat = aws.ec2.NatGateway("nat", subnet_id=self.public[0].id, allocation_id=address.id)
        private = aws.ec2.RouteTable("private", vpc_id=self.vpc.id)
        way_out = aws.ec2.Route(
            "private", route_table_id=private.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id
        )
        aws.ec2.VpcEndpoint(
            "s3", vpc_id=self.vpc.id, service_name="com.amazonaws.eu-west-1.s3", route_table_ids=[private.id]
        )
        for index, zone in enumerate(ZONES):
            subnet = aws.ec2.Subnet(
                f"private-{zone}", vpc_id=self.vpc.id, cidr_block=f"{cidr}.{64 + 32 * index}.0/19",
                availability_zone=zone, tags={"kubernetes.io/role/internal-elb": "1", "karpenter.sh/discovery": name},
            )  # fmt: skip
            aws.ec2.RouteTableAssociation(f"private-{zone}", subnet_id=subnet.id, route_table_id=private.id)
            self.private.append(subnet)
        role = aws.iam.Role("cluster", assume_role_policy=trust(Service="eks.amazonaws.com"))
        attached = aws.iam.RolePolicyAttachment(
            "cluster", role=role.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
        )
        self.cluster = aws.eks.Cluster(
            "main",
            name=name,
            role_arn=role.arn,
            version="1.34",
            vpc_config={
                "subnet_ids": [subnet.id for subnet in (*self.private, *self.public)],
                "endpoint_private_access": True,
                "endpoint_public_access": True,
            },
            access_config={"authentication_mode": "API_AND_CONFIG_MAP"},
            opts=pulumi.ResourceOptions(depends_on=[attached]),
        )
        self.issuer = self.cluster.identities[0].oidcs[0].issuer
        self.oidc = aws.iam.OpenIdConnectProvider("main", url=self.issuer, client_id_lists=["sts.amazonaws.com"])
        self.node_role = aws.iam.Role("nodes", assume_role_policy=trust(Service="ec2.amazonaws.com"))
        self.node_rights = [
            aws.iam.RolePolicyAttachment(
                f"nodes-{policy}", role=self.node_role.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}"
            )
            for policy in ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly")
        ]
        self.way_out = way_out
        for addon in ("vpc-cni", "kube-proxy"):
            aws.eks.Addon(addon, cluster_name=self.cluster.name, addon_name=addon)

    def nodes(self, name, types, least, most, **more):
        """A managed node group, in the private subnets unless it says otherwise."""
        return aws.eks.NodeGroup(
            name,
            cluster_name=self.cluster.name,
            node_role_arn=self.node_role.arn,
            **{"subnet_ids": [subnet.id for subnet in self.private], **more},
            instance_types=types,
            scaling_config={"min_size": least, "max_size": most, "desired_size": least},
            opts=pulumi.ResourceOptions(
                depends_on=[*self.node_rights, self.way_out], ignore_changes=["scalingConfig.desiredSize"]
            ),
        )

    def addon(self, name, after, **more):
        """An add-on whose pods need nodes."""
        return aws.eks.Addon(
            name, cluster_name=self.cluster.name, addon_name=name, **more, opts=pulumi.ResourceOptions(depends_on=after)
        )

    def role_of(self, name, namespace, account):
        """A role that a service account may take."""

        def document(found):
            issuer = found[1].removeprefix("https://")
            return json.dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Federated": found[0]},
                            "Action": "sts:AssumeRoleWithWebIdentity",
                            "Condition": {
                                "StringEquals": {
                                    f"{issuer}:sub": f"system:serviceaccount:{namespace}:{account}",
                                    f"{issuer}:aud": "sts.amazonaws.com",
                                }
                            },
                        }
                    ],
                }
            )

        return aws.iam.Role(name, assume_role_policy=pulumi.Output.all(self.oidc.arn, self.issuer).apply(document))

    def provider(self, after):
        """A provider of the cluster's API, by `aws eks get-token`."""

        def kubeconfig(found):
            name, endpoint, authority = found
            command = {
                "apiVersion": "client.authentication.k8s.io/v1beta1",
                "command": "aws",
                "args": ["eks", "get-token", "--cluster-name", name],
            }
            return json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [
                        {"name": "c", "cluster": {"server": endpoint, "certificate-authority-data": authority}}
                    ],
                    "users": [{"name": "u", "user": {"exec": command}}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                    "current-context": "x",
                }
            )

        told = pulumi.Output.all(
            self.cluster.name, self.cluster.endpoint, self.cluster.certificate_authority.data
        ).apply(kubeconfig)
        return k8s.Provider("cluster", kubeconfig=told, opts=pulumi.ResourceOptions(depends_on=after))
