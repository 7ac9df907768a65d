"""What a command ends with. A failure of Trainyard's own never has a code that says something of a stack."""

from __future__ import annotations

from typing import Final

EXIT_VIOLATED: Final = 1
"""A mandatory policy is violated, or the budget is where that was asked."""

EXIT_SETTINGS: Final = 2
"""The settings, the command line or the project are wrong."""

EXIT_PROGRAM: Final = 3
"""The stack's program is wrong: the engine or a cloud would refuse what it makes, or it would not work."""

EXIT_STOPPED: Final = 3
"""What changes a stack that stands stopped on the way; the same command goes on."""

EXIT_BROKEN: Final = 70
"""Trainyard itself failed (`EX_SOFTWARE` of sysexits.h): this says nothing of the stack."""

EXIT_INTERRUPTED: Final = 130
"""Ctrl-C, as a shell reports it."""

EXIT_CLOSED_PIPE: Final = 141
"""What reads the output has ended, as a shell reports it of other tools (`| head`)."""
