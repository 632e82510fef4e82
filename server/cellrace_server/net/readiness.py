"""Whether a node should be sent players now, and why not."""

from __future__ import annotations

from collections.abc import Callable

from cellrace_server.net.services import Services
from cellrace_server.store.hearing import Hearing


def reason_against(services: Services, hearing: Hearing, shortage: Callable[[], str]) -> str | None:
    """Why a node is not ready, or None; `shortage` tells what the store may lack where it takes no writes."""
    clock, refusal = services.store.clock, services.store.link.refusal
    if services.draining.begun:
        return "This node is about to end."
    if refusal:
        return f"{refusal} {shortage()}".rstrip()
    if not hearing.ready:
        return "Nothing published through the store has come back within the last seconds."
    if not clock.ready:
        return f"The race clock is unsure: {clock.disagreement:.0f} ms apart, ±{clock.error_bound:.0f} ms."
    return None
