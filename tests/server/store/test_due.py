"""When a race must be looked at: early perhaps, never late, and by one node at a time."""

from __future__ import annotations

import random

from cellrace_server.store import keys
from cellrace_server.store.due import CLAIM, CLAIMED_AT_ONCE
from tests.server.shell import Shell

NOW = 1_000_000


async def score(shell: Shell, race: str = "r") -> float | None:
    found = await shell.link.command("ZSCORE", keys.DUE, race)
    return None if found is None else float(found)


async def test_what_is_due_is_claimed_for_a_while_by_one_node(here: Shell, there: Shell) -> None:
    await here.store.due.expect("soon", NOW)
    await here.store.due.expect("later", NOW + 1)
    assert await here.store.due.claim(NOW) == (("soon",), NOW + CLAIM)
    assert await there.store.due.claim(NOW) == ((), NOW + CLAIM)
    assert await there.store.due.claim(NOW + CLAIM) == (("later", "soon"), NOW + 2 * CLAIM)


async def test_a_claim_whose_reply_was_lost_runs_out(here: Shell) -> None:
    await here.store.due.expect("r", NOW)
    here.link.resend("due_claim")
    assert await here.store.due.claim(NOW) == ((), NOW + CLAIM)
    assert await here.store.due.claim(NOW + CLAIM) == (("r",), NOW + 2 * CLAIM)


async def test_an_earlier_instant_is_kept_and_a_later_one_makes_nothing_late(here: Shell) -> None:
    await here.store.due.expect("r", NOW + 50)
    await here.store.due.expect("r", NOW + 900)
    assert (await score(here) or 0) <= NOW + 50
    await here.store.due.expect("r", NOW + 10)
    assert await score(here) == NOW + 10


async def test_who_claimed_it_says_when_it_is_due_again_or_that_it_never_is(here: Shell) -> None:
    await here.store.due.expect("r", NOW)
    _, claimed = await here.store.due.claim(NOW)
    await here.store.due.settle("r", claimed, NOW + 77_000)
    assert await score(here) == NOW + 77_000
    _, claimed = await here.store.due.claim(NOW + 77_000)
    await here.store.due.settle("r", claimed, None)
    assert await score(here) is None
    assert await here.store.due.size() == 0


async def test_a_claim_that_ran_out_settles_nothing(here: Shell, there: Shell) -> None:
    await here.store.due.expect("r", NOW)
    _, first = await here.store.due.claim(NOW)
    _, second = await there.store.due.claim(NOW + CLAIM)
    await here.store.due.settle("r", first, None)
    assert await score(here) == second


async def test_whoever_claimed_it_cannot_settle_it_later_than_somebody_has_expected_it_meanwhile(
    here: Shell, there: Shell
) -> None:
    """Also when it was expected later than the claim runs out, which leaves the score alone at first sight."""
    await here.store.due.expect("r", NOW)
    _, claimed = await here.store.due.claim(NOW)
    await there.store.due.expect("r", NOW + CLAIM + 3_000)
    await here.store.due.settle("r", claimed, NOW + 900_000)
    assert (await score(here) or 0) <= NOW + CLAIM + 3_000
    await there.store.due.expect("r", NOW + 1)
    _, claimed = await here.store.due.claim(NOW + 1)
    await there.store.due.expect("r", NOW + 2 * CLAIM)
    await here.store.due.settle("r", claimed, None)
    assert (await score(here) or 0) <= NOW + 2 * CLAIM


async def test_one_claim_takes_no_more_than_its_share(here: Shell) -> None:
    for number in range(CLAIMED_AT_ONCE + 5):
        await here.store.due.expect(f"r{number}", NOW - number)
    first, _ = await here.store.due.claim(NOW)
    second, _ = await here.store.due.claim(NOW)
    assert (len(first), len(second)) == (CLAIMED_AT_ONCE, 5)


async def test_a_race_with_all_its_effects_is_forgotten(here: Shell) -> None:
    await here.store.due.expect("r", NOW)
    await here.store.due.forget("r")
    await here.store.due.forget("r")
    assert await here.store.due.size() == 0


async def test_no_order_of_expecting_claiming_and_settling_makes_a_race_late(here: Shell) -> None:
    """A seeded course of 300 steps: the score is never above what was expected and not seen to yet."""
    choices = random.Random(7)
    now, expected = NOW, NOW
    held: list[int] = []
    await here.store.due.expect("r", expected)
    for _ in range(300):
        now += choices.choice((0, 1, 700, 4_000))
        match choices.choice(("expect", "claim", "settle")):
            case "expect":
                at = now + choices.randrange(30_000)
                await here.store.due.expect("r", at)
                expected, held = min(expected, at), []
            case "claim":
                claimed, until = await here.store.due.claim(now)
                if claimed:
                    # Whoever looks at it sees to all that was expected until now.
                    expected, held = until, [until]
            case "settle":
                if held:
                    following = now + choices.randrange(30_000)
                    await here.store.due.settle("r", held.pop(), following)
                    expected = following
        found = await score(here)
        assert found is not None
        assert found <= expected
