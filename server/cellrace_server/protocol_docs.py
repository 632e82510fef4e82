"""The protocol page with what only the server knows: `python -m cellrace_server.protocol_docs PAGE` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

from cellrace.protocol_page import protocol_page, read_sections
from cellrace_server.core.commands_table import requests_by_state


def whole_page(before: str) -> str:
    """The page as it should be now; sections that others have filled stay as they are."""
    return protocol_page({**read_sections(before), "commands-by-state": requests_by_state()})


def main(path: str) -> None:
    """Write the page over the one that is there."""
    page = Path(path)
    page.write_text(whole_page(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
