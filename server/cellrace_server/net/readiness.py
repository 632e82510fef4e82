"""Whether a node should be sent players now, and why not."""

from __future__ import annotations

from cellrace_server.net.services import Services
from cellrace_server.store.embedded import EmbeddedStore
from cellrace_server.store.hearing import Hearing


def reason_against(services: Services, hearing: Hearing, embedded: EmbeddedStore | None) -> str | None:
    """Why a node is not ready, or None; an embedded store knows what its directory may lack."""
    harm = embedded.harm if embedded else ""
    clock, refusal = services.store.clock, services.store.link.refusal
    if services.draining.begun:
        return "This node is about to end."
    if refusal:
        return f"{refusal} {harm or (embedded.shortage if embedded else '')}".rstrip()
    if harm:
        return harm
    if not hearing.ready:
        return "Nothing published through the store has come back within the last seconds."
    if not clock.ready:
        return f"The race clock is unsure: {clock.disagreement:.0f} ms apart, ±{clock.error_bound:.0f} ms."
    return None
