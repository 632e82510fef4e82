"""The beats of nodes: who lives, since when there has been a node without a break, and what is known of it here."""

from __future__ import annotations

from cellrace_server.core.presence import FIRST_CONTACT, NODE_SILENCE, judges
from cellrace_server.store import keys
from cellrace_server.store.nodes import FORGOTTEN, NodeStore
from tests.server.shell import Shell

NOW = 10_000_000


async def test_every_node_sees_the_beats_of_all(here: Shell) -> None:
    await here.link.command("DEL", keys.NODES, keys.UP_SINCE)
    one, other = NodeStore(here.link, "one"), NodeStore(here.link, "other")
    await one.beat(NOW)
    await other.beat(NOW + 900)
    await one.beat(NOW + 2_000)
    assert one.nodes.beats == {"one": NOW + 2_000, "other": NOW + 900}
    assert other.nodes.beats == {"one": NOW, "other": NOW + 900}


async def test_up_since_is_when_the_first_of_an_unbroken_row_of_nodes_came(here: Shell) -> None:
    await here.link.command("DEL", keys.NODES, keys.UP_SINCE)
    one, other = NodeStore(here.link, "one"), NodeStore(here.link, "other")
    await one.beat(NOW)
    await other.beat(NOW + NODE_SILENCE - 1)
    await other.beat(NOW + 2 * NODE_SILENCE - 2)
    assert one.nodes.up_since == other.nodes.up_since == NOW


async def test_a_node_that_finds_none_alive_starts_a_new_row(here: Shell) -> None:
    await here.link.command("DEL", keys.NODES, keys.UP_SINCE)
    one, other = NodeStore(here.link, "one"), NodeStore(here.link, "other")
    await one.beat(NOW)
    await other.beat(NOW + NODE_SILENCE)
    assert other.nodes.up_since == NOW + NODE_SILENCE


async def test_a_node_whose_own_beats_broke_off_starts_a_new_row_too(here: Shell) -> None:
    await here.link.command("DEL", keys.NODES, keys.UP_SINCE)
    one = NodeStore(here.link, "one")
    await one.beat(NOW)
    await one.beat(NOW + NODE_SILENCE)
    assert one.nodes.up_since == NOW + NODE_SILENCE


async def test_contact_begins_with_the_first_beat_and_lasts_as_long_as_they_succeed(here: Shell) -> None:
    node = NodeStore(here.link, "one")
    assert not judges(node.nodes, NOW)
    await node.beat(NOW)
    await node.beat(NOW + 6_000)
    await node.beat(NOW + FIRST_CONTACT)
    assert node.nodes.contact_at == NOW
    assert judges(node.nodes, NOW + FIRST_CONTACT)
    assert not judges(node.nodes, NOW + FIRST_CONTACT + NODE_SILENCE)


async def test_a_node_that_leaves_lives_no_more_from_that_moment_on(here: Shell) -> None:
    await here.link.command("DEL", keys.NODES, keys.UP_SINCE)
    one, other = NodeStore(here.link, "one"), NodeStore(here.link, "other")
    await one.beat(NOW)
    await one.leave(NOW + 400)
    await other.beat(NOW + 500)
    assert other.nodes.up_since == NOW + 500, "there was none any more"
    assert not other.nodes.live("one", NOW + 500)
    assert other.nodes.live("other", NOW + 500)
    assert other.nodes.beats["one"] == NOW + 400


async def test_an_old_beat_is_forgotten(here: Shell) -> None:
    await here.link.command("DEL", keys.NODES)
    one, other = NodeStore(here.link, "one"), NodeStore(here.link, "other")
    await other.beat(NOW)
    await other.leave(NOW + 1)
    await one.beat(NOW + FORGOTTEN)
    assert set(one.nodes.beats) == {"one", "other"}
    await one.beat(NOW + FORGOTTEN + 2)
    await one.beat(NOW + FORGOTTEN + 3)
    assert set(one.nodes.beats) == {"one"}


async def test_contact_begins_anew_after_a_pause_and_the_node_is_told_of_it(here: Shell) -> None:
    """A computer that slept: what it knew of the others is old, and they have taken it for dead."""
    node = NodeStore(here.link, "one")
    assert await node.beat(NOW)
    assert await node.beat(NOW + NODE_SILENCE - 1)
    assert not await node.beat(NOW + FORGOTTEN + NODE_SILENCE)
    assert node.nodes.contact_at == NOW + FORGOTTEN + NODE_SILENCE
    assert (await here.link.command("HGET", keys.NODES, "one")) is not None
