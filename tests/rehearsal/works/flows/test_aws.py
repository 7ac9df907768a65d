"""The walls of AWS, one rule a test, and the places behind them."""

from __future__ import annotations

import pytest

from tests.cost.recorded import resource
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.read import UnknownInput, UnreadableInput
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ADD_ON,
    DATABASE,
    DATABASE_SUBNETS,
    DNS_FIREWALL_ASSOCIATION,
    DNS_FIREWALL_NAMES,
    DNS_FIREWALL_RULE,
    EFS_MOUNT_TARGET,
    EKS_CLUSTER,
    LUSTRE,
    NAT_GATEWAY,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
    SUBNET,
    VPC,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.works.flows.addresses import INTERNET, Addresses
from trainyard.rehearsal.works.flows.aws.metadata import InstanceMetadata
from trainyard.rehearsal.works.flows.aws.names import names_looked_up
from trainyard.rehearsal.works.flows.aws.places import places
from trainyard.rehearsal.works.flows.aws.plugin import enforcement
from trainyard.rehearsal.works.flows.aws.routes import Routes
from trainyard.rehearsal.works.flows.aws.security_groups import SecurityGroups
from trainyard.rehearsal.works.flows.model import Flow, Place, Pods, Port, Verdict, judge


def inside(name="there", at="10.0.1.0/24", *groups, subnet="subnet-1", **more) -> Place:
    subnets = frozenset({subnet})
    return Place(name, "service", Addresses.of(at), security_groups=frozenset(groups), subnets=subnets, **more)


NODE = inside("nodes", "10.0.0.0/24", "sg-node")
OUTSIDE = Place("internet", "internet", INTERNET)


class TestSecurityGroups:
    """EC2 user guide, "Security groups" and "Security group rules"."""

    @staticmethod
    def ask(rules, source, destination, port: Port | int = 443) -> Verdict:
        wall = SecurityGroups.recorded(Resources(rules))
        return judge(Flow.between(source, destination, Port(port) if isinstance(port, int) else port), [wall])

    @staticmethod
    def rule(group, way, name="rule", **given):
        type_ = SECURITY_GROUP_INGRESS_RULE if way == "in" else SECURITY_GROUP_EGRESS_RULE
        given.setdefault("ipProtocol", "-1")
        return resource(type_, f"{group}-{way}-{name}", {"securityGroupId": group, **given})

    def test_a_group_without_rules_lets_nothing_in_and_nothing_out(self):
        assert not self.ask([], inside(), inside("it", "10.0.2.0/24", "sg-a"))
        assert not self.ask([], inside("it", "10.0.2.0/24", "sg-a"), inside())

    def test_a_place_without_a_group_is_not_held_back(self):
        assert self.ask([], inside(), inside())

    def test_both_ends_must_allow(self):
        out = self.rule("sg-node", "out", cidrIpv4="0.0.0.0/0")
        into = self.rule("sg-a", "in", referencedSecurityGroupId="sg-node")
        there = inside("it", "10.0.2.0/24", "sg-a")
        assert self.ask([out, into], NODE, there)
        assert not self.ask([out], NODE, there)
        assert not self.ask([into], NODE, there)

    def test_a_referenced_group_stands_for_what_has_it(self):
        rules = [self.rule("sg-a", "in", referencedSecurityGroupId="123456789012/sg-node")]
        there = inside("it", "10.0.2.0/24", "sg-a")
        assert self.ask(rules, inside("has it", "10.0.9.0/24"), there).reach == "none"
        assert self.ask([*rules, self.rule("sg-node", "out", cidrIpv4="10.0.0.0/8")], NODE, there)

    def test_the_rules_of_all_groups_hold_together(self):
        rules = [
            self.rule("sg-a", "in", ipProtocol="tcp", fromPort=1, toPort=2, cidrIpv4="10.0.0.0/8"),
            self.rule("sg-b", "in", ipProtocol="tcp", fromPort=443, toPort=443, cidrIpv4="10.0.0.0/8"),
        ]
        assert self.ask(rules, inside(), inside("it", "10.0.2.0/24", "sg-a", "sg-b"))
        assert not self.ask(rules, inside(), inside("it", "10.0.2.0/24", "sg-a"))

    @pytest.mark.parametrize(
        ("given", "port", "answer"),
        [
            ({"ipProtocol": "-1"}, Port(9), True),
            ({"ipProtocol": "-1", "fromPort": 22, "toPort": 22}, Port(9, "UDP"), True),
            ({"ipProtocol": "tcp", "fromPort": 988, "toPort": 1023}, Port(988), True),
            ({"ipProtocol": "tcp", "fromPort": 988, "toPort": 1023}, Port(1023), True),
            ({"ipProtocol": "tcp", "fromPort": 988, "toPort": 1023}, Port(1024), False),
            ({"ipProtocol": "tcp", "fromPort": 53, "toPort": 53}, Port(53, "UDP"), False),
            ({"ipProtocol": "17", "fromPort": 53, "toPort": 53}, Port(53, "UDP"), True),
            ({"ipProtocol": "icmp", "fromPort": -1, "toPort": -1}, Port(443), False),
        ],
    )
    def test_protocols_and_ports(self, given, port, answer):
        rules = [self.rule("sg-a", "in", cidrIpv4="0.0.0.0/0", **given)]
        assert bool(self.ask(rules, inside(), inside("it", "10.0.2.0/24", "sg-a"), port)) is answer

    def test_addresses_narrow_what_comes_in(self):
        rules = [self.rule("sg-a", "in", cidrIpv4="10.0.1.0/25")]
        assert self.ask(rules, inside(), inside("it", "10.0.2.0/24", "sg-a")).reach == "some"
        assert not self.ask(rules, inside(at="10.0.1.128/25"), inside("it", "10.0.2.0/24", "sg-a"))

    def test_a_prefix_list_stands_for_the_store_that_is_in_it(self):
        store = Place("object store", "object store", INTERNET, prefix_lists=frozenset({"pl-s3"}))
        rules = [self.rule("sg-node", "out", prefixListId="pl-s3")]
        assert self.ask(rules, NODE, store)
        assert not self.ask(rules, NODE, OUTSIDE)

    @pytest.mark.parametrize(
        "rules",
        [
            [resource(SECURITY_GROUP_RULE, "r", {"securityGroupId": "sg-a", "type": "ingress", "protocol": "tcp",
                                                 "fromPort": 443, "toPort": 443, "cidrBlocks": ["10.0.0.0/8"]})],
            [resource(SECURITY_GROUP, "g", {"ingress": [{"protocol": "tcp", "fromPort": 443, "toPort": 443,
                                                         "cidrBlocks": ["10.0.0.0/8"]}]}, id_="sg-a")],
        ],
        ids=["a rule of the older type", "a rule inside of its group"],
    )  # fmt: skip
    def test_other_ways_to_write_a_rule(self, rules):
        there = inside("it", "10.0.2.0/24", "sg-a")
        assert self.ask(rules, inside(), there)
        assert not self.ask(rules, inside(), there, 80)

    def test_self_means_the_group_itself(self):
        inline = {"protocol": "-1", "self": True}
        group = resource(SECURITY_GROUP, "g", {"ingress": [inline], "egress": [inline]}, id_="sg-a")
        member = inside("it", "10.0.2.0/24", "sg-a")
        assert self.ask([group], member, member)
        assert not self.ask([group], inside(), member)

    def test_the_clusters_own_group_lets_itself_in_and_everything_out(self):
        cluster = resource(EKS_CLUSTER, "c", {"name": "c"}, outputs={"vpcConfig": {"clusterSecurityGroupId": "sg-c"}})
        member = inside("node", "10.0.2.0/24", "sg-c")
        assert self.ask([cluster], member, member, 10250)
        assert self.ask([cluster], member, OUTSIDE)
        assert not self.ask([cluster], inside(), member)

    def test_what_is_not_known_yet_is_said(self):
        with pytest.raises(UnknownInput):
            self.ask([self.rule("sg-a", "in", referencedSecurityGroupId=UNKNOWN)], NODE, inside())


class TestRoutes:
    """VPC user guide, "Configure route tables", "NAT gateways", "Gateway endpoints"."""

    INSIDE = (
        resource(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"}),
        resource(ROUTE_TABLE_ASSOCIATION, "private", {"subnetId": "subnet-1", "routeTableId": "rtb-private"}),
        resource(ROUTE_TABLE_ASSOCIATION, "public", {"subnetId": "subnet-2", "routeTableId": "rtb-public"}),
    )
    TO_GATEWAY = resource(
        ROUTE, "out", {"routeTableId": "rtb-public", "destinationCidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"}
    )
    TO_NAT = resource(
        ROUTE, "nat", {"routeTableId": "rtb-private", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": "nat-1"}
    )
    NAT = resource(NAT_GATEWAY, "nat", {"subnetId": "subnet-2"}, id_="nat-1")

    def ask(self, rest, source=NODE, destination=OUTSIDE) -> Verdict:
        wall = Routes.recorded(Resources([*self.INSIDE, *rest]), Addresses.of("172.20.0.0/16"))
        return judge(Flow.between(source, destination, Port(443)), [wall])

    def test_everything_inside_is_routed(self):
        assert self.ask([], NODE, inside()).reach == "all"
        assert self.ask([], NODE, inside(at="172.20.0.1")).reach == "all"

    def test_without_a_route_there_is_no_way_out(self):
        assert not self.ask([])

    def test_through_a_nat_gateway_with_a_way_out(self):
        assert self.ask([self.TO_NAT, self.NAT, self.TO_GATEWAY]).reach == "all"

    def test_a_nat_gateway_in_a_subnet_without_an_internet_gateway_leads_nowhere(self):
        assert not self.ask([self.TO_NAT, self.NAT])

    def test_a_private_nat_gateway_leads_nowhere(self):
        private = resource(NAT_GATEWAY, "nat", {"subnetId": "subnet-2", "connectivityType": "private"}, id_="nat-1")
        assert not self.ask([self.TO_NAT, private, self.TO_GATEWAY])

    def test_an_internet_gateway_takes_public_addresses_only(self):
        assert not self.ask([self.TO_GATEWAY], inside(subnet="subnet-2"))

    def test_the_longest_prefix_wins(self):
        narrower = {"routeTableId": "rtb-private", "destinationCidrBlock": "8.0.0.0/8", "gatewayId": "igw-1"}
        verdict = self.ask([self.TO_NAT, self.NAT, self.TO_GATEWAY, resource(ROUTE, "narrower", narrower)])
        assert verdict.reach == "some"
        assert not verdict.left & Addresses.of("8.8.8.8")

    def test_routes_inside_of_a_table(self):
        table = resource(
            ROUTE_TABLE, "t", {"routes": [{"cidrBlock": "0.0.0.0/0", "natGatewayId": "nat-1"}]}, id_="rtb-private"
        )
        assert self.ask([table, self.NAT, self.TO_GATEWAY])

    def test_a_gateway_endpoint_leads_to_the_object_store_alone(self):
        given = {"serviceName": "com.amazonaws.us-east-1.s3", "routeTableIds": ["rtb-private"]}
        endpoint = resource(VPC_ENDPOINT, "network-s3", given)
        verdict = self.ask([endpoint], destination=Place("object store", "object store", INTERNET))
        assert verdict.reach == "all"
        assert "network-s3" in verdict.words
        assert not self.ask([endpoint])

    def test_the_internet_finds_public_addresses_only(self):
        assert not self.ask([], OUTSIDE, inside())
        admitted = inside(public_to=Addresses.of("8.8.0.0/16"))
        assert self.ask([], OUTSIDE, admitted).reach == "some"

    def test_link_local_addresses_are_the_nodes_and_their_pods(self):
        metadata = Place("metadata", "link-local", Addresses.of("169.254.169.254"))
        assert not self.ask([], OUTSIDE, metadata)
        assert self.ask([], Place("node", "node", NODE.addresses), metadata)


class TestMetadata:
    """EC2 user guide, "Configure the Instance Metadata Service options"."""

    POD = Place("pod", "pods", Addresses.of("10.0.0.0/24"), pods=Pods("a", {}))
    METADATA = Place("metadata", "link-local", Addresses.of("169.254.169.254"))

    def ask(self, options, source=POD, destination=METADATA) -> Verdict:
        template = resource(LAUNCH_TEMPLATE, "t", {} if options is None else {"metadataOptions": options}, id_="lt-1")
        group = resource(EKS_NODE_GROUP, "g", {"launchTemplate": {"id": "lt-1"}})
        wall = InstanceMetadata.recorded(Resources([template, group]))
        return judge(Flow.between(source, destination, Port(80)), [wall])

    def test_one_hop_ends_at_the_node(self):
        assert not self.ask({"httpTokens": "required", "httpPutResponseHopLimit": 1})

    def test_a_second_hop_gets_to_pods(self):
        assert self.ask({"httpTokens": "required", "httpPutResponseHopLimit": 2})

    def test_what_is_not_said_is_two_hops(self):
        assert self.ask({"httpTokens": "required"})
        assert self.ask(None)

    def test_without_tokens_no_hop_limit_helps(self):
        assert self.ask({"httpTokens": "optional", "httpPutResponseHopLimit": 1})

    def test_switched_off(self):
        assert not self.ask({"httpEndpoint": "disabled"})

    def test_a_node_group_without_a_template_answers_pods(self):
        wall = InstanceMetadata.recorded(Resources([resource(EKS_NODE_GROUP, "g", {})]))
        assert judge(Flow.between(self.POD, self.METADATA, Port(80)), [wall])

    def test_nodes_get_their_own_identity(self):
        options = {"httpTokens": "required", "httpPutResponseHopLimit": 1}
        assert self.ask(options, source=Place("node", "node", self.POD.addresses))


class TestPlugin:
    """EKS user guide, "Limit Pod traffic with Kubernetes network policies"."""

    @pytest.mark.parametrize(
        ("configuration", "found"),
        [
            ('{"enableNetworkPolicy": "true"}', "standard"),
            ('{"enableNetworkPolicy": true}', "standard"),
            ('{"enableNetworkPolicy": "true", "env": {"NETWORK_POLICY_ENFORCING_MODE": "strict"}}', "strict"),
            ('{"enableNetworkPolicy": "false", "env": {"NETWORK_POLICY_ENFORCING_MODE": "strict"}}', "off"),
            (None, "off"),
        ],
    )
    def test_what_the_add_on_enforces(self, configuration, found):
        add_on = resource(ADD_ON, "cni", {"addonName": "vpc-cni", "configurationValues": configuration})
        assert enforcement(Resources([add_on])) == found

    def test_no_add_on_enforces_nothing(self):
        assert enforcement(Resources([])) == "off"

    @pytest.mark.parametrize("text", ["{", "[]"])
    def test_what_cannot_be_read_is_said(self, text):
        add_on = resource(ADD_ON, "cni", {"addonName": "vpc-cni", "configurationValues": text})
        with pytest.raises(UnreadableInput):
            enforcement(Resources([add_on]))


class TestNames:
    """Route 53 developer guide, "How Route 53 Resolver DNS Firewall works", "Rule groups and rules"."""

    @staticmethod
    def firewall(*rules):
        found = [resource(DNS_FIREWALL_ASSOCIATION, "a", {"firewallRuleGroupId": "rg", "vpcId": "vpc-1"})]
        for priority, (action, *names) in enumerate(rules):
            listed = resource(DNS_FIREWALL_NAMES, f"l{priority}", {"domains": names}, id_=f"list-{priority}")
            given = {"action": action, "firewallRuleGroupId": "rg", "firewallDomainListId": f"list-{priority}"}
            # The order in which they are registered is not theirs.
            found[1:1] = [listed, resource(DNS_FIREWALL_RULE, f"r{priority}", {**given, "priority": priority})]
        return Resources(found)

    def test_without_a_firewall_every_name_is_looked_up(self):
        assert names_looked_up(Resources([])).every

    def test_what_is_allowed_before_the_rest_is_blocked(self):
        found = names_looked_up(self.firewall(("ALLOW", "pypi.org", "*.hf.co"), ("BLOCK", "*")))
        assert not found.every
        assert found.allowed == ("*.hf.co", "pypi.org")

    @pytest.mark.parametrize(
        "rules",
        [
            [("ALLOW", "pypi.org"), ("ALERT", "*")],
            [("ALLOW", "pypi.org")],
            [("BLOCK", "bad.example")],
            [("ALLOW", "*"), ("BLOCK", "*")],
        ],
        ids=["the rest is told only", "no rest", "some names alone", "everything before nothing"],
    )
    def test_what_blocks_nothing_to_speak_of(self, rules):
        assert names_looked_up(self.firewall(*rules)).every

    def test_a_group_that_stands_before_no_network_decides_nothing(self):
        rules = self.firewall(("ALLOW", "pypi.org"), ("BLOCK", "*")).all
        assert names_looked_up(Resources(rules[1:])).every


class TestPlaces:
    SUBNETS = (
        resource(SUBNET, "a", {"cidrBlock": "10.0.1.0/24"}, id_="subnet-a"),
        resource(SUBNET, "b", {"cidrBlock": "10.0.2.0/24"}, id_="subnet-b"),
    )

    def named(self, name, *rest) -> Place:
        return next(place for place in places(Resources([*self.SUBNETS, *rest])) if place.name == name)

    def test_nodes_have_the_groups_of_their_first_interface(self):
        interfaces = [
            {"deviceIndex": 1, "networkCardIndex": 1, "securityGroups": ["sg-efa"]},
            {"deviceIndex": 0, "networkCardIndex": 0, "securityGroups": ["sg-node"]},
        ]
        template = resource(LAUNCH_TEMPLATE, "t", {"networkInterfaces": interfaces}, id_="lt-1")
        group = resource(EKS_NODE_GROUP, "g", {"launchTemplate": {"id": "lt-1"}, "subnetIds": ["subnet-a"]})
        node = self.named("nodes", template, group)
        assert node.security_groups == {"sg-node"}
        assert str(node.addresses) == "10.0.1.0/24"

    def test_nodes_without_a_group_of_their_own_have_the_clusters(self):
        cluster = resource(EKS_CLUSTER, "c", {"name": "c"}, outputs={"vpcConfig": {"clusterSecurityGroupId": "sg-c"}})
        group = resource(EKS_NODE_GROUP, "g", {"subnetIds": ["subnet-a"]})
        assert self.named("nodes", cluster, group).security_groups == {"sg-c"}

    def test_a_database_lies_in_the_subnets_of_its_group(self):
        subnets = resource(DATABASE_SUBNETS, "s", {"name": "s", "subnetIds": ["subnet-a", "subnet-b"]}, id_="s")
        given = {"dbSubnetGroupName": "s", "vpcSecurityGroupIds": ["sg-db"], "port": 5433}
        database = self.named("database d", subnets, resource(DATABASE, "d", given))
        assert str(database.addresses) == "10.0.1.0/24, 10.0.2.0/24"
        assert database.ports == (Port(5433),)
        assert not database.public_to
        public = self.named("database d", subnets, resource(DATABASE, "d", {**given, "publiclyAccessible": True}))
        assert public.public_to == INTERNET

    def test_file_systems(self):
        lustre = resource(LUSTRE, "l", {"subnetIds": ["subnet-a"], "securityGroupIds": ["sg-l"]})
        target = resource(
            EFS_MOUNT_TARGET, "m", {"fileSystemId": "fs-1", "subnetId": "subnet-b", "securityGroups": ["sg-e"]}
        )
        assert Port(988) in self.named("Lustre l", lustre, target).ports
        assert self.named("EFS fs-1", lustre, target).ports == (Port(2049),)

    def test_the_object_store_is_where_its_gateway_endpoint_says(self):
        given = {"serviceName": "com.amazonaws.us-east-1.s3", "vpcEndpointType": "Gateway"}
        outputs = {"cidrBlocks": ["52.216.0.0/15"], "prefixListId": "pl-1"}
        endpoint = resource(VPC_ENDPOINT, "s3", given, outputs=outputs)
        store, internet = self.named("object store", endpoint), self.named("internet", endpoint)
        assert str(store.addresses) == "52.216.0.0/15"
        assert store.prefix_lists == {"pl-1"}
        assert not internet.addresses & store.addresses

    def test_the_object_store_may_be_anywhere_where_nobody_says(self):
        assert self.named("object store").addresses == self.named("internet").addresses == INTERNET

    def test_a_subnet_of_another_program_may_be_anywhere_private(self):
        lustre = resource(LUSTRE, "l", {"subnetIds": ["subnet-elsewhere"]})
        assert self.named("Lustre l", lustre).addresses & Addresses.of("192.168.3.4")

    def test_the_kubernetes_api_has_a_door_to_the_internet_unless_it_is_shut(self):
        def api(**network):
            given = {"name": "c", "vpcConfig": {"subnetIds": ["subnet-a"], **network}}
            outputs = {"vpcConfig": {"clusterSecurityGroupId": "sg-c"}}
            found = {
                place.name: place
                for place in places(Resources([*self.SUBNETS, resource(EKS_CLUSTER, "c", given, outputs=outputs)]))
            }
            return found.get("Kubernetes API, public endpoint")

        assert api(endpointPublicAccess=False) is None
        assert api(endpointPublicAccess=True, publicAccessCidrs=["8.8.8.0/24"]).public_to == Addresses.of("8.8.8.0/24")
        assert api().public_to == Addresses.of("0.0.0.0/0")


class TestAddresses:
    def test_arithmetic(self):
        tens = Addresses.of("10.0.0.0/8")
        assert str(tens - Addresses.of("10.128.0.0/9")) == "10.0.0.0/9"
        assert tens & Addresses.of("10.1.0.0/16", "11.0.0.0/8") == Addresses.of("10.1.0.0/16")
        assert Addresses.of("10.0.0.0/9") | Addresses.of("10.128.0.0/9") == tens
        assert not tens & Addresses.of("::/0")
        assert not tens - tens

    def test_a_sentence_holds_the_first_few(self):
        assert str(Addresses()) == "no address"
        assert str(Addresses.of(*(f"10.{n}.0.1" for n in range(5)))).endswith("2 more")

    def test_the_internet_holds_no_private_address(self):
        for private in ("10.1.2.3", "172.20.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "127.0.0.1"):
            assert not INTERNET & Addresses.of(private)
        assert INTERNET & Addresses.of("8.8.8.8")
