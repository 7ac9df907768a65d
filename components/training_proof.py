"""The proof that managed training trains: a command that sends the smoke job while `pulumi up` runs, and waits for it.

No `TrainingJob` resource: one that ran out of time would pass, a failed one would leave a name that is taken and
nothing in the state, and nobody would read its figures (docs/decisions/0065-the-proof-is-a-command.md).
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
from pulumi_command import local

from trainyard.components.outputs import register

_BEFORE = """set -eu
PATH="$PWD/.venv/bin:$PWD/../.venv/bin:$PATH"
command -v trainyard >/dev/null || {
  echo "trainyard is neither in .venv nor on the path: activate the environment that Pulumi.yaml names" >&2
  exit 2
}
"""
"""Pulumi runs a command with its own path, which does not have the program's virtual environment."""


class TrainingProofArgs(TypedDict):
    """What `TrainingProof` needs."""

    arguments: Sequence[str]
    """Words of `trainyard smoke`, known to the plan: the stack, the target."""
    options: Sequence[str]
    """Options that the engine knows the values of, in order, each by the variable of `values` that holds it."""
    values: Mapping[str, pulumi.Input[str]]
    """Environment of the command, by variable. No secret: it is in the state and in previews."""
    triggers: Sequence[pulumi.Input[str]]
    """What the job is made of. Another one, and it runs again."""


class TrainingProof(pulumi.ComponentResource):
    """One smoke job. A failed one fails `pulumi up` and leaves nothing behind, so that the next `up` tries again."""

    def __init__(self, name: str, args: TrainingProofArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Nothing is sent at a preview, and nothing is done at a destroy."""
        super().__init__("trainyard:index:TrainingProof", name, None, opts)
        local.Command(
            name,
            create=proof_command(args["arguments"], args["options"]),
            environment=dict(args["values"]),
            triggers=list(args["triggers"]),
            logging=local.Logging.STDOUT_AND_STDERR,
            add_previous_output_in_env=False,
            # What a component waits for, its children do not.
            opts=pulumi.ResourceOptions(parent=self, depends_on=opts.depends_on if opts is not None else None),
        )
        register(self)


def proof_command(arguments: Sequence[str], options: Sequence[str]) -> str:
    """The command as a shell runs it: `--bucket=SMOKE_BUCKET` of `options` becomes `--bucket "$SMOKE_BUCKET"`."""
    words = [shlex.quote(word) for word in ("trainyard", "smoke", *arguments)]
    for option in options:
        flag, _, variable = option.partition("=")
        words += [flag, f'"${variable}"']
    return f"{_BEFORE}exec {' '.join(words)}"
