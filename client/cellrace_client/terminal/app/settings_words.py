"""The settings of a race in words. Pure."""

from __future__ import annotations

from cellrace.autoplay import Autoplay
from cellrace.messages import Ends, Placement, Settings, Spectate
from cellrace.variants import VARIANTS
from cellrace_client.language import _
from cellrace_client.terminal.app.clock import clock_text
from cellrace_client.terminal.race_settings import setting_name


def setting_text(value: object) -> str:
    """A value of a setting as a person reads it."""
    match value:
        case True:
            return _("yes")
        case False:
            return _("no")
        case Autoplay.SAFE:
            return _("as is safe")
        case Autoplay.NONE:
            return _("never")
        case Placement.PLAYER:
            return _("by each player")
        case Placement.FIXED:
            return _("on columns 1, 2, 3")
        case Ends.ALL:
            return _("the last player")
        case Ends.FIRST_WIN:
            return _("the first win")
        case Spectate.LIVE:
            return _("at once")
        case Spectate.DELAYED:
            return _("60 s late")
        case Spectate.AFTER:
            return _("afterwards")
        case _:
            return str(value)


def settings_lines(settings: Settings) -> list[str]:
    """The settings that a player wants to know before the start, in a few lines."""
    ranked = _("ranked") if settings.ranked else _("not ranked")
    deal = _("deal {number}").format(number=settings.deal) if settings.deal else _("a new deal that can be won")
    lines = [f"{deal}, {ranked}, {_('by code only') if settings.private else _('open to all')}"]
    undo = _("undo") if settings.undo else _("no undo")
    lines.append(
        ", ".join(
            (
                _("time limit {time}").format(time=clock_text(settings.time_limit * 1000)),
                undo,
                f"{setting_name('autoplay').lower()}: {setting_text(settings.autoplay)}",
            )
        )
    )
    ends = f"{setting_name('ends').lower()} {setting_text(settings.ends)}"
    watched = f"{setting_name('spectate').lower()} {setting_text(settings.spectate)}"
    lines.append(f"{ends}, {watched}")
    variant = VARIANTS.get(settings.variant)
    if variant is not None and variant.reserve:
        lines.append(f"{setting_name('placement').lower()} {setting_text(settings.placement)}")
    return lines
