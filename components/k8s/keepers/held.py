"""What keepers note on a LocalQueue that they hold: each knows the others' holds from a person's."""

API = "kueue.x-k8s.io/v1beta2"
OPEN = "None"
"""The `stopPolicy` of a LocalQueue that nobody holds."""
BY_BUDGET = "ml.platform/held-since"
"""Annotation of a queue whose team's budget is spent; the second at which it was held."""
BY_CLOCK = "ml.platform/off-peak-held-since"
"""Annotation of a queue that is held outside of its hours; the second at which it was held."""


def queue_path(namespace: str, queue: str) -> str:
    """A LocalQueue at the API server."""
    return f"/apis/{API}/namespaces/{namespace}/localqueues/{queue}"
