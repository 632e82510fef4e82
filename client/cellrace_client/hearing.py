"""How a race view goes on with each push: facts by version, news as they come. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, assert_never

from msgspec import structs

from cellrace.messages import (
    CancelledPush,
    CountdownPush,
    DelayedPush,
    DonePush,
    Entrant,
    EntrantStatus,
    Fact,
    FactPush,
    JoinedPush,
    LeftPush,
    MatchedPush,
    MovedPush,
    NewsPush,
    OnlinePush,
    OverPush,
    ProgressPush,
    RaceState,
    ReadyPush,
    RematchPush,
    Standing,
    StartedPush,
)
from cellrace_client.race_view import RaceView, changed, read_dealt


class AfterPush(NamedTuple):
    """What a push has made of a view: the view, whether anything was new, and whether `race.sync` must be asked."""

    view: RaceView
    new: bool
    gap: bool


def hear(view: RaceView, push: FactPush | NewsPush) -> AfterPush:
    """The view after a push. A version that is known is passed over; one that comes too early is a gap.

    Raises CellraceError when the cards in it are none.
    """
    if isinstance(push, Fact):
        if push.version <= view.version:
            return AfterPush(view, new=False, gap=False)
        if push.version > view.version + 1:
            return AfterPush(view, new=False, gap=True)
        return AfterPush(replace(_after_fact(view, push), version=push.version), new=True, gap=False)
    if isinstance(push, MovedPush):
        return _after_moves(view, push)
    after = _after_news(view, push)
    return AfterPush(after, new=after is not view, gap=False)


def _after_fact(view: RaceView, fact: FactPush) -> RaceView:
    match fact:
        case JoinedPush():
            entrant = Entrant(
                player=fact.player, status=EntrantStatus.JOINED, online=True, seq=0, home=0, moves=0, undos=0
            )
            others = tuple(old for old in view.entrants if old.player.id != fact.player.id)
            return replace(view, entrants=(*others, entrant))
        case LeftPush():
            left = tuple(entrant for entrant in view.entrants if entrant.player.id != fact.player)
            # The host role passes to the one who joined first after, and entrants stand in that order.
            host = left[0].player.id if fact.player == view.host and left else view.host
            return replace(view, entrants=left, host=host)
        case ReadyPush():
            status = EntrantStatus.READY if fact.ready else EntrantStatus.JOINED
            return replace(view, entrants=changed(view.entrants, fact.player, status=status))
        case CountdownPush():
            return replace(view, state=RaceState.COUNTDOWN, start_at=fact.start_at, commitment=fact.commitment)
        case DonePush():
            entrants = changed(
                view.entrants,
                fact.player,
                status=fact.status,
                home=fact.home,
                time=fact.time,
                place=fact.place,
            )
            return replace(view, entrants=entrants)
        case OverPush():
            entrants = tuple(_as_it_stands(entrant, fact.standings) for entrant in view.entrants)
            return replace(view, state=RaceState.OVER, standings=fact.standings, entrants=entrants)
        case CancelledPush():
            return replace(view, state=RaceState.CANCELLED)
        case RematchPush():
            return replace(view, successor=fact.successor)
        case _:
            assert_never(fact)


def _as_it_stands(entrant: Entrant, standings: tuple[Standing, ...]) -> Entrant:
    standing = next((line for line in standings if line.player.id == entrant.player.id), None)
    if standing is None:
        return entrant
    return structs.replace(
        entrant,
        status=standing.status,
        home=standing.home,
        moves=standing.moves,
        undos=standing.undos,
        time=standing.time,
        place=standing.place,
    )


def _after_news(view: RaceView, news: NewsPush) -> RaceView:
    match news:
        case StartedPush():
            return _started(view, news)
        case ProgressPush():
            entrant = view.entrant(news.player)
            if entrant is None or news.seq < entrant.seq:
                return view
            entrants = changed(
                view.entrants, news.player, seq=news.seq, home=news.home, moves=news.moves, undos=news.undos
            )
            return replace(view, entrants=entrants)
        case OnlinePush():
            entrant = view.entrant(news.player)
            if entrant is None or entrant.online == news.online:
                return view
            return replace(view, entrants=changed(view.entrants, news.player, online=news.online))
        case DelayedPush():
            waiting = tuple(structs.replace(entrant, status=EntrantStatus.JOINED) for entrant in view.entrants)
            return replace(view, state=RaceState.OPEN, start_at=None, commitment=None, entrants=waiting)
        case MatchedPush() | MovedPush():
            return view
        case _:
            assert_never(news)


def _started(view: RaceView, started: StartedPush) -> RaceView:
    if view.dealt is not None:
        return view
    entrants = tuple(
        structs.replace(entrant, status=EntrantStatus.PLAYING)
        if entrant.status in (EntrantStatus.JOINED, EntrantStatus.READY)
        else entrant
        for entrant in view.entrants
    )
    state = view.state if view.ended else RaceState.RUNNING
    dealt = read_dealt(
        view.variant,
        started.layout,
        started.cells,
        started.reserve,
        deal=started.deal,
        salt=started.salt,
    )
    return replace(view, state=state, start_at=started.start_at, entrants=entrants).with_deal(dealt)


def _after_moves(view: RaceView, news: MovedPush) -> AfterPush:
    known = view.log_of(news.player)
    if news.seq <= len(known):
        return AfterPush(view, new=False, gap=False)
    first = news.seq - len(news.moves)
    if first < 0 or first > len(known):
        return AfterPush(view, new=False, gap=True)
    log = known[:first] + news.moves
    if news.player == view.player and view.game is not None:
        # One's own moves made on another connection.
        game, _ = view.game.play_all(news.moves[len(known) - first :])
        return AfterPush(replace(view, game=game, log=log), new=True, gap=False)
    others = tuple((player, moves) for player, moves in view.logs if player != news.player)
    return AfterPush(replace(view, logs=(*others, (news.player, log))), new=True, gap=False)
