"""Where the `trainyard` command begins: quiet at Ctrl-C while what it needs is still being imported."""

from __future__ import annotations

import sys

from trainyard.review.exit_codes import EXIT_INTERRUPTED


def main() -> None:
    """Entry point of the distribution, and of `python -m trainyard.cli`."""
    try:
        from trainyard.cli.quick_start import quick_start

        quick_start()
        from trainyard.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
