"""The address of a node: who connects gets a session, or an answer over plain HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from websockets.asyncio.server import Server, serve
from websockets.typing import Origin

from cellrace.codec import choose_codec
from cellrace_server.config import Config
from cellrace_server.net.connection import Connection
from cellrace_server.net.requests import carry_out
from cellrace_server.net.services import Services
from cellrace_server.net.session import Session
from cellrace_server.net.sessions import Sessions
from cellrace_server.net.tls import tls_context
from cellrace_server.net.web import Web, select_subprotocol

__all__ = ["Server", "held_port", "listen"]

ALL_OF_IPV6 = "::"
"""Every address of a machine: of IPv6, and where the system allows it of IPv4 too."""
_BACKLOG = 1024
"""Connections that the system holds until they are taken: all of a node that has died come at once."""
HANDSHAKE = 5.0
"""Within how many seconds whoever connects must have asked for something."""


async def listen(config: Config, services: Services, sessions: Sessions, web: Web) -> Server:
    """Listen from now on. Raises OSError when the port is taken, CertificateUnfit."""
    carry_out_here = partial(carry_out, sessions)

    async def handle(connection: Connection) -> None:
        codec = choose_codec([connection.subprotocol or ""])
        assert codec is not None  # The handshake fails without one.
        session = Session(connection, codec, connection.address, services, carry_out_here)
        sessions.add(session)
        try:
            await session.run()
        finally:
            sessions.remove(session)

    tls = _tls(config)
    return await serve(
        handle,  # type: ignore[arg-type]  # every connection is made by create_connection
        create_connection=partial(Connection, gate=web.callers),  # type: ignore[arg-type]  # it is only called
        origins=[None, *(Origin(origin) for origin in config.origins)],
        select_subprotocol=select_subprotocol,
        process_request=web.process_request,
        compression=None,
        server_header=None,
        open_timeout=HANDSHAKE,
        ping_interval=None,  # The session pings: it needs each round trip for the times of its races.
        close_timeout=2,
        max_size=config.bounds.frame_bytes,
        backlog=_BACKLOG,
        **tls,
        **_place(config),
    )


def _place(config: Config) -> dict[str, Any]:
    if config.host == ALL_OF_IPV6 and socket.has_dualstack_ipv6():
        # By itself asyncio leaves those of IPv4 out.
        return {
            "sock": socket.create_server(
                (config.host, config.port),
                family=socket.AF_INET6,
                backlog=_BACKLOG,
                reuse_port=config.reuse_port,
                dualstack_ipv6=True,
            )
        }
    return {"host": config.host, "port": config.port, "reuse_port": config.reuse_port or None}


def _tls(config: Config) -> dict[str, Any]:
    if config.certificate is None:
        return {}
    # Whoever connects and says nothing has as long for this as for the handshake after it; else it is a minute.
    return {"ssl": tls_context(config.certificate, config.key), "ssl_handshake_timeout": HANDSHAKE}


@contextmanager
def held_port(host: str, port: int) -> Iterator[int]:
    """Holds a port for processes that share it, and picks one for port 0; bound and never listening itself.

    Raises OSError when the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as place:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        place.bind((host, port))
        yield int(place.getsockname()[1])
