"""Comes to a server as somebody: the player who is named, who is remembered, or a new one, who is then remembered."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import click

from cellrace.errors import ErrorCode, Refused
from cellrace_client.connection import Connection, connect, server_url
from cellrace_client.language import _
from cellrace_client.terminal.speech import printable
from cellrace_client.tokens import Remembered, TokenStore


@dataclass
class Arrived:
    """A player who has come, and what there is to tell about that."""

    connection: Connection
    url: str
    profile: str
    store: TokenStore | None
    told: list[str] = field(default_factory=list)

    def keep(self) -> str | None:
        """Keeps the player for the next time; a sentence where that cannot be done."""
        token = self.connection.token
        if self.store is None or token is None:
            return None
        name = self.connection.player.name
        if self.store.load(self.url, self.profile) == Remembered(self.url, name, token):
            # On a full disk too.
            return None
        try:
            self.store.save(self.url, name, token, self.profile)
        except OSError as failed:
            return _("Your player cannot be kept for the next time: {why}.").format(why=failed.strerror or failed)
        return None

    async def rename(self, name: str) -> str | None:
        """Takes another name, and keeps it; a sentence where it cannot be kept. Raises CellraceError."""
        await self.connection.rename(name)
        return self.keep()


async def come_as(
    stack: AsyncExitStack, server: str, name: str | None, token: str | None, profile: str, subprotocol: str | None
) -> Arrived:
    """A connection as that player. Raises CellraceError."""
    url = server_url(server)
    store = None if token else TokenStore()
    remembered = store.load(url, profile) if store else None
    known = token or (remembered.token if remembered else None)
    told = []
    try:
        connection = await stack.enter_async_context(
            connect(url, name=name, token=known, client="cellrace play", subprotocol=subprotocol)
        )
    except Refused as refused:
        if refused.code != ErrorCode.BAD_TOKEN or store is None or remembered is None:
            raise
        told.append(
            _("The server no longer knows {name}; you play as somebody new.").format(name=remembered.name),
        )
        store.forget(url, profile)
        connection = await _come_anew(stack, url, name, remembered.name, subprotocol)
    else:
        if remembered is not None and name is not None and connection.player.name != remembered.name:
            told.append(
                _("You were {old} here, and are {new} from now on; --profile plays as another player.").format(
                    old=remembered.name, new=connection.player.name
                ),
            )
    if store is not None and remembered is None and (sentence := _set_aside(store, url, profile)) is not None:
        told.append(sentence)
    arrived = Arrived(connection, url, profile, store, told)
    told += filter(None, [arrived.keep()])
    return arrived


def _set_aside(store: TokenStore, url: str, profile: str) -> str | None:
    """Saves what is kept there from being written over; a sentence where there is something."""
    try:
        aside = store.set_aside(url, profile)
    except OSError:
        # Then nothing can be written there either, and that is told.
        return None
    if aside is None:
        return None
    told = _("Your player here cannot be read: you play as somebody new, and what was kept is {path} now.")
    return told.format(path=aside)


async def _come_anew(
    stack: AsyncExitStack, url: str, name: str | None, before: str, subprotocol: str | None
) -> Connection:
    """A connection as a new player, of the name that is asked for, or that there was before unless somebody has it."""

    async def come(name: str | None) -> Connection:
        return await stack.enter_async_context(connect(url, name=name, client="cellrace play", subprotocol=subprotocol))

    try:
        return await come(name or before)
    except Refused as refused:
        if name is not None or refused.code not in (ErrorCode.NAME_TAKEN, ErrorCode.BAD_NAME):
            raise
    return await come(None)


def tell_arrival(arrived: Arrived) -> None:
    """Tells on standard error what there is to tell, where lines are read."""
    for sentence in arrived.told:
        click.echo(printable(sentence), err=True)
