"""An example of every push."""

from __future__ import annotations

from cellrace.messages import (
    CancelledPush,
    CancelReason,
    CountdownPush,
    DelayedPush,
    DelayReason,
    DonePush,
    EntrantStatus,
    JoinedPush,
    LeftPush,
    LeftReason,
    MatchedPush,
    MovedPush,
    OnlinePush,
    OverPush,
    ProgressPush,
    ReadyPush,
    RematchPush,
    StartedPush,
)

from .values import (
    ANN,
    COMMITMENT,
    FIRST,
    NOW,
    SALT,
    SECOND,
    START,
    WITH_CELLS,
    WITH_RESERVE,
    Example,
)

FACTS: tuple[Example, ...] = (
    Example("", JoinedPush(race="r7q2", version=2, now=NOW, player=ANN)),
    Example("", LeftPush(race="r7q2", version=3, now=NOW, player="p3xw", reason=LeftReason.OFFLINE)),
    Example("", ReadyPush(race="r7q2", version=4, now=NOW, player="p3xw", ready=True)),
    Example("", CountdownPush(race="r7q2", version=6, now=NOW, start_at=START, commitment=COMMITMENT)),
    Example(
        "a win",
        DonePush(
            race="r7q2",
            version=7,
            now=NOW,
            player="p9d4",
            status=EntrantStatus.WON,
            home=13,
            time=6108,
            place=1,
        ),
    ),
    Example(
        "no win",
        DonePush(
            race="r7q2",
            version=8,
            now=NOW,
            player="p3xw",
            status=EntrantStatus.FORFEITED,
            home=0,
        ),
    ),
    Example("", OverPush(race="r7q2", version=9, now=NOW, standings=(FIRST, SECOND))),
    Example("", CancelledPush(race="r7q2", version=9, now=NOW, reason=CancelReason.EMPTY)),
    Example("", RematchPush(race="r7q2", version=10, now=NOW, successor="r8")),
)

NEWS: tuple[Example, ...] = (
    Example(
        "a deal with a reserve",
        StartedPush(
            race="r7q2",
            start_at=START,
            deal=1,
            salt=SALT,
            layout=WITH_RESERVE.layout,
            reserve=WITH_RESERVE.reserve,
        ),
    ),
    Example(
        "dealt cells, in a daily",
        StartedPush(
            race="r7q2",
            start_at=START,
            layout=WITH_CELLS.layout,
            cells=WITH_CELLS.cells,
        ),
    ),
    Example("", ProgressPush(race="r7q2", player="p9d4", seq=1, home=0, moves=1, undos=0, at=2900)),
    Example("", OnlinePush(race="r7q2", player="p9d4", online=False)),
    Example("", MovedPush(race="r7q2", player="p9d4", seq=3, moves=("2b", "31v2"), at=6120)),
    Example("", DelayedPush(race="r7q2", reason=DelayReason.NO_DEAL)),
    Example("", MatchedPush(race="r7q2")),
)
