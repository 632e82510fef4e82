"""Runs what a command does on an event loop, and ends it in order on Ctrl-C, SIGTERM and a closed terminal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import IO, TypeVar

import click

from cellrace.errors import CellraceError
from cellrace_client.language import _
from cellrace_client.terminal.advice import what_to_do
from cellrace_client.terminal.refusals import refusal_text
from cellrace_client.terminal.speech import printable

T = TypeVar("T")
_SIGNALLED = 128
"""The exit status of a command that a signal ended is so much above the signal's number, as shells have it."""


class Trouble(click.ClickException):
    """The end of a command that could not be carried out, told in the language spoken."""

    def __init__(self, error: CellraceError) -> None:
        super().__init__(printable(" ".join(filter(None, (refusal_text(error), what_to_do(error))))))

    def show(self, file: IO[str] | None = None) -> None:
        """Tells it on standard error."""
        told = _("Error: {sentence}").format(sentence=self.format_message())
        click.echo(told, file=file, err=file is None)


def run_to_the_end(work: Coroutine[object, object, T]) -> T:
    """What the work returns; its errors as sentences, its signals as exit statuses."""
    told: list[int] = []
    try:
        result = asyncio.run(_until_told(work, told))
    except CellraceError as error:
        raise Trouble(error) from error
    except asyncio.CancelledError:
        raise click.exceptions.Exit(_SIGNALLED + told[0] if told else 1) from None
    if told:
        # Whoever draws on the screen takes being cancelled for being asked to leave.
        raise click.exceptions.Exit(_SIGNALLED + told[0])
    return result


async def _until_told(work: Coroutine[object, object, T], told: list[int]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None, "this is awaited by asyncio.run"

    def end(number: int) -> None:
        told.append(number)
        task.cancel()

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            try:
                loop.add_signal_handler(number, end, number)
            except NotImplementedError:
                # Windows: the process ends at once, and our children with their pipes.
                break
    return await work
