"""A document on paper: a browser without a window prints it. Nothing of ours sets pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
"""Programs of Chromium's family, as systems call them, in the order in which they are looked for."""

TIMEOUT_SECONDS: Final = 120.0
_PDF: Final = b"%PDF-"


class NoPdf(Exception):  # noqa: N818 - reads as what it says
    """The document could not be printed; the text says why, and what would do."""


def find_browser(given: str | None = None) -> str:
    """The browser that prints: the one that is given, or the first that there is.

    Raises:
        NoPdf: there is none.
    """
    for name in (given,) if given else BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    if given:
        raise NoPdf(f"--browser {given}: there is no such program; name Chromium, Chrome or Edge")
    raise NoPdf(
        "a browser prints the PDF, and there is none of "
        f"{', '.join(name for name in BROWSERS if '/' not in name)}; install Chromium (`apt-get install chromium`), "
        "name one with --browser, or print the page from your own browser"
    )


def as_pdf(html: str, browser: str) -> bytes:
    """The document as a PDF. The browser opens no connection and leaves nothing behind; the page has no script.

    Raises:
        NoPdf: the browser did not print it.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-pdf-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        source, made = folder / "document.html", folder / "document.pdf"
        source.write_text(html, encoding="utf-8")
        try:
            done = subprocess.run(
                [browser, *_options(folder, made), source.as_uri()],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NoPdf(f"{browser} did not end within {TIMEOUT_SECONDS:.0f} seconds") from None
        except OSError as error:
            raise NoPdf(f"{browser} cannot be run: {error.strerror}") from None
        content = made.read_bytes() if made.is_file() else b""
    if done.returncode or not content.startswith(_PDF):
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
        raise NoPdf(f"{browser} printed nothing (exit code {done.returncode}): {last.strip()}")
    return content


def _options(folder: Path, made: Path) -> Iterator[str]:
    yield from (
        "--headless=new",
        "--disable-gpu",
        "--no-first-run",
        "--disable-extensions",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--no-pdf-header-footer",
        f"--user-data-dir={folder / 'profile'}",
        f"--print-to-pdf={made}",
    )
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        yield "--no-sandbox"  # Chromium refuses to have one as root, as in most containers
