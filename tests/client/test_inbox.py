"""Events that wait: merged, bounded, told in order."""

from __future__ import annotations

import pytest

from cellrace.messages import JoinedPush, MovedPush, OnlinePush, Player, ProgressPush
from cellrace_client.connection.inbox import Inbox
from cellrace_client.errors import Closed
from cellrace_client.events import Back, Dropped, Event, Happened, Heard, Lost, Renamed, Silent, Synced
from cellrace_client.race_view import RaceView
from tests.client.views import a_view


def progress(view: RaceView, player: str, home: int) -> Happened:
    """A rival's progress."""
    push = ProgressPush(race=view.race, player=player, seq=home, home=home, moves=home, undos=0, at=1)
    return Happened(push, view, view)


def joined(view: RaceView, version: int) -> Happened:
    """A fact."""
    player = Player(id=f"p{version}", name=f"P{version}", bot=False)
    return Happened(JoinedPush(race=view.race, version=version, now=1, player=player), view, view)


def all_of(inbox: Inbox) -> list[Event]:
    """Everything that waits."""
    events = []
    while (event := inbox.take()) is not None:
        events.append(event)
    return events


def test_progress_of_one_player_is_merged_into_the_latest() -> None:
    """News replace what they say; facts stay, in their order."""
    inbox, view = Inbox(), a_view()
    events = [progress(view, "b", 1), joined(view, 2), progress(view, "c", 1), progress(view, "b", 5)]
    for event in events:
        inbox.put(event)
    assert all_of(inbox) == events[1:]


def test_a_merged_event_tells_from_what_the_reader_knows_last() -> None:
    """`before` stays that of the first one merged."""
    inbox = Inbox()
    first, second, third = a_view(version=1), a_view(version=2), a_view(version=3)
    push = OnlinePush(race="r1", player="b", online=False)
    inbox.put(Happened(push, first, second))
    inbox.put(Happened(push, second, third))
    (event,) = all_of(inbox)
    assert event == Happened(push, first, third)


def test_moves_are_merged_into_one_run() -> None:
    """Moves that follow each other become one push with all of them."""
    inbox, view = Inbox(), a_view()
    for seq, moves in ((2, ("1a", "2b")), (3, ("u",))):
        inbox.put(Happened(MovedPush(race="r1", player="b", seq=seq, moves=moves, at=1), view, view))
    (event,) = all_of(inbox)
    assert isinstance(event, Happened)
    assert isinstance(event.push, MovedPush)
    assert (event.push.seq, event.push.moves) == (3, ("1a", "2b", "u"))


def test_too_many_events_give_way_to_one_a_race() -> None:
    """Who never reads gets the races as they are, and the last word about the connection."""
    inbox = Inbox(limit=10)
    views = {race: [a_view(race=race, version=version) for version in range(1, 9)] for race in ("r1", "r2")}
    inbox.put(Dropped(None, "cut", 1.0))
    inbox.put(Lost("r3", "gone"))
    for version in range(1, 8):
        for race in views:
            before, after = views[race][version - 1], views[race][version]
            inbox.put(Happened(joined(after, version + 1).push, before, after))
            assert len(inbox) <= 10
    inbox.put(Back("n1"))
    events = all_of(inbox)
    synced = {event.view.race: event for event in events if isinstance(event, Synced)}
    assert {race: event.before for race, event in synced.items()} == {race: views[race][0] for race in views}
    assert Lost("r3", "gone") in events
    assert events[-1] == Back("n1")
    assert len(events) <= 10


@pytest.mark.parametrize("last", [Back("n1"), Dropped(None, "cut", 1.0), Silent(), Heard()])
def test_how_the_connection_is_outlives_what_gives_way(last: Event) -> None:
    """Another name is no word about that, and both are told."""
    inbox = Inbox(limit=3)
    for event in (Dropped(None, "cut", 1.0), last, Renamed("Anna"), Lost("r1", "gone")):
        inbox.put(event)
    assert all_of(inbox) == [Lost("r1", "gone"), Renamed("Anna"), last]


async def test_what_waits_is_read_before_the_end() -> None:
    """The end comes after the last event, with its error if it has one."""
    inbox = Inbox()
    inbox.put(Back("n1"))
    inbox.end(Closed(4100, "elsewhere"))
    inbox.put(Back("n2"))
    assert await inbox.get() == Back("n1")
    with pytest.raises(Closed):
        await inbox.get()
    plain = Inbox()
    plain.end(None)
    assert await plain.get() is None
