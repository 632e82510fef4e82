"""The command `cellrace`: each subcommand is imported only when it runs, so that none needs what another needs."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from cellrace_client.language import _, speak

_CTRL_C = 130
"""The exit status of a command that Ctrl-C ended, as shells have it."""
_NO_OUTPUT = 1
"""The exit status of a command whose output cannot be written."""
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a disk says that takes no more; a pipe that is closed is click's to deal with."""


class _Command(NamedTuple):
    """Where a subcommand is, and its line in the list."""

    module: str
    function: str
    summary: str


_COMMANDS: dict[str, _Command] = {
    "deal": _Command("cellrace_client.cli.games", "deal", "Print the board of a deal."),
    "solve": _Command("cellrace_client.cli.games", "solve", "Find a way to win a deal."),
    "rules": _Command("cellrace_client.cli.games", "rules", "Tell a game's rules in plain words."),
    "check": _Command("cellrace_client.cli.checking", "check", "Play moves, or say which is illegal and why."),
    "demo": _Command("cellrace_client.cli.racing", "demo", "Race a bot on this machine, or watch two."),
    "play": _Command("cellrace_client.cli.racing", "play", "Race on a server."),
    "watch": _Command("cellrace_client.cli.watching", "watch", "Watch a race on a server."),
    "daily": _Command("cellrace_client.cli.competing", "daily", "Play today's daily challenge."),
    "leaderboard": _Command("cellrace_client.cli.competing", "leaderboard", "Show a leaderboard."),
    "stats": _Command("cellrace_client.cli.competing", "stats", "Tell what a player has done."),
    "bot": _Command("cellrace_client.cli.racing", "bot", "Let the solver race on a server."),
    "replay": _Command("cellrace_client.cli.replaying", "replay", "Play a finished game back, or export it."),
    "verify": _Command("cellrace_client.cli.replaying", "verify", "Check a replay offline."),
    "serve": _Command("cellrace_client.cli.serving", "serve", "Run a server."),
    "admin": _Command("cellrace_client.cli.administering", "admin", "Void races, ban players, check boards."),
}


class _LazyGroup(click.Group):
    """A group whose subcommands are a table; a module is imported when its subcommand is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click calls it with this
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        try:
            module = import_module(entry.module)
        except ModuleNotFoundError as missing:
            raise click.UsageError(
                f"'cellrace {cmd_name}' needs {missing.name}, which is not installed; pip install 'cellrace[all]'.", ctx
            ) from missing
        command: click.Command = getattr(module, entry.function)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click calls it with this
        formatter: click.HelpFormatter,
    ) -> None:
        # From the table: asking each command for its help would import every one of them.
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in _COMMANDS.items()])

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the command; output that cannot be written is told in a sentence, and needs not be there at all."""
        _open_closed_streams()
        try:
            try:
                return super().main(*args, **kwargs)
            finally:
                _flush()
        except OSError as failed:
            if failed.errno not in UNWRITABLE:
                raise
            _end_without_output(failed)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(_CTRL_C)
        except click.Abort as aborted:
            # What click makes of Ctrl-C at a question, whose line has no end yet.
            if not isinstance(aborted.__context__, KeyboardInterrupt):
                raise
            click.echo(err=True)
            ctx.exit(_CTRL_C)


def _open_closed_streams() -> None:
    """Puts something in the place of what a shell has closed: `>&-`."""
    null = os.open(os.devnull, os.O_RDWR) if None in (sys.stdin, sys.stdout, sys.stderr) else -1
    sys.stdin = sys.stdin or os.fdopen(null, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(null, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(null, "w", closefd=False)


def _flush() -> None:
    """Writes what waits to be written: at the interpreter's end a failure would be a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def _end_without_output(failed: OSError) -> NoReturn:
    told = _("Error: {sentence}").format(
        sentence=_("The output cannot be written: {why}.").format(why=failed.strerror or failed)
    )
    with suppress(OSError):
        print(told, file=sys.stderr, flush=True)
    # What waits still could only fail again.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(_NO_OUTPUT)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cellrace", prog_name="cellrace", message="%(prog)s %(version)s")
def main() -> None:
    """Race people and bots on identical FreeCell deals.

    \b
    cellrace demo               a race against a bot, here and now
    cellrace rules              the rules, and which games there are
    cellrace deal freecell 617  the board of a deal
    cellrace COMMAND --help     more about a command
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has no ♣ shows something else rather than a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    speak(None)
