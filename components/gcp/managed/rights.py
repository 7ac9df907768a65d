"""What people and jobs of managed training may do on Vertex AI, as lists of permissions.

Vertex AI's permissions take no condition on what a job asks for, so these say what of its kinds may be started at all,
and `ceilings` how many GPUs of which kind. Who runs as which account is said by the right to act as it.
"""

from typing import Final

SENDING: Final = tuple(
    f"aiplatform.{kind}.{verb}"
    for kind in ("customJobs", "hyperparameterTuningJobs")
    for verb in ("create", "get", "list", "cancel")
)
"""Jobs: sent, followed and cancelled, never deleted, so that what was run stays on record."""

APPLYING: Final = ("aiplatform.notebookRuntimeTemplates.apply", "aiplatform.notebookRuntimeTemplates.get")
"""Editors of a template, given template by template: another of the project's may have any machine."""

EDITING: Final = (
    "aiplatform.notebookRuntimeTemplates.get", "aiplatform.notebookRuntimeTemplates.list",
    "aiplatform.notebookRuntimes.assign", "aiplatform.notebookRuntimes.get", "aiplatform.notebookRuntimes.list",
    "aiplatform.notebookRuntimes.start", "aiplatform.notebookRuntimes.delete",
)  # fmt: skip
"""Editors, of the templates that `APPLYING` is given on. Who made templates would choose machine, disk, network and
idle shutdown."""

NOTEBOOKS: Final = (
    "dataform.locations.get", "dataform.locations.list", "dataform.repositories.create", "dataform.repositories.list",
    "dataform.folders.create",
)  # fmt: skip
"""Notebooks of Colab Enterprise are repositories of Dataform, which who makes one owns (its documentation, "Access
control", 2026-11), in folders: what `roles/aiplatform.colabEnterpriseUser` holds of Dataform besides comments (IAM's
list of 2026-08-22, in which no role holds `dataform.collections.*` any more, the older name of folders)."""

TRACKING: Final = (
    "aiplatform.metadataSchemas.get", "aiplatform.metadataSchemas.list", "aiplatform.metadataStores.get",
    "aiplatform.contexts.addContextArtifactsAndExecutions", "aiplatform.contexts.addContextChildren",
    "aiplatform.contexts.create", "aiplatform.contexts.get", "aiplatform.contexts.list",
    "aiplatform.contexts.queryContextLineageSubgraph", "aiplatform.contexts.update",
    "aiplatform.executions.addExecutionEvents", "aiplatform.executions.create", "aiplatform.executions.get",
    "aiplatform.executions.list", "aiplatform.executions.queryExecutionInputsAndOutputs",
    "aiplatform.executions.update",
    "aiplatform.artifacts.create", "aiplatform.artifacts.get", "aiplatform.artifacts.list",
    "aiplatform.artifacts.update",
    "aiplatform.tensorboards.get", "aiplatform.tensorboards.list",
    "aiplatform.tensorboardExperiments.create", "aiplatform.tensorboardExperiments.get",
    "aiplatform.tensorboardExperiments.list", "aiplatform.tensorboardExperiments.update",
    "aiplatform.tensorboardExperiments.write",
    "aiplatform.tensorboardRuns.batchCreate", "aiplatform.tensorboardRuns.create", "aiplatform.tensorboardRuns.get",
    "aiplatform.tensorboardRuns.list", "aiplatform.tensorboardRuns.update", "aiplatform.tensorboardRuns.write",
    "aiplatform.tensorboardTimeSeries.batchCreate", "aiplatform.tensorboardTimeSeries.batchRead",
    "aiplatform.tensorboardTimeSeries.create", "aiplatform.tensorboardTimeSeries.get",
    "aiplatform.tensorboardTimeSeries.list", "aiplatform.tensorboardTimeSeries.read",
    "aiplatform.tensorboardTimeSeries.update",
)  # fmt: skip
"""Runs, their parameters and curves: written and read, never deleted."""

MODELS: Final = (
    "aiplatform.models.get", "aiplatform.models.list", "aiplatform.models.update", "aiplatform.models.upload",
)  # fmt: skip
"""Models: registered and described; no endpoint, which is paid for by the hour."""

LOOKING: Final = (
    "aiplatform.locations.get", "aiplatform.locations.list", "aiplatform.operations.list",
    "aiplatform.tensorboards.recordAccess", "logging.logEntries.list", "monitoring.dashboards.get",
    "monitoring.dashboards.list", "monitoring.timeSeries.list", "resourcemanager.projects.get",
    "serviceusage.services.use",
)  # fmt: skip
"""Seeing what there is: what a job wrote to its log, the dashboard of jobs, curves in TensorBoard's page (which notes
who looked), and all of it from a machine of one's own, whose calls are counted by the project."""

PEOPLE: Final = (*SENDING, *EDITING, *NOTEBOOKS, *MODELS, *LOOKING)
"""What people may do, besides what they track."""

JOBS: Final = ("logging.logEntries.create", "monitoring.timeSeries.create")
"""What jobs may do, besides what they track: write their log and their figures."""
