"""`cellrace serve`: one node of the race server."""

from __future__ import annotations

import asyncio
import math
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from msgspec import convert
from msgspec.structs import fields

from cellrace.errors import CellraceError
from cellrace_client.cli import UNWRITABLE
from cellrace_client.cli.options import checked_store_url
from cellrace_client.house import MOST, accounts, bot_words
from cellrace_client.house_bot import Place
from cellrace_server.app import serve_until_told
from cellrace_server.config import Bounds, Config, data_directory
from cellrace_server.keeping import Guests, Program
from cellrace_server.logs import LEVELS, configure_logs
from cellrace_server.net.hosts import check_host, check_origin, check_proxy
from cellrace_server.workers import is_worker, serve_workers, worker_port

_MOST = 1_000_000_000
"""Of anything: clients are told some of the bounds, and no timer waits longer."""

Decorated = TypeVar("Decorated", bound=Callable[..., object])


class _FiniteRange(click.FloatRange):
    """A range without `nan`, which no limit keeps out, and `inf`, which no message can tell."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


def _bound_options(command: Decorated) -> Decorated:
    """One option for each of the bounds, told by the bounds themselves."""
    for field in reversed(fields(Bounds)):
        kind, meta = get_args(field.type)
        numbers = click.IntRange if kind is int else _FiniteRange
        name = "--" + field.name.replace("_", "-")
        command = click.option(
            name, default=field.default, type=numbers(min=meta.ge, max=meta.le or _MOST), help=meta.description
        )(command)
    return command


def _proxies(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(map(check_proxy, values))
    except ValueError as wrong:
        raise click.BadParameter(f"{wrong}. Write an address, or a network such as 10.0.0.0/8.") from None


def _origins(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(map(check_origin, values))
    except ValueError as wrong:
        raise click.BadParameter(f"{wrong}. Write scheme, host and port alone, as https://example.com.") from None


def _host(_context: click.Context, _option: click.Parameter, value: str) -> str:
    try:
        return check_host(value)
    except ValueError as wrong:
        told = f"{wrong}. Write one alone, such as 0.0.0.0, :: or localhost; the port goes to --port."
        raise click.BadParameter(told) from None


def _house_bots(tokens: list[Path], certificate: Path | None) -> Guests:
    """What keeps the bots of the house company, once the address of the server is known."""

    def programs(url: str) -> list[Program]:
        own = str(certificate) if certificate is not None else None
        places = [Place(url, str(token), slot, len(tokens), own) for slot, token in enumerate(tokens)]
        return [Program(bot_words(place), {}, place.name) for place in places]

    return programs


@click.command(
    context_settings={"auto_envvar_prefix": "CELLRACE", "show_default": True},
    epilog="\b\nExample: cellrace serve --host 0.0.0.0 --port 8765",
)
@click.option(
    "--host",
    default="127.0.0.1",
    callback=_host,
    help="The address to listen on; 0.0.0.0 for everybody on the network, :: by IPv6 as well.",
)
@click.option("--port", default=8765, type=click.IntRange(0, 65535), help="The port; 0 picks a free one.")
@click.option(
    "--redis",
    metavar="URL",
    callback=checked_store_url,
    help="The store: redis://, rediss://, unix:// or redis+sentinel://; else an own one.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the embedded store and the signing key are kept; by default the platform's data directory.",
)
@click.option("--node", default="", show_default=False, help="This node's name, for display; by default the host's.")
@click.option("--certificate", type=click.Path(path_type=Path, exists=True), help="A PEM file: serve wss:// with it.")
@click.option("--key", type=click.Path(path_type=Path, exists=True), help="The certificate's key, if it is apart.")
@click.option(
    "--signing-key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of the key that signs replays; by default signing.key in the data directory, made if need be.",
)
@click.option("--keep-days", default=30.0, type=_FiniteRange(0.01, 3650), help="Days that an ended race is kept.")
@click.option(
    "--keep-boards-days",
    default=365.0,
    type=_FiniteRange(0.01, 36500),
    help="Days that the board of a deal is kept after its last new row.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    callback=_origins,
    help="A web page's origin that may connect; repeatable.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    callback=_proxies,
    metavar="ADDRESS",
    help="A proxy, or network of them, whose X-Forwarded-For tells who calls; repeatable.",
)
@click.option(
    "--drain",
    default=0.0,
    type=_FiniteRange(0, 86_400),
    help="Seconds that a server told to end waits for its races; it takes no new ones.",
)
@click.option("--log-level", default="info", type=click.Choice(LEVELS), help="The least that is logged, to stderr.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), help="Processes that share the address.")
@click.option(
    "--pool", default=500, type=click.IntRange(0), help="Deals to prove for each game beyond the stock; 0 for none."
)
@click.option("--pool-workers", default=1, type=click.IntRange(1, 64), help="Processes that prove them, slowly.")
@click.option("--bots", default=0, type=click.IntRange(0, MOST), help="Bots of the house, for quick matches of people.")
@_bound_options
def serve(
    host: str,
    port: int,
    redis: str | None,
    data_dir: Path | None,
    node: str,
    certificate: Path | None,
    key: Path | None,
    signing_key: Path | None,
    keep_days: float,
    keep_boards_days: float,
    origins: tuple[str, ...],
    trusted_proxies: tuple[str, ...],
    drain: float,
    log_level: str,
    workers: int,
    pool: int,
    pool_workers: int,
    bots: int,
    **bounds: float,
) -> None:
    """Run a race server until SIGTERM or Ctrl-C.

    Each option can also be set as an environment variable, CELLRACE_PORT for --port.
    """
    if key is not None and certificate is None:
        raise click.UsageError("--key needs --certificate: without one, ws:// is served and nothing is encrypted.")
    configure_logs(log_level)
    config = Config(
        host=host,
        port=worker_port(port),
        redis=redis,
        data_dir=data_dir,
        node=node,
        certificate=certificate,
        key=key,
        signing_key=signing_key,
        keep_days=keep_days,
        keep_boards_days=keep_boards_days,
        origins=origins,
        trusted_proxies=trusted_proxies,
        log_level=log_level,
        drain=drain,
        reuse_port=is_worker(),
        pool=pool,
        pool_workers=pool_workers,
        bounds=convert(bounds, Bounds),
    )
    run = asyncio.run
    if sys.implementation.name == "cpython" and sys.platform != "win32":
        import uvloop

        run = uvloop.run
    directory = data_directory(data_dir) / "bots"
    try:
        with accounts(directory, 0 if is_worker() else bots) as tokens:
            guests = _house_bots(tokens, certificate)
            if workers == 1 or is_worker():
                run(serve_until_told(config, guests))
            else:
                run(serve_workers(config, workers, guests))
    except CellraceError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        if error.errno in UNWRITABLE and error.filename is None:
            # Its first line is what could not be written.
            raise
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        raise click.ClickException(
            f"Cannot listen on {place} ({_why(error)}). Choose another with --host and --port."
        ) from error


def _why(error: OSError) -> str:
    """What the system says, without what asyncio puts around it; a name that leads nowhere has numbers of its own."""
    if error.errno is None or isinstance(error, socket.gaierror):
        return error.strerror or str(error)
    return os.strerror(error.errno)
