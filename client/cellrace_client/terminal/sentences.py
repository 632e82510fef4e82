"""What happens in a race, told in sentences; "you" is the player who looks. Pure."""

from __future__ import annotations

from typing import assert_never

from cellrace.game import Game
from cellrace.messages import (
    CancelledPush,
    CancelReason,
    CountdownPush,
    DelayedPush,
    DonePush,
    Entrant,
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
    RaceKind,
    RaceState,
    ReadyPush,
    RematchPush,
    StartedPush,
)
from cellrace_client.events import Back, Dropped, Event, Happened, Heard, Lost, Matched, Renamed, Silent, Synced
from cellrace_client.language import _, n_
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.counts import cards_counted, entries_counted
from cellrace_client.terminal.refusals import closing_text
from cellrace_client.terminal.speech import decimal_text, length_text, ordinal, whole_seconds
from cellrace_client.terminal.standings_lines import standings_lines
from cellrace_client.terminal.titles import game_title
from cellrace_client.verdict import VERDICT_SENTENCES, Verdict


def tell_event(event: Event, now: int) -> list[str]:
    """The sentences for an event, none where it goes without saying; `now` is the race clock."""
    match event:
        case Happened():
            return _tell_push(event, now)
        case Synced():
            return _tell_sync(event)
        case Lost():
            return [
                _("Race {race} is no longer there for you: {why}").format(race=event.race, why=_(event.sentence)),
            ]
        case Matched():
            return [_("A rival is found: you are in race {race}, and it starts at once.").format(race=event.race)]
        case Dropped():
            again = _("Trying again in {seconds} s.").format(seconds=decimal_text(event.wait))
            return [f"{closing_text(event.close_code, event.sentence)} {again}"]
        case Back():
            return [_("The connection is back.")]
        case Silent():
            return [_("The server does not answer yet; what you have asked for is kept.")]
        case Heard():
            return [_("The server answers again.")]
        case Renamed():
            return [_("You are called {name} now.").format(name=event.name)]
        case never:
            assert_never(never)


def tell_event_in_a_line(event: Event, now: int) -> str:
    """The same where a table of the standings is a key away: of a race that is over one's own place alone."""
    match event:
        case Happened(view=view, push=OverPush()):
            return _tell_own_place(view)
        case Synced(view=view) if view.standings is not None:
            return _tell_own_place(view)
        case _:
            return " ".join(tell_event(event, now))


def _tell_own_place(view: RaceView) -> str:
    own = next((line for line in view.standings or () if line.player.id == view.player), None)
    if own is None:
        return _("The race is over: {game}.").format(game=game_title(view.settings.variant))
    told = _("The race is over: {game}. Your place: {place} of {count}.")
    return told.format(game=game_title(view.settings.variant), place=own.place, count=len(view.standings or ()))


def _tell_push(event: Happened, now: int) -> list[str]:
    push, before, view = event.push, event.before, event.view
    match push:
        case JoinedPush():
            return [] if push.player.id == view.player else [_tell_joined(push.player, view)]
        case LeftPush():
            told = [_tell_left(push, before)]
            if view.host != before.host:
                told.append(_tell_host(view))
            return told
        case ReadyPush():
            return [_tell_ready(push, view)]
        case CountdownPush():
            return [countdown_text(push.start_at - now)]
        case StartedPush():
            return _tell_start(view) if before.dealt is None else []
        case DonePush():
            return [_tell_end(view, push.player, push)]
        case OverPush():
            return [_("The race is over. The standings:"), *standings_lines(push.standings, view.player, view.ghosts)]
        case CancelledPush():
            return [_("The race is cancelled: {why}.").format(why=_cancelled(push.reason))]
        case RematchPush():
            return [_("There is a rematch, race {race}.").format(race=push.successor)]
        case OnlinePush():
            if push.player == view.player:
                return []
            if push.online and view.dealt is None:
                # Whoever was matched comes for the first time.
                told_of = _("{name} is here.")
            else:
                told_of = _("{name} is back.") if push.online else _("{name} has lost the connection.")
            return [told_of.format(name=view.name(push.player))]
        case DelayedPush():
            return [
                _("The server has no deal for all of you right now: the race is open again and nobody is ready."),
            ]
        case ProgressPush() | MovedPush() | MatchedPush():
            # Progress is told now and then, by ProgressTeller; moves of others only when they are asked for.
            return []
        case never:
            assert_never(never)


def countdown_text(ms: int) -> str:
    """How long it is to the start."""
    seconds = whole_seconds(ms)
    return n_("The race starts in {count} second.", "The race starts in {count} seconds.", seconds).format(
        count=seconds
    )


def _tell_joined(player: Player, view: RaceView) -> str:
    joined = _("{name}, a bot, has joined; {seats}.") if player.bot else _("{name} has joined; {seats}.")
    return joined.format(name=player.name, seats=seats_text(view.seated, view.settings.seats))


def _tell_left(left: LeftPush, before: RaceView) -> str:
    mine = left.player == before.player
    match left.reason:
        case LeftReason.LEFT:
            told = _("You left.") if mine else _("{name} left.")
        case LeftReason.KICKED:
            told = _("You were removed by the host.") if mine else _("{name} was removed by the host.")
        case LeftReason.OFFLINE:
            told = _("You were removed for being offline.") if mine else _("{name} was removed for being offline.")
        case LeftReason.NOT_READY:
            told = _("You were removed for not being ready.") if mine else _("{name} was removed for not being ready.")
        case never:
            assert_never(never)
    return told.format(name=before.name(left.player))


def _tell_host(view: RaceView) -> str:
    told = _("You are the host now.") if view.is_host else _("{name} is the host now.")
    return told.format(name=view.name(view.host))


def _tell_ready(push: ReadyPush, view: RaceView) -> str:
    if push.player == view.player:
        return _("You are ready.") if push.ready else _("You are not ready any more.")
    told = _("{name} is ready.") if push.ready else _("{name} is not ready any more.")
    return told.format(name=view.name(push.player))


def _cancelled(reason: CancelReason) -> str:
    match reason:
        case CancelReason.EMPTY:
            return _("nobody was online")
        case CancelReason.UNCHANGED:
            return _("nothing happened for too long")
        case CancelReason.ALL_FORFEITED:
            return _("all have forfeited")
        case CancelReason.VOID:
            return _("the server's operator has ended it")
        case never:
            assert_never(never)


def _tell_start(view: RaceView) -> list[str]:
    game = game_title(view.settings.variant)
    if view.dealt and view.dealt.deal:
        told = [_("The race has started: {game}, deal {deal}.").format(game=game, deal=view.dealt.deal)]
    else:
        told = [_("The race has started: {game}.").format(game=game)]
    if view.verdict is not Verdict.SECRET:
        told.append(_(VERDICT_SENTENCES[view.verdict]))
    return told


def _tell_end(view: RaceView, player: str, done: DonePush | Entrant) -> str:
    mine = player == view.player
    match done.status:
        case EntrantStatus.WON:
            return _tell_win(view, player, done)
        case EntrantStatus.CONCEDED:
            what = _("You conceded") if mine else _("{name} conceded")
        case EntrantStatus.TIMED_OUT:
            what = _("You ran out of time") if mine else _("{name} ran out of time")
        case EntrantStatus.FORFEITED:
            what = _("You forfeited") if mine else _("{name} forfeited")
        case EntrantStatus.ABANDONED:
            what = _("You stayed away too long") if mine else _("{name} stayed away too long")
        case EntrantStatus.JOINED | EntrantStatus.READY | EntrantStatus.PLAYING:
            what = _("You stopped") if mine else _("{name} stopped")
        case never:
            assert_never(never)
    return n_("{what} with {count} card home.", "{what} with {count} cards home.", done.home).format(
        what=what.format(name=view.name(player)), count=done.home
    )


def _tell_win(view: RaceView, player: str, done: DonePush | Entrant) -> str:
    mine, name = player == view.player, view.name(player)
    if done.time is None:
        return _("You won.") if mine else _("{name} won.").format(name=name)
    time = length_text(done.time)
    if done.place is None:
        return (_("You won in {time}.") if mine else _("{name} won in {time}.")).format(name=name, time=time)
    told = (
        _("You won in {time}, so far in {place} place.")
        if mine
        else _("{name} won in {time}, so far in {place} place.")
    )
    return told.format(name=name, time=time, place=ordinal(done.place))


def _tell_sync(event: Synced) -> list[str]:
    before, view = event.before, event.view
    told = []
    if before is not None and before.me is not None and view.me is None:
        told.append(_("You are not in the race any more."))
    if before is None or before.state is not view.state:
        told.append(f"{_stands(view)}.")
    if view.game is not None and (before is None or before.game is None or before.game.seq != view.game.seq):
        told.append(_tell_game(view.game))
    if before is not None and before.dealt is None and view.dealt is not None:
        told += _tell_start(view)[1:]
    if view.standings is None and before is not None and before.playing and view.me and view.me.status in DONE:
        told.append(_tell_end(view, view.player, view.me))
    if view.standings is not None and (before is None or before.standings is None):
        told += [_("The standings:"), *standings_lines(view.standings, view.player, view.ghosts)]
    return told


def _tell_game(game: Game) -> str:
    entries, cards = entries_counted(game.seq), cards_counted(game.board.cards_home)
    return _("Your game has {entries} and {cards} home.").format(entries=entries, cards=cards)


def _stands(view: RaceView) -> str:
    match view.state:
        case RaceState.OPEN:
            told = _("Race {race} is open")
        case RaceState.COUNTDOWN:
            told = _("Race {race} is about to start")
        case RaceState.RUNNING:
            told = _("Race {race} is running")
        case RaceState.OVER:
            told = _("Race {race} is over")
        case RaceState.CANCELLED:
            told = _("Race {race} is cancelled")
        case never:
            assert_never(never)
    return told.format(race=view.race)


def seats_text(taken: int, seats: int) -> str:
    """How full a race is."""
    return n_("{taken} of {count} seat taken", "{taken} of {count} seats taken", seats).format(taken=taken, count=seats)


def tell_race(view: RaceView) -> list[str]:
    """A race in a few sentences: what is raced, by whom, and how others come in."""
    seats, game = view.settings.seats, game_title(view.settings.variant)
    if view.kind is RaceKind.DAILY and view.state is RaceState.RUNNING:
        return [_("{game}, the daily challenge: your one attempt is running, for an hour.").format(game=game)]
    told = [f"{_stands(view)}: {game}, {seats_text(view.seated, seats)}."]
    if view.state is RaceState.OPEN and view.seated < seats:
        if view.code:
            told.append(
                _("Others enter it with: join {race} (or by its code, {code}).").format(race=view.race, code=view.code)
            )
        else:
            told.append(_("Others enter it with: join {race}.").format(race=view.race))
    return told
