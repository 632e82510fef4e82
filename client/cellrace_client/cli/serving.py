"""`cellrace serve`: one node of the race server."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

import click
import structlog

from cellrace.errors import CellraceError
from cellrace_server.app import serve_until_told
from cellrace_server.config import Bounds, Config

LEVELS = ("debug", "info", "warning", "error")


@click.command(
    context_settings={"auto_envvar_prefix": "CELLRACE", "show_default": True},
    epilog="Example: cellrace serve --host 0.0.0.0 --port 8765",
)
@click.option("--host", default="127.0.0.1", help="The address to listen on; 0.0.0.0 for everybody on the network.")
@click.option("--port", default=8765, type=click.IntRange(0, 65535), help="The port; 0 picks a free one.")
@click.option("--redis", metavar="URL", help="The store: redis://, rediss:// or unix://. Without it: the embedded one.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the embedded store keeps its data; by default the platform's data directory.",
)
@click.option("--node", default="", help="This node's name, for display; by default the host's.")
@click.option("--certificate", type=click.Path(path_type=Path, exists=True), help="A PEM file: serve wss:// with it.")
@click.option("--key", type=click.Path(path_type=Path, exists=True), help="The certificate's key, if it is apart.")
@click.option("--origin", "origins", multiple=True, help="A web page's origin that may connect; repeatable.")
@click.option("--log-level", default="info", type=click.Choice(LEVELS), help="The least that is logged, to stderr.")
@click.option("--burst", default=Bounds().burst, type=click.IntRange(1), help="Messages a client may send at once.")
@click.option(
    "--per-second", default=Bounds().per_second, type=click.FloatRange(0.1), help="Messages a client may send a second."
)
@click.option(
    "--new-players", default=Bounds().new_players, type=click.IntRange(1), help="New players of an address in 10 min."
)
def serve(
    host: str,
    port: int,
    redis: str | None,
    data_dir: Path | None,
    node: str,
    certificate: Path | None,
    key: Path | None,
    origins: tuple[str, ...],
    log_level: str,
    burst: int,
    per_second: float,
    new_players: int,
) -> None:
    """Run a race server until SIGTERM or Ctrl-C.

    Each option can also be set as an environment variable, CELLRACE_PORT for --port.
    """
    configure_logs(log_level)
    bounds = Bounds(burst=burst, per_second=per_second, new_players=new_players)
    config = Config(host, port, redis, data_dir, node, certificate, key, origins, log_level, bounds)
    run = asyncio.run
    if sys.implementation.name == "cpython" and sys.platform != "win32":
        import uvloop

        run = uvloop.run
    try:
        run(serve_until_told(config))
    except CellraceError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(
            f"Cannot listen on {host}:{port} ({error.strerror or error}). Choose another with --host and --port."
        ) from error


def configure_logs(level: str) -> None:
    """Structured lines on stderr: for people on a terminal, as JSON elsewhere."""
    numeric = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(numeric, logging.WARNING), stream=sys.stderr, format="%(levelname)s %(message)s")
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(numeric),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
