"""Why a server closes a connection, and what a client then does."""

from __future__ import annotations

from enum import IntEnum


class CloseCode(IntEnum):
    """Why the server closes a connection: 40xx "come back", 41xx "do not come back by yourself"."""

    GOING_AWAY = 1001
    TOO_LARGE = 1009
    TOO_SLOW = 4000
    LOST_TRACK = 4001
    TAKEN_OVER = 4100
    BAD_TOKEN = 4101
    RATE_LIMITED = 4102
    NO_HELLO = 4103
    BANNED = 4104


CLOSE_SENTENCES: dict[CloseCode, str] = {
    CloseCode.GOING_AWAY: "the server shuts down or restarts: come back after a random delay of up to 5 s",
    CloseCode.TOO_LARGE: "a frame was too large",
    CloseCode.TOO_SLOW: "too slow: the client does not read fast enough; come back and resume",
    CloseCode.LOST_TRACK: "the server lost track: come back and resume",
    CloseCode.TAKEN_OVER: "taken over: the same player connected again elsewhere",
    CloseCode.BAD_TOKEN: "bad token",
    CloseCode.RATE_LIMITED: "the rate limit kept being exceeded (closes, does not lock out)",
    CloseCode.NO_HELLO: "no hello within 10 s",
    CloseCode.BANNED: "this player is banned or deleted",
}
