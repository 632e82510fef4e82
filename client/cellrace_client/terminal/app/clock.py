"""Times as a player reads them on the screen, and when they change. Pure."""

from __future__ import annotations

from cellrace.messages import RaceKind
from cellrace.variants import VARIANTS
from cellrace_client.language import _
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.speech import printable

_LEAST = 0.001


def clock_text(ms: int) -> str:
    """A length of time in whole seconds, rounded down: `1:23`."""
    seconds = max(0, ms) // 1000
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def next_second(ms: int) -> float:
    """Seconds from a time to the next whole second after it."""
    return max(_LEAST, (1000 - ms % 1000) / 1000)


def seconds_left(ms: int) -> int:
    """How a length of time is counted down: 3, 2, 1, and 0 only when it is over."""
    return max(0, -(-ms // 1000))


def until_next_count(ms: int) -> float:
    """Seconds until a countdown shows another number."""
    return max(_LEAST, ((ms - 1) % 1000 + 1) / 1000)


def game_title(variant_id: str) -> str:
    """A game by the name that players know."""
    variant = VARIANTS.get(variant_id)
    return _(variant.name) if variant else printable(variant_id)


def game_name(view: RaceView) -> str:
    """A race's game, and its deal once that is told."""
    title = game_title(view.settings.variant)
    if view.kind is RaceKind.DAILY:
        title = _("{game}, daily challenge").format(game=title)
    if view.dealt is None or view.dealt.deal is None:
        return title
    return _("{game}, deal {number}").format(game=title, number=view.dealt.deal)
