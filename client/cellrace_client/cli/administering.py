"""`cellrace admin`: what an operator does to races and players, on the store itself."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace_client.cli.options import NO, checked_store_url, show_json
from cellrace_client.terminal.speech import printable
from cellrace_server.administration import Administration
from cellrace_server.attaching import operated
from cellrace_server.inspecting import SeenPlayer, SeenRace, inspect_player, inspect_race
from cellrace_server.logs import LEVELS, configure_logs
from cellrace_server.recomputing import Difference, Recomputation
from cellrace_server.store import Store
from cellrace_server.store.acts import Act

T = TypeVar("T")
_DAY = 24 * 3_600_000
"""Milliseconds of a day."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the store is that the subcommands act on."""

    redis: str | None
    data_dir: Path | None
    kept: int

    def run(self, work: Callable[[Store], Awaitable[T]]) -> T:
        """What the work on the store gives; its errors as sentences."""

        async def work_there() -> T:
            async with operated(self.redis, self.data_dir, self.kept) as store:
                return await work(store)

        try:
            return asyncio.run(work_there())
        except CellraceError as error:
            raise click.ClickException(printable(str(error))) from error


@click.group(
    context_settings={"show_default": True},
    epilog="\b\nExample: cellrace admin ban Ann",
)
@click.option(
    "--redis",
    metavar="URL",
    envvar="CELLRACE_REDIS",
    callback=checked_store_url,
    help="The store, as of serve.  [default: an own one]",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="CELLRACE_DATA_DIR",
    help="Where the embedded store is, as of serve.  [default: the platform's data directory]",
)
@click.option(
    "--keep-days",
    default=30.0,
    type=click.FloatRange(0.01, 3650),
    envvar="CELLRACE_KEEP_DAYS",
    help="Days that a race is kept which is ended by this.",
)
@click.option(
    "--log-level",
    default="warning",
    type=click.Choice(LEVELS),
    help="The least that is logged, to stderr; acts are info.",
)
@click.pass_context
def admin(ctx: click.Context, redis: str | None, data_dir: Path | None, keep_days: float, log_level: str) -> None:
    """Void races; ban, rename or delete players; look into the store; check its boards.

    Acts on the store itself, whether servers run on it or not: those that do take it up at once. RACE is a race's id,
    PLAYER a player's id or name. Each act is logged, and on record: see history.
    """
    configure_logs(log_level)
    ctx.obj = _Place(redis, data_dir, int(keep_days * _DAY))


def _act(place: _Place, act: Callable[[Administration], Awaitable[str]]) -> None:
    click.echo(printable(place.run(lambda store: act(Administration(store, _operator())))))


def _operator() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"  # In a container there may be no name for it.


@admin.command()
@click.argument("race")
@click.pass_obj
def void(place: _Place, race: str) -> None:
    """Let a race count for nothing.

    One that is over is taken off boards, records and ratings, and all later races are rated anew; its standings and
    replays stay as they were told. One that is not over is cancelled. A daily attempt stays its player's only one.
    """
    _act(place, lambda administration: administration.void(race))


@admin.command(short_help="Let a player in no more.")
@click.argument("player")
@click.pass_obj
def ban(place: _Place, player: str) -> None:
    """Let a player in no more; a connection is closed at once (4104)."""
    _act(place, lambda administration: administration.ban(player))


@admin.command()
@click.argument("player")
@click.pass_obj
def unban(place: _Place, player: str) -> None:
    """Let a banned player in again."""
    _act(place, lambda administration: administration.unban(player))


@admin.command()
@click.argument("player")
@click.argument("name")
@click.pass_obj
def rename(place: _Place, player: str, name: str) -> None:
    """Give a player another name."""
    _act(place, lambda administration: administration.rename(player, name))


@admin.command()
@click.argument("player")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(place: _Place, player: str, yes: bool) -> None:
    """Forget a player for good.

    Gone from every board, day and list; a running game is forfeited. In the races of others somebody without a name
    has played instead, and replays are signed anew with that. This cannot be undone.
    """
    if not yes:
        click.confirm(f"Delete {printable(player)} for good?", abort=True, err=True)
    _act(place, lambda administration: administration.delete(player))


@admin.command(short_help="Tell what is on record of a race or a player.")
@click.argument("subject", metavar="RACE|PLAYER")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def inspect(place: _Place, subject: str, as_json: bool) -> None:
    """Tell all that is on record of a race or a player; no deal before its start, and no token."""

    async def look(store: Store) -> SeenRace | SeenPlayer:
        try:
            return await inspect_race(store, subject)
        except Refused as refused:
            if refused.code != ErrorCode.NO_SUCH_RACE:
                raise
        try:
            return await inspect_player(store, subject)
        except Refused:
            raise Refused(ErrorCode.NOT_FOUND, f"There is no race {subject[:60]!r}, and no player.") from None

    seen = place.run(look)
    if as_json:
        show_json(seen)
        return
    for line in _lines(msgspec.to_builtins(seen)):
        click.echo(printable(line))


def _lines(value: object, indent: str = "") -> list[str]:
    """A tree as lines: each name with what it holds, times as people read them."""
    if isinstance(value, dict):
        return [line for name, held in value.items() for line in _named(str(name), held, indent)]
    if isinstance(value, list | tuple):
        return [line for held in value for line in _named("-", held, indent)]
    return [f"{indent}{value}"]


def _named(name: str, held: object, indent: str) -> list[str]:
    if isinstance(held, dict | list | tuple):
        if not held:
            return []
        if all(
            not isinstance(part, dict | list | tuple) for part in (held.values() if isinstance(held, dict) else held)
        ):
            parts = [f"{n} {_plain(n, v)}" for n, v in held.items()] if isinstance(held, dict) else map(str, held)
            return [f"{indent}{name}: {', '.join(parts)}"]
        return [f"{indent}{name}:", *_lines(held, indent + "  ")]
    return [] if held is None else [f"{indent}{name}: {_plain(name, held)}"]


def _plain(name: object, value: object) -> str:
    if isinstance(value, int) and (str(name).endswith("at") or name == "since") and value > _DAY:
        return datetime.fromtimestamp(value / 1000, UTC).isoformat(" ", "milliseconds").replace("+00:00", " UTC")
    return str(value)


@admin.command(short_help="Rebuild every board, and tell what differs.")
@click.option("--fix", is_flag=True, help="Write what differs as it should be.")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
@click.pass_obj
def recompute(place: _Place, fix: bool, as_json: bool) -> None:
    """Rebuild every board from the races on record, and tell each difference.

    The exit status is 1 when there is one. What rests on races that are kept no more is taken as it stands. It can run
    while servers do.
    """

    async def compare(store: Store) -> list[Difference]:
        if fix:
            await Administration(store, _operator()).note_recompute()
        return await Recomputation(store, fix=fix).run()

    found = place.run(compare)
    if as_json:
        show_json(found)
    else:
        for difference in found:
            click.echo(printable(str(difference)))
        told = "no difference" if not found else f"{len(found)} difference{'s' * (len(found) > 1)}"
        click.echo(f"Every board rebuilt: {told}{', put right' if fix and found else ''}.")
    if found:
        raise click.exceptions.Exit(NO)


@admin.command()
@click.option("--limit", default=20, type=click.IntRange(1, 10_000), help="How many acts, the last first.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_obj
def history(place: _Place, limit: int, as_json: bool) -> None:
    """Tell what operators have done."""

    async def read(store: Store) -> tuple[Act, ...]:
        return await store.acts.latest(limit)

    acts = place.run(read)
    if as_json:
        show_json(acts)
        return
    for act in acts:
        told = f"{_plain('at', act.at)}  {act.by}: {act.act} {act.subject} {act.detail}"
        click.echo(printable(told.rstrip()))
    if not acts:
        click.echo("Nothing has been done.")
