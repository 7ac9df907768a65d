"""Where Pulumi keeps a stack's state and the key of its secrets, as a rehearsal tells it to policies.

It is told as keys of a namespace that no package has: an engine tells a policy nothing of the kind.
"""

from __future__ import annotations

from typing import Final

STATE: Final = "pulumi-state"
"""The namespace."""

READ: Final = f"{STATE}:read"
"""Is there where the project's files were read; its text says nothing."""

BACKEND: Final = f"{STATE}:backend"
"""`backend.url` of Pulumi.yaml; empty where it names none, which means: where `pulumi login` went last."""

SECRETS_PROVIDER: Final = f"{STATE}:secretsProvider"
"""`secretsprovider` of the stack's file, which encrypts its secrets and those in the state; empty: the default, a
passphrase, or the service's own key with Pulumi Cloud."""
