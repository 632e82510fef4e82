"""Days, leaderboards and records of players as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cellrace.messages import (
    BoardRow,
    Daily,
    DailyAttempt,
    EntrantStatus,
    GameRecord,
    Leaderboard,
    PlayerAnswer,
    Summary,
)
from cellrace_client.language import _, n_
from cellrace_client.terminal.counts import cards_counted, days_counted, moves_counted, players_begun, players_counted
from cellrace_client.terminal.speech import day_text, length_text, ordinal
from cellrace_client.terminal.standings_lines import entrant_text, player_text, status_text
from cellrace_client.terminal.titles import game_title

BOARDS = ("daily", "streak", "rating", "best", "deal")
"""The leaderboards by their names on the wire."""


class Asked(NamedTuple):
    """What was asked of a leaderboard beside its name and its game, for its title."""

    date: str | None = None
    deal: int | None = None


def daily_lines(daily: Daily) -> list[str]:
    """A day's challenge: until when it can be begun, and how one's own attempt stands."""
    game, begun = game_title(daily.variant), players_begun(daily.entries)
    told = [
        _("The daily of {date}: {game}, {begun}.").format(date=daily.date, game=game, begun=begun),
        *when_lines(daily),
    ]
    if daily.you is not None:
        told.append(attempt_line(daily.you))
    return [*told, _("Commitment {commitment}.").format(commitment=daily.commitment)]


def page_lines(daily: Daily, own: BoardRow | None) -> list[str]:
    """A day's challenge as a page tells it to everybody, with one's own row of its board where there is one."""
    told = daily_lines(daily)
    if daily.opens_at <= daily.now < daily.closes_at:
        # A page does not know who asks, nor whether their attempt runs.
        left = span_text(daily.closes_at - daily.now)
        each = _("Everybody has one attempt, of an hour; it can begin for {time} yet.").format(time=left)
        told[1:2] = [each] if own is None else []
    if own is not None:
        value = value_text("daily", own)
        line = _("Your attempt has ended: {value}. You are {place}.").format(value=value, place=ordinal(own.place))
        told.insert(-1, line)
    return told


def when_lines(daily: Daily) -> list[str]:
    """Until when a day's challenge can be begun, or what its deal was."""
    if daily.now < daily.opens_at:
        return [_("It opens in {time}.").format(time=span_text(daily.opens_at - daily.now))]
    if daily.deal is not None:
        return [_("Its deal was {deal}.").format(deal=daily.deal)]
    if daily.now >= daily.closes_at:
        told_in = span_text(daily.published_at - daily.now)
        return [_("It is closed; its deal is told in {time}.").format(time=told_in)]
    if daily.you is None:
        left = span_text(daily.closes_at - daily.now)
        return [_("You have one attempt, of an hour; it can begin for {time} yet.").format(time=left)]
    return []


def attempt_line(you: DailyAttempt) -> str:
    """How one's own attempt stands."""
    cards = cards_counted(you.home)
    if you.status is EntrantStatus.PLAYING:
        line = _("Your attempt goes on: {cards} home.").format(cards=cards)
    elif you.time is not None:
        line = _("You have won it in {time}.").format(time=length_text(you.time))
    else:
        line = _("Your attempt: {ended}, {cards} home.").format(ended=status_text(you.status), cards=cards)
    return line if you.place is None else line + " " + _("You are {place}.").format(place=ordinal(you.place))


def leaderboard_lines(board: Leaderboard, me: str, asked: Asked) -> list[str]:
    """A leaderboard: its title, its rows in columns, and one's own row where it is not among them."""
    title = f"{board_title(board.board, board.variant, asked)}, {players_counted(board.total)}"
    rows = list(board.rows)
    own = board.you if board.you is not None and board.you not in rows else None
    columns = table([_row(board.board, row, me) for row in (*rows, *((own,) if own else ()))])
    if own is not None:
        columns.insert(len(rows), "…")
    return [f"{title}.", *columns]


def board_title(board: str, variant: str, asked: Asked) -> str:
    """What a leaderboard is of."""
    game = game_title(variant)
    match board:
        case "daily":
            return _("The daily of {date}, {game}").format(date=asked.date or _("today"), game=game)
        case "streak":
            return _("Days in a row with a win in the daily, {game}").format(game=game)
        case "rating":
            return _("Ratings, {game}").format(game=game)
        case "best":
            return _("Fastest wins of ranked races, {game}").format(game=game)
        case "deal":
            return _("Fastest wins of deal {deal}, {game}").format(deal=asked.deal, game=game)
        case other:
            return f"{other}, {game}"


def _row(board: str, row: BoardRow, me: str) -> tuple[str, ...]:
    return ordinal(row.place), player_text(row.player, me), value_text(board, row), row.race or ""


def value_text(board: str, row: BoardRow) -> str:
    """What a row of a leaderboard is ranked by."""
    if board == "streak" and row.streak is not None:
        return days_counted(row.streak)
    if board == "rating" and row.rating is not None:
        return str(row.rating)
    if row.time is not None:
        told = length_text(row.time)
        return told if row.moves is None else f"{told}, {moves_counted(row.moves)}"
    return _("{cards} home").format(cards=cards_counted(row.home or 0))


def stats_lines(player: PlayerAnswer, me: str) -> list[str]:
    """What a player has done: a row for each game, then the last races."""
    told = [since_line(player)]
    if not player.games:
        return [*told, _("No game has been finished yet.")]
    told += table([_record_row(variant, record) for variant, record in player.games.items()])
    if player.recent:
        told.append(_("Last races:"))
        told += table([_recent_row(summary, player.player, me) for summary in player.recent])
    return told


def since_line(player: PlayerAnswer) -> str:
    """Who it is, and since when the server knows them."""
    since = day_text(player.since)
    who = f"{player.name} ({_('bot')})" if player.bot else player.name
    return _("{who}, here since {date}.").format(who=who, date=since)


def _record_row(variant: str, record: GameRecord) -> tuple[str, ...]:
    return (
        game_title(variant),
        n_("{count} game", "{count} games", record.played).format(count=record.played),
        n_("{count} win", "{count} wins", record.won).format(count=record.won),
        _("streak {streak}, best {best}").format(streak=record.streak, best=record.best_streak),
        "" if record.best_time is None else _("fastest {time}").format(time=length_text(record.best_time)),
        "" if record.rating is None else _("rating {rating}").format(rating=record.rating),
    )


def _recent_row(summary: Summary, player: str, me: str) -> tuple[str, ...]:
    entrant = next((one for one in summary.entrants if one.player.id == player), None)
    others = ", ".join(entrant_text(one, me) for one in summary.entrants if one.player.id != player)
    ended = "" if entrant is None else status_text(entrant.status)
    place = "" if entrant is None or entrant.place is None else ordinal(entrant.place)
    return summary.race, game_title(summary.variant), place, ended, others


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns, each as wide as what is in it; empty columns are left out."""
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in columns]
    lines = zip(*columns, strict=True)
    return ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def span_text(ms: int) -> str:
    """A length of time in hours and minutes."""
    hours, minutes = divmod(-(-ms // 60_000), 60)
    return _("{hours} h {minutes} min").format(hours=hours, minutes=minutes)
