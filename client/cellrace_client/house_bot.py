"""A bot of the house, `cellrace serve --bots N`: an account of its own, over the wire, in the queues of all games.

A process whose one argument is its place, as JSON, and which plays until its standard input closes. It waits for
people, and for no bots: those of a house would race each other day and night.
"""

from __future__ import annotations

import asyncio
import signal
import ssl
import sys
from pathlib import Path
from random import Random

import msgspec

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.variants import VARIANTS
from cellrace_client.bot_races import BotRaces, Wanted
from cellrace_client.connection import Closed, connect
from cellrace_client.pace import PACES
from cellrace_client.tokens import forget_token_file, read_token_file, write_token_file

STRENGTHS = (2, 3, 1, 4)
"""Of the bots of a house, one after the other."""
ROUND = 5.0
"""Seconds in which some bot has been in each queue, however few there are."""
REST = 5.0
"""Seconds before the next attempt when a server wants no such player, or says something unexpected."""
REST_OF_BANNED = 60.0
"""Seconds before one that is banned asks again whether it may come back."""
NAMES = ("Merle", "Robin", "Wren", "Finch", "Heron", "Crane", "Raven", "Swift", "Linnet", "Teal", "Dove", "Jay")


class Place(msgspec.Struct, frozen=True):
    """What a bot of the house is told: where it plays, where its token is, which of how many it is, from 0 on."""

    server: str
    token_file: str
    slot: int
    bots: int
    certificate: str | None = None
    """The certificate of a server with wss://, which is then trusted whatever name it is made out to."""

    @property
    def name(self) -> str:
        """The name that it would like."""
        bird, round_ = NAMES[self.slot % len(NAMES)], self.slot // len(NAMES)
        return f"{bird} the bot" if not round_ else f"{bird} the bot {round_ + 1}"

    @property
    def games(self) -> tuple[str, ...]:
        """All games, each bot beginning with another one, as far from the others as can be."""
        games = tuple(VARIANTS)
        first = self.slot * len(games) // min(self.bots, len(games)) % len(games)
        return games[first:] + games[:first]

    @property
    def turn(self) -> float:
        """How many seconds to wait in one queue, before the next bot comes there."""
        return ROUND * min(self.bots, len(VARIANTS)) / len(VARIANTS)

    def tls(self) -> ssl.SSLContext | None:
        """How the server is recognised: by its own certificate, for it is the one that has started this."""
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.load_verify_locations(self.certificate)
        return context


async def play(place: Place, name: str | None) -> None:
    """Race until the connection ends. Raises CellraceError."""
    token_file = Path(place.token_file)
    known = read_token_file(token_file)
    async with connect(
        place.server,
        name=None if known else name,
        token=known,
        bot=True,
        client="cellrace house bot",
        patience=float("inf"),
        give_up_after=float("inf"),
        tls=place.tls(),
    ) as connection:
        if connection.token is not None and connection.token != known:
            write_token_file(token_file, connection.token)
        wanted = Wanted(queues=place.games, people_only=True, turn=place.turn)
        chance = Random()  # noqa: S311 - a pace, no secret
        await BotRaces(connection, wanted, PACES[STRENGTHS[place.slot % len(STRENGTHS)]], chance, _quietly).run(None)


def _quietly(_: str) -> None:
    """Nobody listens."""


async def stay(place: Place) -> None:
    """Race for ever; come as somebody new where the server knows this bot no longer."""
    name: str | None = place.name
    while True:
        rest = REST  # A server that is away is not asked all the time.
        try:
            await play(place, name)
        except Refused as refused:
            if refused.code == ErrorCode.BAD_TOKEN:
                forget_token_file(Path(place.token_file))
                continue
            if refused.code == ErrorCode.NAME_TAKEN and name is not None:
                name = None
                continue
            if refused.code == ErrorCode.BANNED:
                rest = REST_OF_BANNED
        except Closed:
            pass  # Sent away by an operator, it hears next time whether it is banned or deleted.
        except CellraceError as error:
            print(error, file=sys.stderr)
        await asyncio.sleep(rest)


class _Input(asyncio.Protocol):
    """Hears the end of standard input, which the server holds open for as long as it lives."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._ended.set()


async def main(place: Place) -> None:
    """Play until the server ends."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    await loop.connect_read_pipe(lambda: _Input(ended), sys.stdin)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    staying, ending = asyncio.create_task(stay(place)), asyncio.create_task(ended.wait())
    await asyncio.wait((staying, ending), return_when=asyncio.FIRST_COMPLETED)
    if staying.done():
        staying.result()
    staying.cancel()
    await asyncio.gather(staying, return_exceptions=True)


if __name__ == "__main__":
    # Ctrl-C is for the server, which then ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(main(msgspec.json.decode(sys.argv[1], type=Place)))
