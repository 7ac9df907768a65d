"""Each rule of the NetworkPolicy specification (kubernetes.io, "Network Policies"; API reference
networking.k8s.io/v1), by name."""

import pytest

from tests.rehearsal.works.flows.places import (
    INTERNET_AT_LARGE,
    anybody,
    ask,
    at,
    namespace,
    pods,
    policy,
    to_block,
)
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import UnknownInput
from trainyard.rehearsal.works.flows.model import Place, Port

CLOSED = policy("a", "closed", policyTypes=["Ingress", "Egress"])


class TestIsolation:
    """ "The Two Sorts of Pod Isolation"."""

    def test_pods_are_not_isolated_by_default(self):
        assert ask([], pods("a"), pods("b"))

    def test_a_policy_isolates_the_pods_that_it_selects_only(self):
        selects_one = policy("a", podSelector={"matchLabels": {"app": "web"}}, policyTypes=["Ingress"])
        assert not ask([selects_one], pods("b"), pods("a", app="web"))
        assert ask([selects_one], pods("b"), pods("a", app="other"))
        assert ask([selects_one], pods("a", app="other"), pods("b"))

    def test_a_policy_holds_in_its_own_namespace_only(self):
        assert ask([CLOSED], pods("b"), pods("c"))

    def test_an_empty_pod_selector_selects_all_pods_of_the_namespace(self):
        assert not ask([CLOSED], pods("b"), pods("a", anything="else"))

    def test_ingress_and_egress_are_isolated_independently(self):
        no_ingress = policy("a", policyTypes=["Ingress"])
        assert not ask([no_ingress], pods("b"), pods("a"))
        assert ask([no_ingress], pods("a"), pods("b"))

    def test_no_policy_types_isolates_ingress(self):
        assert not ask([policy("a")], pods("b"), pods("a"))
        assert ask([policy("a")], pods("a"), pods("b"))

    def test_no_policy_types_isolates_egress_where_there_are_egress_rules(self):
        some = policy("a", egress=[{"to": [to_block("10.9.0.0/16")]}])
        assert not ask([some], pods("a"), pods("b"))
        assert ask([some], pods("a"), at("10.9.0.1"))

    def test_policy_types_without_egress_leave_egress_rules_unread(self):
        some = policy("a", policyTypes=["Ingress"], egress=[{"to": [to_block("10.9.0.0/16")]}])
        assert ask([some], pods("a"), pods("b"))

    def test_policies_are_additive_and_order_does_not_matter(self):
        allows = policy("a", "allows", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.0.0/16")]}])
        for order in ([CLOSED, allows], [allows, CLOSED]):
            verdict = ask(order, pods("a"), at("10.9.0.1"))
            assert verdict
            assert [found.name for found in verdict.by] == ["a-allows"]

    def test_both_ends_must_allow(self):
        out = policy("a", policyTypes=["Egress"], egress=[{"to": [{"namespaceSelector": {}}]}])
        into = policy("b", policyTypes=["Ingress"], ingress=[{"from": [{"namespaceSelector": {}}]}])
        assert ask([out, into], pods("a"), pods("b"))
        assert not ask([out, policy("b")], pods("a"), pods("b"))
        assert not ask([CLOSED, into], pods("a"), pods("b"))

    def test_reply_traffic_needs_no_rule(self):
        out = policy("a", policyTypes=["Ingress", "Egress"], egress=[{}])
        assert ask([out], pods("a"), pods("b"))  # a takes nothing in, and gets its answer

    def test_the_node_of_a_pod_is_always_reached_and_always_reaches(self):
        node = Place("own node", "own node", pods("a").addresses)
        assert ask([CLOSED], pods("a"), node, 10250)
        assert ask([CLOSED], node, pods("a"))
        assert not ask([CLOSED], pods("a"), Place("another node", "node", pods("a").addresses), 10250)


class TestPeers:
    """ "Behavior of `to` and `from` selectors"."""

    @staticmethod
    def from_(*peers):
        return [policy("a", policyTypes=["Ingress"], ingress=[{"from": list(peers)}]), namespace("b", team="x")]

    def test_no_rules_let_nobody_in(self):
        assert not ask([policy("a", policyTypes=["Ingress"], ingress=[])], pods("b"), pods("a"))

    def test_an_empty_rule_lets_everybody_in(self):
        for rule in ({}, {"from": []}):
            verdict = ask([policy("a", policyTypes=["Ingress"], ingress=[rule])], INTERNET_AT_LARGE, pods("a"))
            assert verdict.reach == "all"

    def test_a_pod_selector_alone_means_the_policys_namespace(self):
        policies = self.from_({"podSelector": {"matchLabels": {"app": "web"}}})
        assert ask(policies, pods("a", app="web"), pods("a"))
        assert not ask(policies, pods("b", app="web"), pods("a"))
        assert not ask(policies, pods("a", app="other"), pods("a"))

    def test_an_empty_pod_selector_means_all_pods_of_the_policys_namespace(self):
        policies = self.from_({"podSelector": {}})
        assert ask(policies, pods("a", app="web"), pods("a"))
        assert not ask(policies, pods("b"), pods("a"))

    def test_a_namespace_selector_alone_means_all_pods_of_those_namespaces(self):
        policies = self.from_({"namespaceSelector": {"matchLabels": {"team": "x"}}})
        assert ask(policies, pods("b", app="any"), pods("a"))
        assert not ask(policies, pods("c"), pods("a"))
        assert not ask(policies, pods("a"), pods("a"))

    def test_an_empty_namespace_selector_means_all_namespaces(self):
        policies = self.from_({"namespaceSelector": {}})
        assert ask(policies, pods("c"), pods("a"))
        assert not ask(policies, at("10.9.0.1"), pods("a"))

    def test_two_selectors_in_one_peer_hold_together(self):
        selectors = {
            "namespaceSelector": {"matchLabels": {"team": "x"}},
            "podSelector": {"matchLabels": {"app": "web"}},
        }
        assert ask(self.from_(selectors), pods("b", app="web"), pods("a"))
        assert not ask(self.from_(selectors), pods("b", app="other"), pods("a"))
        assert not ask(self.from_(selectors), pods("c", app="web"), pods("a"))

    def test_two_peers_are_alternatives(self):
        policies = self.from_({"namespaceSelector": {"matchLabels": {"team": "x"}}}, {"podSelector": {}})
        assert ask(policies, pods("b"), pods("a"))
        assert ask(policies, pods("a"), pods("a"))

    def test_every_namespace_has_its_name_as_a_label(self):
        policies = self.from_({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}})
        assert ask(policies, pods("kube-system"), pods("a"))
        assert not ask(policies, pods("b"), pods("a"))

    @pytest.mark.parametrize(
        ("expression", "of_web", "of_db", "of_none"),
        [
            ({"key": "app", "operator": "In", "values": ["web", "api"]}, True, False, False),
            ({"key": "app", "operator": "NotIn", "values": ["web"]}, False, True, True),
            ({"key": "app", "operator": "Exists"}, True, True, False),
            ({"key": "app", "operator": "DoesNotExist"}, False, False, True),
        ],
    )
    def test_match_expressions(self, expression, of_web, of_db, of_none):
        policies = self.from_({"podSelector": {"matchExpressions": [expression]}})
        answers = [
            bool(ask(policies, pods("a", **labels), pods("a"))) for labels in ({"app": "web"}, {"app": "db"}, {})
        ]
        assert answers == [of_web, of_db, of_none]

    def test_match_labels_and_match_expressions_hold_together(self):
        selector = {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}
        policies = self.from_({"podSelector": selector})
        assert ask(policies, pods("a", app="web", tier="1"), pods("a"))
        assert not ask(policies, pods("a", app="web"), pods("a"))

    def test_an_address_block_means_its_addresses_without_the_excepted(self):
        policies = [policy("a", policyTypes=["Egress"], egress=[{"to": [to_block("10.0.0.0/8", "10.9.0.0/16")]}])]
        assert ask(policies, pods("a"), at("10.8.0.1"))
        assert not ask(policies, pods("a"), at("10.9.0.1"))
        assert not ask(policies, pods("a"), at("11.0.0.1"))

    def test_what_one_block_excepts_another_may_allow(self):
        first, second = to_block("10.0.0.0/8", "10.9.0.0/16"), to_block("10.9.1.0/24")
        policies = [policy("a", policyTypes=["Egress"], egress=[{"to": [first, second]}])]
        assert ask(policies, pods("a"), at("10.9.1.1"))
        assert not ask(policies, pods("a"), at("10.9.2.1"))

    def test_a_part_of_a_place_is_reached(self):
        policies = [policy("a", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.0.0/17")]}])]
        verdict = ask(policies, pods("a"), at("10.9.0.0/16"))
        assert verdict.reach == "some"
        assert str(verdict.left) == "10.9.0.0/17"

    def test_an_address_block_holds_for_pods_too(self):
        """Left open by the specification; so with the VPC CNI."""
        policies = [policy("a", policyTypes=["Egress"], egress=[{"to": [to_block("0.0.0.0/0")]}])]
        assert ask(policies, pods("a"), pods("b"))


class TestPorts:
    """`ports`, `endPort`, "Targeting a range of ports"."""

    @staticmethod
    def on(*ports):
        return [policy("a", policyTypes=["Egress"], egress=[{"ports": list(ports)}])]

    def test_no_ports_mean_every_port(self):
        assert ask([policy("a", policyTypes=["Egress"], egress=[{"ports": []}])], pods("a"), at("10.9.0.1"), 29500)

    def test_a_port_by_number(self):
        assert ask(self.on({"port": 443}), pods("a"), at("10.9.0.1"), 443)
        assert not ask(self.on({"port": 443}), pods("a"), at("10.9.0.1"), 444)

    def test_the_protocol_is_tcp_unless_it_is_stated(self):
        assert not ask(self.on({"port": 53}), pods("a"), at("10.9.0.1"), Port(53, "UDP"))
        assert ask(self.on({"port": 53, "protocol": "UDP"}), pods("a"), at("10.9.0.1"), Port(53, "UDP"))

    def test_a_protocol_alone_means_all_its_ports(self):
        assert ask(self.on({"protocol": "UDP"}), pods("a"), at("10.9.0.1"), Port(7, "UDP"))
        assert not ask(self.on({"protocol": "UDP"}), pods("a"), at("10.9.0.1"), 7)

    def test_a_range_includes_both_ends(self):
        answers = [
            bool(ask(self.on({"port": 100, "endPort": 102}), pods("a"), at("10.9.0.1"), n)) for n in range(99, 104)
        ]
        assert answers == [False, True, True, True, False]

    def test_a_port_by_name_is_the_destinations(self):
        rules = self.on({"port": "http"})
        assert ask(rules, pods("a"), pods("b", ports={"http": 5000}), 5000)
        assert not ask(rules, pods("a"), pods("b", ports={"http": 5000}), 80)
        assert not ask(rules, pods("a", ports={"http": 80}), pods("b"), 80)
        assert not ask(rules, pods("a"), at("10.9.0.1"), 5000)
        into = [policy("b", policyTypes=["Ingress"], ingress=[{"ports": [{"port": "http"}]}])]
        assert ask(into, pods("a"), pods("b", ports={"http": 5000}), 5000)

    def test_ports_and_peers_of_a_rule_hold_together(self):
        rules = [
            policy("a", policyTypes=["Egress"], egress=[{"ports": [{"port": 443}], "to": [to_block("10.9.0.0/16")]}])
        ]
        assert ask(rules, pods("a"), at("10.9.0.1"), 443)
        assert not ask(rules, pods("a"), at("10.9.0.1"), 80)
        assert not ask(rules, pods("a"), at("10.8.0.1"), 443)

    def test_a_services_address_stands_for_its_pods(self):
        """443 to everywhere is 443 of a service, whatever its pods listen on."""
        rules = [
            policy("a", policyTypes=["Egress"], egress=[{"ports": [{"port": 443}], "to": [to_block("0.0.0.0/0")]}])
        ]
        webhook = pods("b", services=[(443, 9443)])
        assert ask(rules, pods("a"), webhook, 9443)
        assert not ask(rules, pods("a"), webhook, 8443)
        narrower = [
            policy(
                "a",
                policyTypes=["Egress"],
                egress=[{"ports": [{"port": 443}], "to": [to_block("0.0.0.0/0", "172.16.0.0/12")]}],
            )
        ]
        assert not ask(narrower, pods("a"), webhook, 9443)


class TestEnforcement:
    """What the plugin makes of it (EKS user guide, "Network policy enforcement mode for new pods")."""

    def test_a_plugin_that_enforces_nothing(self):
        assert ask([CLOSED], pods("a"), pods("b"), enforcement="off")

    def test_strict_closes_pods_that_no_policy_selects(self):
        assert not ask([], pods("a"), pods("b"), enforcement="strict")
        assert "strict" in ask([], pods("a"), pods("b"), enforcement="strict").words

    def test_strict_asks_for_each_direction(self):
        out = policy("a", policyTypes=["Egress"], egress=[{}])
        assert not ask([out], pods("a"), pods("b"), enforcement="strict")
        assert ask([out], pods("a"), at("10.9.0.1"), enforcement="strict")


class TestAuthorsChoice:
    """Members write what labels they please on their pods."""

    def test_a_default_deny_that_selects_by_label_is_none(self):
        by_label = policy("a", podSelector={"matchLabels": {"app": "web"}}, policyTypes=["Ingress", "Egress"])
        assert ask([by_label], anybody("a"), at("10.9.0.1"))
        assert not ask([CLOSED], anybody("a"), at("10.9.0.1"))

    def test_a_label_opens_the_door_of_another_namespace(self):
        peer = {"namespaceSelector": {}, "podSelector": {"matchLabels": {"role": "client"}}}
        into = policy("b", policyTypes=["Ingress"], ingress=[{"from": [peer]}])
        assert ask([into], anybody("a"), pods("b"))
        assert not ask([into], pods("a"), pods("b"))

    def test_one_label_lets_out_another_in(self):
        out = policy("a", podSelector={"matchLabels": {"out": "yes"}}, policyTypes=["Egress"], egress=[{}])
        peer = {"namespaceSelector": {}, "podSelector": {"matchExpressions": [{"key": "in", "operator": "Exists"}]}}
        into = policy("b", policyTypes=["Ingress"], ingress=[{"from": [peer]}])
        assert ask([CLOSED, out, into], anybody("a"), pods("b"))


def test_words_name_what_denies_and_what_allows():
    allows = policy("a", "allows", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.0.0/16")]}])
    assert "a/allows" in ask([CLOSED, allows], pods("a"), at("10.9.0.1")).words
    denied = ask([CLOSED, allows], pods("a"), at("10.8.0.1"))
    assert "a/closed" in denied.words
    assert "10.8.0.1" in denied.words


def test_what_is_not_known_yet_is_said():
    unknown = policy("a", policyTypes=["Egress"], egress=[{"to": [to_block(UNKNOWN)]}])
    with pytest.raises(UnknownInput):
        ask([unknown], pods("a"), at("10.9.0.1"))


class TestAsked:
    """What policies said of a flow is said again of the same alone, and by the policies that are asked."""

    OPEN = policy("a", "open", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.0.0/16")]}])

    def test_the_policies_of_this_stack_are_named(self):
        for _ in range(2):
            again = policy("a", "open", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.0.0/16")]}])
            verdict = ask([again], pods("a"), at("10.9.0.1"))
            assert verdict
            assert [found is again for found in verdict.by] == [True]

    def test_whatever_changes_is_asked_anew(self):
        assert ask([self.OPEN], pods("a"), at("10.9.0.1"))
        narrower = policy("a", "open", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.1.0/24")]}])
        assert not ask([narrower], pods("a"), at("10.9.0.1"))
        assert not ask([self.OPEN], pods("a"), at("10.8.0.1"))
        on_one_port = policy(
            "a", "open", policyTypes=["Egress"], egress=[{"to": [to_block("10.9.0.0/16")], "ports": [{"port": 80}]}]
        )
        assert ask([on_one_port], pods("a"), at("10.9.0.1"), 80)
        assert not ask([on_one_port], pods("a"), at("10.9.0.1"), 81)
        assert not ask([on_one_port], pods("a"), at("10.9.0.1"), Port(80, "UDP"))

    def test_labels_of_pods_and_of_namespaces_are_asked_anew(self):
        to_web = [{"from": [{"namespaceSelector": {"matchLabels": {"kind": "web"}}}]}]
        closed = policy("a", "in", policyTypes=["Ingress"], ingress=to_web)
        for kind, passes in (("web", True), ("db", False), ("web", True)):
            assert bool(ask([closed, namespace("b", kind=kind)], pods("b"), pods("a"))) is passes
        of_one = policy("a", "one", podSelector={"matchLabels": {"app": "one"}}, policyTypes=["Ingress"])
        for app, passes in (("one", False), ("two", True), ("one", False)):
            assert bool(ask([of_one], pods("b"), pods("a", app=app))) is passes

    def test_how_policies_are_enforced_is_asked_anew(self):
        assert ask([], pods("a"), at("10.9.0.1"))
        assert not ask([], pods("a"), at("10.9.0.1"), enforcement="strict")
        assert ask([], pods("a"), at("10.9.0.1"))
