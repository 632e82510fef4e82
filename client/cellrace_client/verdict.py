"""Whether a race was run as it must be: its commitment, its layout, its standings. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from cellrace.commitment import commitment
from cellrace.deals import Layout, deal
from cellrace.messages import LATENCY_CAP, EntrantStatus, Standing
from cellrace.variants import Variant
from cellrace_client.language import _

_RANKS_OF_STATUS = {
    EntrantStatus.WON: 0,
    EntrantStatus.CONCEDED: 1,
    EntrantStatus.TIMED_OUT: 1,
    EntrantStatus.FORFEITED: 2,
    EntrantStatus.ABANDONED: 2,
}


class Verdict(StrEnum):
    """What the client found when it checked the deal against the commitment."""

    SECRET = "secret"  # noqa: S105 - a verdict, no secret
    RIGHT = "right"
    WRONG_COMMITMENT = "wrong_commitment"
    WRONG_LAYOUT = "wrong_layout"


VERDICT_SENTENCES: dict[Verdict, str] = {
    Verdict.SECRET: "The deal and its salt are not told yet, so the commitment cannot be checked.",
    Verdict.RIGHT: "The deal is the one that the server committed itself to before the start.",
    Verdict.WRONG_COMMITMENT: "The deal is not the one that the server committed itself to before the start.",
    Verdict.WRONG_LAYOUT: "The cards do not lie as the deal's number says.",
}


@dataclass(frozen=True, slots=True)
class Dealt:
    """What `race.started` tells: the layout, and outside a daily its number and salt."""

    layout: Layout
    deal: int | None
    salt: str | None


def judge_deal(variant: Variant, published: str | None, dealt: Dealt | None) -> Verdict:
    """Checks what was dealt against the commitment that was published before."""
    if dealt is None or dealt.deal is None or dealt.salt is None:
        return Verdict.SECRET
    # A server that never published a commitment has not kept one either.
    if published != commitment(variant.id, dealt.deal, dealt.salt):
        return Verdict.WRONG_COMMITMENT
    return Verdict.RIGHT if deal(variant, dealt.deal) == dealt.layout else Verdict.WRONG_LAYOUT


def standings_faults(standings: Sequence[Standing]) -> list[str]:
    """What is wrong with standings, a sentence each; empty when they are right."""
    faults = []
    keys = [_key(standing) for standing in standings]
    for standing, key in zip(standings, keys, strict=True):
        name = standing.player.name
        if standing.status not in _RANKS_OF_STATUS:
            faults.append(_("{name} stands as {status}, which is no end.").format(name=name, status=standing.status))
        better = sum(other < key for other in keys)
        if standing.place != 1 + better:
            faults.append(
                _("{name} has place {place}, and the number of those who are better is {better}.").format(
                    name=name, place=standing.place, better=better
                )
            )
        faults += _time_faults(standing)
    if keys != sorted(keys):
        faults.append(_("The best do not stand first."))
    if len({standing.player.id for standing in standings}) != len(standings):
        faults.append(_("Somebody stands there twice."))
    return faults


def _key(standing: Standing) -> tuple[int, int]:
    rank = _RANKS_OF_STATUS.get(standing.status, 3)
    return rank, (standing.time or 0) if rank == 0 else -standing.home


def _time_faults(standing: Standing) -> list[str]:
    name = standing.player.name
    if standing.status is not EntrantStatus.WON:
        return [] if standing.time is None else [_("{name} has a time without a win.").format(name=name)]
    if standing.time is None or standing.raw is None or standing.latency is None:
        return [_("{name} has won without a time, a raw time or a latency.").format(name=name)]
    faults = []
    if standing.time != max(0, standing.raw - standing.latency):
        faults.append(_("The time of {name} is not the raw time less the latency.").format(name=name))
    if standing.latency > LATENCY_CAP:
        faults.append(_("The latency of {name} is above {most} ms.").format(name=name, most=LATENCY_CAP))
    return faults
