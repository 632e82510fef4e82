"""What happens in a race, told in sentences; `you` is the player who looks. Pure."""

from __future__ import annotations

from typing import assert_never

from cellrace.messages import (
    CancelledPush,
    CancelReason,
    CountdownPush,
    DelayedPush,
    DonePush,
    EntrantStatus,
    JoinedPush,
    LeftPush,
    LeftReason,
    MatchedPush,
    MovedPush,
    OnlinePush,
    OverPush,
    Player,
    ProgressPush,
    RaceState,
    ReadyPush,
    RematchPush,
    StartedPush,
)
from cellrace_client.events import Back, Dropped, Event, Happened, Lost, Matched, Synced
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.speech import count_text, length_text, ordinal, seconds_text
from cellrace_client.terminal.standings_lines import standings_lines
from cellrace_client.verdict import VERDICT_SENTENCES, Verdict

_LEFT: dict[LeftReason, str] = {
    LeftReason.LEFT: "{who} left.",
    LeftReason.KICKED: "{who} {were} removed by the host.",
    LeftReason.OFFLINE: "{who} {were} removed for being offline.",
    LeftReason.NOT_READY: "{who} {were} removed for not being ready.",
}
_CANCELLED: dict[CancelReason, str] = {
    CancelReason.EMPTY: "nobody was online",
    CancelReason.UNCHANGED: "nothing happened for too long",
    CancelReason.ALL_FORFEITED: "all have forfeited",
}
_STATES: dict[RaceState, str] = {
    RaceState.OPEN: "is open",
    RaceState.COUNTDOWN: "is about to start",
    RaceState.RUNNING: "is running",
    RaceState.OVER: "is over",
    RaceState.CANCELLED: "is cancelled",
}


def tell_event(event: Event, now: int) -> list[str]:
    """The sentences for an event, none where it goes without saying; `now` is the race clock."""
    match event:
        case Happened():
            return _tell_push(event, now)
        case Synced():
            return _tell_sync(event)
        case Lost():
            return [f"Race {event.race} is no longer there for you: {event.sentence}"]
        case Matched():
            return [f"A rival is found: you are in race {event.race}, and it starts at once."]
        case Dropped():
            return [f"{event.sentence} Trying again in {event.wait:.1f} s."]
        case Back():
            return ["The connection is back."]
        case _:
            assert_never(event)


def _tell_push(event: Happened, now: int) -> list[str]:
    push, before, view = event.push, event.before, event.view
    match push:
        case JoinedPush():
            if push.player.id == view.player:
                return []
            return [f"{_with_mark(push.player)} has joined; {_seats(view)}."]
        case LeftPush():
            told = [_LEFT[push.reason].format(**_words(before, push.player))]
            if view.host != before.host:
                words = _words(view, view.host)
                told.append(f"{words['who']} {'are' if words['were'] == 'were' else 'is'} the host now.")
            return told
        case ReadyPush():
            words = _words(view, push.player)
            verb = "are" if words["were"] == "were" else "is"
            return [f"{words['who']} {verb} {'ready' if push.ready else 'not ready any more'}."]
        case CountdownPush():
            return [f"The race starts in {seconds_text(push.start_at - now)}."]
        case StartedPush():
            return _tell_start(view) if before.dealt is None else []
        case DonePush():
            return [_tell_end(view, push)]
        case OverPush():
            return ["The race is over. The standings:", *standings_lines(push.standings, view.player)]
        case CancelledPush():
            return [f"The race is cancelled: {_CANCELLED[push.reason]}."]
        case RematchPush():
            return [f"There is a rematch, race {push.successor}."]
        case OnlinePush():
            if push.player == view.player:
                return []
            return [f"{view.name(push.player)} {'is back' if push.online else 'has lost the connection'}."]
        case DelayedPush():
            return ["The server has no deal for all of you right now: the race is open again and nobody is ready."]
        case ProgressPush() | MovedPush() | MatchedPush():
            # Progress is told now and then, by ProgressTeller; moves of others only when they are asked for.
            return []
        case _:
            assert_never(push)


def _tell_start(view: RaceView) -> list[str]:
    game = view.variant.name if view.variant else view.settings.variant
    number = f", deal {view.dealt.deal}" if view.dealt and view.dealt.deal else ""
    told = [f"The race has started: {game}{number}."]
    if view.verdict is not Verdict.SECRET:
        told.append(VERDICT_SENTENCES[view.verdict])
    return told


def _tell_end(view: RaceView, done: DonePush) -> str:
    words = _words(view, done.player)
    match done.status:
        case EntrantStatus.WON:
            time = f" in {length_text(done.time)}" if done.time is not None else ""
            place = f", so far in {ordinal(done.place)} place" if done.place is not None else ""
            return f"{words['who']} won{time}{place}."
        case EntrantStatus.CONCEDED:
            what = "conceded"
        case EntrantStatus.TIMED_OUT:
            what = "ran out of time"
        case EntrantStatus.FORFEITED:
            what = "forfeited"
        case EntrantStatus.ABANDONED:
            what = "stayed away too long"
        case EntrantStatus.JOINED | EntrantStatus.READY | EntrantStatus.PLAYING:
            what = f"stopped as {done.status}"
        case _:
            assert_never(done.status)
    return f"{words['who']} {what} with {count_text(done.home, 'card')} home."


def _tell_sync(event: Synced) -> list[str]:
    before, view = event.before, event.view
    told = []
    if before is None or before.state is not view.state:
        told.append(f"Race {view.race} {_STATES[view.state]}.")
    if view.game is not None and (before is None or before.game is None or before.game.seq != view.game.seq):
        told.append(
            f"Your game has {count_text(view.game.seq, 'entry', 'entries')}"
            f" and {count_text(view.game.board.cards_home, 'card')} home."
        )
    if before is not None and before.dealt is None and view.dealt is not None:
        told += _tell_start(view)[1:]
    if view.standings is not None and (before is None or before.standings is None):
        told += ["The standings:", *standings_lines(view.standings, view.player)]
    return told


def _words(view: RaceView, player: str) -> dict[str, str]:
    if player == view.player:
        return {"who": "You", "were": "were"}
    return {"who": view.name(player), "were": "was"}


def _with_mark(player: Player) -> str:
    return f"{player.name}, a bot," if player.bot else player.name


def _seats(view: RaceView) -> str:
    return f"{len(view.entrants)} of {count_text(view.settings.seats, 'seat')} taken"


def tell_race(view: RaceView) -> list[str]:
    """A race in a few sentences: what is raced, by whom, and how others come in."""
    settings = view.settings
    game = view.variant.name if view.variant else settings.variant
    told = [f"Race {view.race} {_STATES[view.state]}: {game}, {_seats(view)}."]
    if view.state is RaceState.OPEN and len(view.entrants) < settings.seats:
        code = f" (or by its code, {view.code})" if view.code else ""
        told.append(f"Others enter it with: join {view.race}{code}.")
    return told
