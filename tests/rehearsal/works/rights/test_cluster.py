"""RBAC, one case a rule of "Using RBAC Authorization" (Kubernetes documentation); and access entries of EKS."""

import pytest

from tests.policies.truth import kubernetes, made
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.rights.aws.access_entries import ACCESS_POLICIES
from trainyard.rehearsal.works.rights.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.stack import Rights

GROUP = "rbac.authorization.k8s.io"
ANN = Person(("team:a",), "ann")
ARN = "arn:aws:iam::111122223333:role/ann"


def rules(*found):
    return [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], **one} for one in found]


def role(*found, name="r", namespace="a"):
    return kubernetes(f"{GROUP}/v1:Role", name, namespace, rules=rules(*found))


def cluster_role(*found, name="c", **more):
    return kubernetes(f"{GROUP}/v1:ClusterRole", name, rules=rules(*found), **more)


def binding(to="r", kind="Role", namespace="a", subject=None):
    subjects = [subject or {"kind": "Group", "name": "team:a"}]
    type_ = f"{GROUP}/v1:RoleBinding" if namespace else f"{GROUP}/v1:ClusterRoleBinding"
    return kubernetes(type_, f"b-{to}", namespace, roleRef={"kind": kind, "name": to}, subjects=subjects)


def may(who, verb, thing, *resources, namespace="a", name=""):
    return Cluster(Resources(resources)).may(who, verb, thing, namespace, name).answer


RULES = [
    ("a verb", {}, ("get", "pods", "x"), "yes"),
    ("another verb", {}, ("list", "pods", ""), "no"),
    ("every verb", {"verbs": ["*"]}, ("deletecollection", "pods", ""), "yes"),
    ("another group", {"apiGroups": ["apps"]}, ("get", "pods", ""), "no"),
    ("every group", {"apiGroups": ["*"], "resources": ["jobs"]}, ("get", "jobs.batch", ""), "yes"),
    ("a subresource is a resource of its own", {}, ("get", "pods/log", "x"), "no"),
    ("a subresource", {"resources": ["pods/log"]}, ("get", "pods/log", "x"), "yes"),
    ("every resource, subresources too", {"resources": ["*"]}, ("get", "pods/log", "x"), "yes"),
    ("a subresource of every resource", {"resources": ["*/log"]}, ("get", "pods/log", "x"), "yes"),
    ("and of no other", {"resources": ["*/log"]}, ("get", "pods/exec", "x"), "no"),
    ("a name", {"resourceNames": ["x"]}, ("get", "pods", "x"), "yes"),
    ("another name", {"resourceNames": ["x"]}, ("get", "pods", "y"), "no"),
    ("a name forbids to create", {"resourceNames": ["x"], "verbs": ["create"]}, ("create", "pods", ""), "no"),
]


@pytest.mark.parametrize(("rule", "asked", "expected"), [case[1:] for case in RULES], ids=[case[0] for case in RULES])
def test_rules(rule, asked, expected):
    verb, thing, name = asked
    assert may(ANN, verb, thing, role(rule), binding(), name=name) == expected


def test_rules_on_urls_hold_in_cluster_roles_bound_to_the_cluster():
    urls = cluster_role({"apiGroups": [], "resources": [], "nonResourceURLs": ["/metrics", "/debug/*"]})
    bound = binding("c", "ClusterRole", namespace="")
    for url, expected in (("/metrics", "yes"), ("/debug/pprof", "yes"), ("/metrics/x", "no")):
        assert may(ANN, "get", url, urls, bound) == expected
    assert may(ANN, "get", "/metrics", urls, binding("c", "ClusterRole")) == "no"


def test_a_role_binding_gives_a_role_or_a_cluster_role_in_its_namespace():
    for bound in ((role({}), binding()), (cluster_role({}), binding("c", "ClusterRole"))):
        assert may(ANN, "get", "pods", *bound) == "yes"
        assert may(ANN, "get", "pods", *bound, namespace="b") == "no"
        assert may(ANN, "get", "pods", *bound, namespace="") == "no"  # in all of them
        assert may(Person(("team:b",)), "get", "pods", *bound) == "no"


def test_a_cluster_role_binding_gives_it_everywhere():
    bound = cluster_role({}), binding("c", "ClusterRole", namespace="")
    assert [may(ANN, "get", "pods", *bound, namespace=place) for place in ("a", "b", "")] == ["yes"] * 3


def test_roles_of_a_name_in_another_namespace_are_others():
    assert may(ANN, "get", "pods", role({}, namespace="b"), role({"verbs": ["list"]}), binding()) == "no"


def test_subjects():
    pod = Pod("a", "trainer")
    account = kubernetes("core/v1:ServiceAccount", "trainer", "a")
    for subject, of_pod, of_ann in (
        ({"kind": "User", "name": "ann"}, "no", "yes"),
        ({"kind": "ServiceAccount", "name": "trainer", "namespace": "a"}, "yes", "no"),
        ({"kind": "ServiceAccount", "name": "trainer", "namespace": "b"}, "no", "no"),
        ({"kind": "Group", "name": "system:serviceaccounts"}, "yes", "no"),
        ({"kind": "Group", "name": "system:serviceaccounts:a"}, "yes", "no"),
        ({"kind": "Group", "name": "system:serviceaccounts:b"}, "no", "no"),
        ({"kind": "Group", "name": "system:authenticated"}, "yes", "yes"),
        ({"kind": "Group", "name": "system:unauthenticated"}, "no", "no"),
    ):
        bound = role({}), binding(subject=subject), account
        assert (may(pod, "get", "pods", *bound), may(ANN, "get", "pods", *bound)) == (of_pod, of_ann), subject
    anonymous = Person(("system:unauthenticated",), "system:anonymous")
    assert (
        may(anonymous, "get", "pods", role({}), binding(subject={"kind": "Group", "name": "system:unauthenticated"}))
        == "yes"
    )
    assert (
        may(anonymous, "get", "pods", role({}), binding(subject={"kind": "Group", "name": "system:authenticated"}))
        == "no"
    )


def test_a_service_account_that_nobody_recorded_may_have_roles_of_a_chart():
    assert may(Pod("kueue-system", "kueue-controller-manager"), "get", "secrets") == "unknown"
    assert may(Pod("a"), "get", "secrets") == "no"  # `default` is in every namespace


def test_aggregated_roles_take_up_what_is_labelled_for_them():
    queues = cluster_role(
        {"apiGroups": ["x.io"], "resources": ["things"]}, name="q", labels={f"{GROUP}/aggregate-to-view": "true"}
    )
    for built_in in ("view", "edit", "admin"):
        assert may(ANN, "get", "things.x.io", queues, binding(built_in, "ClusterRole")) == "yes"
    own = kubernetes(
        f"{GROUP}/v1:ClusterRole",
        "sum",
        aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]},
    )
    part = cluster_role({}, name="part", labels={"part": "yes"})
    assert may(ANN, "get", "pods", own, part, binding("sum", "ClusterRole")) == "yes"
    assert may(ANN, "get", "pods", own, cluster_role({}, name="part"), binding("sum", "ClusterRole")) == "no"


DEFAULT_ROLES = [  # "Default roles and role bindings", user-facing roles
    ("view", "get", "pods", "yes"),
    ("view", "get", "secrets", "no"),
    ("view", "get", "roles.rbac.authorization.k8s.io", "no"),
    ("view", "create", "pods", "no"),
    ("edit", "get", "secrets", "yes"),
    ("edit", "create", "pods/exec", "yes"),
    ("edit", "create", "serviceaccounts/token", "yes"),
    ("edit", "impersonate", "serviceaccounts", "yes"),
    ("edit", "create", "rolebindings.rbac.authorization.k8s.io", "no"),
    ("admin", "create", "rolebindings.rbac.authorization.k8s.io", "yes"),
    ("admin", "update", "resourcequotas", "no"),
    ("admin", "patch", "namespaces", "no"),
    ("cluster-admin", "escalate", "clusterroles.rbac.authorization.k8s.io", "yes"),
]


@pytest.mark.parametrize(("built_in", "verb", "thing", "expected"), DEFAULT_ROLES)
def test_roles_that_every_cluster_brings(built_in, verb, thing, expected):
    assert may(ANN, verb, thing, binding(built_in, "ClusterRole")) == expected


def test_bindings_that_every_cluster_brings():
    assert may(ANN, "get", "/version") == "yes"
    assert may(ANN, "create", "selfsubjectaccessreviews.authorization.k8s.io", namespace="") == "yes"
    assert may(Person(("system:masters",)), "delete", "nodes", namespace="") == "yes"
    assert may(Person(("system:unauthenticated",)), "get", "/apis") == "no"


def entry(**inputs):
    return made("aws:eks/accessEntry:AccessEntry", "e", {"principalArn": ARN, **inputs})


def association(policy, **scope):
    arn = f"arn:aws:eks::aws:cluster-access-policy/{policy}"
    return made(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        "p",
        {"principalArn": ARN, "policyArn": arn, "accessScope": scope},
    )


def test_an_access_entry_brings_the_groups_of_its_principal():
    rights = Rights([entry(kubernetesGroups=["team:a"]), role({}), binding()])
    assert rights.may(ARN, "get", "pods", {"namespace": "a"}).allowed
    assert rights.may(ARN, "get", "pods", {"namespace": "b"}).refused
    assert "no access entry" in rights.may(f"{ARN}-else", "get", "pods", {"namespace": "a"}).words


def test_access_policies_are_in_the_cluster_or_in_namespaces():
    wide = Rights([entry(), association("AmazonEKSClusterAdminPolicy", type="cluster")])
    assert wide.may(ARN, "get", "secrets").allowed
    narrow = Rights([entry(), association("AmazonEKSEditPolicy", type="namespace", namespaces=["team-a", "dev-*"])])
    places = {
        place: narrow.may(ARN, "get", "secrets", {"namespace": place}).answer for place in ("team-a", "dev-1", "b")
    }
    assert places == {"team-a": "yes", "dev-1": "yes", "b": "no"}
    assert (
        Rights([entry(), association("AmazonEKSNewPolicy", type="cluster")]).may(ARN, "get", "pods").answer == "unknown"
    )
    assert ACCESS_POLICIES["AmazonEKSClusterAdminPolicy"]
