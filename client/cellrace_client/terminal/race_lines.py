"""One race in lines: in a list, how a friend comes into it, and all its settings. Pure."""

from __future__ import annotations

import shlex

from cellrace.autoplay import Autoplay
from cellrace.messages import Ends, EntrantStatus, RaceState, Summary
from cellrace_client.connection import is_of_this_machine, short_address
from cellrace_client.language import _
from cellrace_client.race_view import RaceView, seated
from cellrace_client.terminal.sentences import seats_text
from cellrace_client.terminal.titles import game_title, player_title
from cellrace_client.verdict import VERDICT_SENTENCES


def summary_line(summary: Summary) -> str:
    """A race in a list of those that are open: what is raced, and who is there."""
    there = (one.player for one in summary.entrants if one.status is not EntrantStatus.FORFEITED)
    seats, game = seats_text(seated(summary.entrants), summary.seats), game_title(summary.variant)
    return f"{summary.race}: {game}, {seats}: {', '.join(map(player_title, there))}."


def invitation(view: RaceView, url: str) -> tuple[str, str] | None:
    """Who can still come in, and what they type at a shell; None where nobody can, or by no code that we know."""
    if view.state is not RaceState.OPEN or view.code is None or view.seated >= view.settings.seats:
        return None
    command = ["cellrace", "play", "--server", short_address(url), "--code", view.code]
    if not is_of_this_machine(url):
        return _("A friend types:"), shlex.join(command)
    # As the same player they would take one's own place.
    return _("A friend on this machine types:"), shlex.join([*command, "--profile", "friend"])


def rematch_sentence(view: RaceView) -> str | None:
    """What nobody expects of the rematch of a race; None where there is nothing."""
    return _("A rematch is on a new deal, and without ghosts.") if view.settings.ghosts else None


def settings_sentences(view: RaceView) -> list[str]:
    """Every setting that is not told with the race itself, and what is known of the deal."""
    settings = view.settings
    times = _("Time limit {time_limit} s, countdown {countdown} s, grace {grace} s").format(
        time_limit=settings.time_limit, countdown=settings.countdown, grace=settings.grace
    )
    rules = (
        _("undo on") if settings.undo else _("undo off"),
        _("autoplay safe") if settings.autoplay is Autoplay.SAFE else _("autoplay none"),
        _("ends with the first win") if settings.ends is Ends.FIRST_WIN else _("ends with the last player"),
        _("ranked") if settings.ranked else _("not ranked"),
    )
    told = [f"{times}; {', '.join(rules)}."]
    if view.commitment is not None:
        told.append(_("Commitment {commitment}.").format(commitment=view.commitment))
    if view.dealt is not None and view.dealt.deal is not None:
        deal = _("Deal {deal}, salt {salt}.").format(deal=view.dealt.deal, salt=view.dealt.salt)
        told.append(f"{deal} {_(VERDICT_SENTENCES[view.verdict])}")
    return told
