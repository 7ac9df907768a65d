"""Truth table of where teams' images come from."""

import copy

from tests.policies.truth import OK, UNDECIDED, VIOLATED, made, table, unknown
from trainyard.components.k8s.image_guard import expression, spec
from trainyard.conventions import TEAM_LABEL
from trainyard.recorded.types import ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE

TEAM = made(NAMESPACE, "vision", {"metadata": {"name": "team-vision", "labels": {TEAM_LABEL: "vision"}}})
PLATFORM = made(NAMESPACE, "mlflow", {"metadata": {"name": "mlflow"}})
SHOP = made(NAMESPACE, "shop", {"metadata": {"name": "shop", "labels": {"app": "shop"}}})
_HOLDS = expression("pods", ["public.ecr.aws"])


def _camel(value):
    """As a recording spells it."""
    if isinstance(value, dict):
        words = {key: key.split("_") for key in value}
        return {first + "".join(map(str.title, rest)): _camel(value[key]) for key, (first, *rest) in words.items()}
    return [_camel(one) for one in value] if isinstance(value, list) else value


def guard(*path, value=None, holds=_HOLDS):
    body = copy.deepcopy(_camel(spec("pods", holds, "no")))
    if path:
        target = body
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = value
    return made(ADMISSION_POLICY, "images", {"metadata": {"name": "images"}, "spec": body})


def bound(actions=("Deny",), name="images", **where):
    selector = {"namespaceSelector": {"matchExpressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}}
    body = {"policyName": name, "validationActions": list(actions), "matchResources": {**selector, **where}}
    return made(ADMISSION_BINDING, "images", {"metadata": {"name": "images"}, "spec": body})


EVERYWHERE = made(
    ADMISSION_BINDING, "images", {"spec": {"policyName": "images", "validationActions": ["Deny", "Audit"]}}
)
ONE_TEAM = {"namespaceSelector": {"matchLabels": {TEAM_LABEL: "vision"}}}
NOT_ONE = {"namespaceSelector": {"matchExpressions": [{"key": TEAM_LABEL, "operator": "NotIn", "values": ["vision"]}]}}
RULE = ("matchConstraints", "resourceRules", 0)
OTHER = made(
    ADMISSION_POLICY,
    "other",
    {"metadata": {"name": "other"}, "spec": {"validations": [{"expression": "object.spec.replicas > 1"}]}},
)

CASES = [
    *table(
        "team-images-from-anywhere",
        ("the guard", OK, (TEAM, PLATFORM, guard(), bound())),
        ("bound to every namespace", OK, (TEAM, guard(), EVERYWHERE)),
        ("another policy beside it", OK, (TEAM, guard(), bound(), OTHER)),
        ("a cluster without teams", OK, PLATFORM),
        ("no guard", VIOLATED, TEAM),
        ("another policy alone", VIOLATED, (TEAM, OTHER)),
        ("no binding", VIOLATED, (TEAM, guard())),
        ("a binding of another policy", VIOLATED, (TEAM, guard(), bound(name="other"))),
        ("it only warns", VIOLATED, (TEAM, guard(), bound(("Warn", "Audit")))),
        ("for one team", VIOLATED, (TEAM, guard(), bound(**ONE_TEAM))),
        ("not for one team", VIOLATED, (TEAM, guard(), bound(**NOT_ONE))),
        ("pods that ask for it", VIOLATED, (TEAM, guard(), bound(objectSelector={"matchLabels": {"a": "b"}}))),
        ("where it fails, all passes", VIOLATED, (TEAM, guard("failurePolicy", value="Ignore"), bound())),
        ("not at changes", VIOLATED, (TEAM, guard(*RULE, "operations", value=["CREATE"]), bound())),
        ("not at a debugger", VIOLATED, (TEAM, guard(*RULE, "resources", value=["pods"]), bound())),
        ("at everything", OK, (TEAM, guard(*RULE, "resources", value=["*/*"]), bound())),
        ("a condition before it", VIOLATED, (TEAM, guard("matchConditions", value=[{"name": "a"}]), bound())),
        (
            "init containers pass",
            VIOLATED,
            (TEAM, guard(holds=_HOLDS.replace("initContainers", "containers")), bound()),
        ),
        ("it holds always", VIOLATED, (TEAM, guard(holds="true"), bound())),
        ("binding unknown", UNDECIDED, (TEAM, guard(), unknown(bound(), "spec", "validationActions"))),
        ("no namespace of a team's", OK, SHOP),
    ),
]
