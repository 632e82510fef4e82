"""Every key and channel of the store that is named here; functions derive those beside their own in the same way.

What each holds in detail stands on top of the files in `functions`.
"""

from __future__ import annotations

DUE = "due"
"""Sorted set: race -> when to look at it."""
LIVE = "races:live"
"""Sorted set: public races that have not ended, by creation."""
ENDED = "races:ended"
"""Sorted set: public races that have ended, by creation."""
NODES = "nodes"
"""Hash: node -> its last beat, negative when it has left with it."""
SIGNING_KEYS = "signing_keys"
"""Hash: name of a public key -> "since when replays are signed with it, ms:the key in base64"."""
ACTS = "acts"
"""List: what operators have done, the last first."""
VOID = "races:void"
"""Set: races that an operator has made count for nothing."""
NEW_BOTS = "players:new_bots"
"""Set: players who have become bots and may still stand among people on boards."""
UP_SINCE = "nodes:up_since"
"""String: since when, without a break, there has been a node."""


def race(race_id: str) -> str:
    """The race's own hash, and the stem of the keys beside it."""
    return f"race:{{{race_id}}}"


def secret(race_id: str) -> str:
    """Hash: the deal and salt of a race."""
    return race(race_id) + ":secret"


def log(race_id: str, player: str) -> str:
    """List: the entries of a game that is not packed."""
    return f"{race(race_id)}:log:{player}"


def packed(race_id: str) -> str:
    """String: a race that has ended."""
    return race(race_id) + ":packed"


def logs(race_id: str) -> str:
    """String: the packed logs of a race that has ended."""
    return race(race_id) + ":logs"


def tallies(race_id: str) -> str:
    """Hash: how far each game of a race has come."""
    return race(race_id) + ":tallies"


def race_hosts(race_id: str) -> str:
    """Set: the nodes that host somebody of a race."""
    return race(race_id) + ":hosts"


def race_deleted(race_id: str) -> str:
    """Hash: player who was deleted before the race had ended -> who stands in for the player in it."""
    return race(race_id) + ":deleted"


def code(text: str) -> str:
    """String: the race of a code."""
    return f"code:{text}"


def player(player_id: str) -> str:
    """The player's own hash, and the stem of the keys beside it."""
    return f"player:{{{player_id}}}"


def player_races(player_id: str) -> str:
    """Sorted set: the races of a player that are not over, by creation."""
    return player(player_id) + ":races"


def player_ended(player_id: str) -> str:
    """Sorted set: the last races of a player that have ended, by creation."""
    return player(player_id) + ":ended"


def player_deals(player_id: str, variant: str) -> str:
    """Hash: number of a deal that a player has had -> the draw that reserved it."""
    return f"{player(player_id)}:deals:{variant}"


def pool(variant: str) -> str:
    """Hash: number of a deal that is proved beyond the stock -> the packed moves of its proof."""
    return f"pool:{{{variant}}}"


def pool_wanted(variant: str) -> str:
    """String, for a while after a draw had few numbers left: how many the pool should come to."""
    return pool(variant) + ":wanted"


def name(folded: str) -> str:
    """String: the player of a name, in the form in which names are compared."""
    return f"name:{folded}"


def guesses(kind: str, place: str) -> str:
    """String: how often an address, or network of IPv6, has guessed, or made a player, within the last while."""
    return f"guesses:{kind}:{place}"


def channel(node: str) -> str:
    """The one channel of a node."""
    return f"cellrace:node:{node}"


def board(name: str) -> str:
    """Hash: the rows of a board, by player; and the stem of the keys beside it."""
    return f"board:{{{name}}}"


def board_rows(name: str) -> str:
    """Sorted set: the rows of a board, the best first."""
    return board(name) + ":rows"


def board_people(name: str) -> str:
    """Sorted set: the same without bots."""
    return board(name) + ":people"


def board_info(name: str) -> str:
    """Hash: what else each row of a board shows, by player."""
    return board(name) + ":info"


def skills(board_name: str) -> str:
    """Hash: the skills behind a board of ratings, by player."""
    return board(board_name) + ":skills"


def applied(board_name: str) -> str:
    """Hash: race -> what it did to the skills behind a board of ratings."""
    return board(board_name) + ":applied"


def applied_number(board_name: str) -> str:
    """String: the number of what was last done to the skills behind a board of ratings."""
    return board(board_name) + ":number"


def daily(day: str, variant: str) -> str:
    """Hash: the secret of a day's deal; and the stem of the keys beside it."""
    return f"daily:{{{day}:{variant}}}"


def daily_attempts(day: str, variant: str) -> str:
    """Hash: player -> the attempt at a day."""
    return daily(day, variant) + ":attempts"


def daily_deals(variant: str) -> str:
    """Set: the numbers that days have had, and reserved ones that somebody has chosen for a race."""
    return f"dailies:{variant}"


def player_finished(player_id: str, variant: str) -> str:
    """Sorted set: the games that a player has finished, by when."""
    return f"{player(player_id)}:finished:{variant}"


def player_record(player_id: str, variant: str) -> str:
    """Hash: what a player has done in a game."""
    return f"{player(player_id)}:record:{variant}"


def player_days(player_id: str, variant: str) -> str:
    """Sorted set: the days on which a player has won the daily challenge, by when."""
    return f"{player(player_id)}:days:{variant}"


def queue(variant: str) -> str:
    """Hash: who waits for a quick match of a game; and the stem of the key beside it."""
    return f"queue:{{{variant}}}"
