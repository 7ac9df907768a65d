"""Mutants of where teams' images come from: each way in which the wall would stand and hold nothing."""

from tests.policies.mutants import Mutant, drop, edit, put
from tests.policies.mutants_guard import vain
from trainyard.recorded.types import ADMISSION_BINDING, ADMISSION_POLICY

_ID, _GUARD, _BINDING = "team-images-from-anywhere", "teams-pods-images", "teams-pods-images-binding"


def _without_init_containers(inputs):
    validation = inputs["spec"]["validations"][0]
    validation["expression"] = validation["expression"].replace("initContainers", "containers")


def _open_end(inputs):
    validation = inputs["spec"]["validations"][0]
    validation["expression"] = validation["expression"].replace(".amazonaws.com/", ".amazonaws.com")


_JOBS = ("jobs", "jobsets", "trainjobs")

IMAGES = (
    Mutant(_ID, "no guard", change=drop(ADMISSION_POLICY, _GUARD)),
    Mutant(_ID, "no binding", change=drop(ADMISSION_BINDING, _BINDING)),
    *(Mutant(_ID, f"no guard of {kind}", change=drop(ADMISSION_POLICY, f"teams-{kind}-images")) for kind in _JOBS),
    *(
        Mutant(_ID, f"{kind} bound nowhere", change=drop(ADMISSION_BINDING, f"teams-{kind}-images-binding"))
        for kind in _JOBS
    ),
    Mutant(_ID, "asked in vain", change=edit(ADMISSION_POLICY, _GUARD, vain)),
    Mutant(_ID, "jobs asked in vain", change=edit(ADMISSION_POLICY, "teams-jobs-images", vain)),
    Mutant(_ID, "a registry without an end", change=edit(ADMISSION_POLICY, _GUARD, _open_end)),
    Mutant(_ID, "it warns", change=edit(ADMISSION_BINDING, _BINDING, put("spec", "validationActions", value=["Warn"]))),
    Mutant(_ID, "it ignores", change=edit(ADMISSION_POLICY, _GUARD, put("spec", "failurePolicy", value="Ignore"))),
    Mutant(_ID, "init containers", change=edit(ADMISSION_POLICY, _GUARD, _without_init_containers)),
    Mutant(
        _ID,
        "one team",
        change=edit(
            ADMISSION_BINDING,
            _BINDING,
            put("spec", "matchResources", "namespaceSelector", value={"matchLabels": {"ml.platform/team": "vision"}}),
        ),
    ),
)
