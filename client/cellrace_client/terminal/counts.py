"""Numbers of things. Pure."""

from __future__ import annotations

from cellrace_client.language import n_


def cards_counted(count: int) -> str:
    """So many cards."""
    return n_("{count} card", "{count} cards", count).format(count=count)


def moves_counted(count: int) -> str:
    """So many moves."""
    return n_("{count} move", "{count} moves", count).format(count=count)


def entries_counted(count: int) -> str:
    """So many entries of a log."""
    return n_("{count} entry", "{count} entries", count).format(count=count)


def players_counted(count: int) -> str:
    """So many players."""
    return n_("{count} player", "{count} players", count).format(count=count)


def players_begun(count: int) -> str:
    """So many who have begun a day's challenge."""
    return n_("{count} player has begun", "{count} players have begun", count).format(count=count)


def days_counted(count: int) -> str:
    """So many days."""
    return n_("{count} day", "{count} days", count).format(count=count)
