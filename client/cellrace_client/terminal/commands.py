"""The words of the line client: what may be typed, and what a typed line asks for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cellrace.errors import InvalidText
from cellrace.notation import parse_moves
from cellrace_client.language import _, p_
from cellrace_client.terminal.keyboard import latin_by_place
from cellrace_client.terminal.race_settings import NO, YES, settings_table


class Word(NamedTuple):
    """A command: how it is written, and what it does."""

    usage: str
    does: str


WORDS: dict[str, Word] = {
    "help": Word("help [COMMAND]", "tells what can be typed; help open names the settings of a race"),
    "list": Word("list [VARIANT]", "lists the open races"),
    "open": Word("open [VARIANT] [SETTING=VALUE …]", "opens a race and enters it, with settings: seats=3 undo=no"),
    "join": Word("join RACE or CODE", "enters a race"),
    "watch": Word("watch RACE or CODE", "watches a race as a spectator; leave ends that"),
    "ready": Word("ready", "says that you are ready to start"),
    "unready": Word("unready", "takes that back"),
    "start": Word("start", "starts the race without those who are not ready, if you are the host"),
    "kick": Word("kick NAME", "removes somebody from the open race, if you are the host"),
    "leave": Word("leave", "leaves the race; once it has begun that is a forfeit"),
    "concede": Word("concede", "stops playing, to be ranked by your cards home"),
    "forfeit": Word("forfeit", "gives the race up"),
    "undo": Word("undo [N] or u", "takes your last moves back"),
    "board": Word("board [NAME]", "shows your board, or that of somebody whose moves you may see"),
    "legal": Word("legal", "lists the moves that the rules allow now"),
    "hint": Word("hint", "suggests a move, where the race is not ranked"),
    "rules": Word("rules [VARIANT]", "tells the rules of the game"),
    "standings": Word("standings", "tells how everybody stands"),
    "race": Word("race", "tells which race you are in, its settings and its deal"),
    "wait": Word("wait", "waits until the race starts, or once it runs, until it is over"),
    "rematch": Word("rematch", "opens or enters the race that follows this one"),
    "daily": Word("daily [VARIANT]", "begins your one attempt at today's deal, or goes on with it"),
    "queue": Word("queue [VARIANT] [bots]", "waits for a rival; with bots a bot will do"),
    "unqueue": Word("unqueue", "waits no more"),
    "leaderboard": Word("leaderboard BOARD [VARIANT]", "shows a board: daily, streak, rating, best or deal"),
    "stats": Word("stats [PLAYER]", "tells what you have done, or somebody else by id"),
    "name": Word("name [NEW]", "tells your name, or takes another one"),
    "quit": Word("quit", "ends the program; a race that runs goes on for its grace period"),
}
"""Every command by its first word."""

USAGE = "usage"
"""What a usage is called in the catalogue: its first word is typed as it stands in every language."""

ALIASES: dict[str, str] = {
    "?": "help",
    "h": "help",
    "create": "open",
    "again": "rematch",
    "who": "standings",
    "exit": "quit",
    "q": "quit",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A command and what follows it."""

    word: str
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves in the field's notation."""

    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is neither a command nor a move."""

    sentence: str


def read_line(line: str) -> Command | Moves | Unknown | None:
    """What a line asks for; None for an empty line or a comment."""
    words = line.partition("#")[0].split()
    if not words:
        return None
    typed = words[0].lower()
    for word in (typed, latin_by_place(typed)):
        word = ALIASES.get(word, word)
        if word in WORDS:
            return Command(word, tuple(words[1:]))
    moves: list[str] = []
    for word in words:
        try:
            moves += parse_moves(latin_by_place(word))
        except InvalidText:
            if not moves:
                return Unknown(_("{word} is neither a command nor a move; type help.").format(word=word))
            return Unknown(_("{word} is no move; nothing on this line was played.").format(word=word))
    return Moves(tuple(moves))


def help_lines(about: str | None = None) -> list[str]:
    """What can be typed, or how one command is written."""
    if about is not None:
        name = ALIASES.get(about.lower(), about.lower())
        if name not in WORDS:
            return [_("There is no command {word}; type help.").format(word=about)]
        return [_help_line(WORDS[name]), *(settings_table() if name == "open" else ())]
    moves = (
        _("Moves: source and target, several on a line: 26 from column 2 to column 6, 3a to cell a, b5 from cell b,"),
        _("7h home, 26v3 three cards to an empty column, r4 from the reserve, u takes the last one back."),
    )
    return [" ".join(moves), *map(_help_line, WORDS.values())]


def _help_line(word: Word) -> str:
    return f"{p_(USAGE, word.usage)}: {_(word.does)}."


def says_yes(word: str) -> bool:
    """Whether an answer is yes, in any of our languages."""
    return word.strip().lower() in YES


def says_no(word: str) -> bool:
    """Whether an answer is no, in any of our languages."""
    return word.strip().lower() in NO
