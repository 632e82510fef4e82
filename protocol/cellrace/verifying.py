"""Verifying replays offline: what each check says, and what fails (protocol, section 6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from gettext import NullTranslations
from typing import NamedTuple

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from cellrace.commitment import commitment
from cellrace.deals import deal
from cellrace.errors import REASON_SENTENCES, IllegalMove, InvalidText, UnknownVariant
from cellrace.game import Game
from cellrace.messages import LATENCY_CAP, EntrantStatus, Replay, dealt_cards
from cellrace.replay import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    Written,
    from_base64,
    key_id,
    read_replay,
    signed_bytes,
    start_of,
)
from cellrace.variants import find_variant

_SALT = re.compile("[0-9a-f]{32}")
_STILL_PLAYING = (EntrantStatus.JOINED, EntrantStatus.READY, EntrantStatus.PLAYING)

_ENGLISH = NullTranslations()

Keys = Mapping[str, bytes]
"""Public keys of 32 raw bytes by their names."""


class Check(NamedTuple):
    """One thing that must hold of a replay, whether it does, and a sentence about it."""

    name: str
    holds: bool
    sentence: str


class _Fault(Exception):
    """What does not hold, as a sentence."""


class _Known(NamedTuple):
    """What the checks look at; `game` is the one after the last entry, or the refusal of an entry.

    `language` is that of the sentences.
    """

    written: Written
    keys: Keys
    game: Game | IllegalMove | UnknownVariant
    language: NullTranslations

    @property
    def replay(self) -> Replay:
        return self.written.replay


def verify(text: bytes, keys: Keys, language: NullTranslations = _ENGLISH) -> tuple[Check, ...]:
    """Every check of a replay's JSON, which is verified when all hold; where the form fails, the form alone."""
    try:
        written = read_replay(text)
    except InvalidText as unreadable:
        return (Check("form", False, str(unreadable)),)
    known = _Known(written, keys, _play(written.replay), language)
    _ = language.gettext
    return (
        Check("form", True, _("Every field is there, and is what it must be.")),
        *(_check(name, look, known) for name, look in _CHECKS.items()),
    )


def read_keys(text: bytes) -> dict[str, bytes]:
    """Public keys in base64, one a line, or all that `/api/v1/keys` answers. Raises InvalidText."""
    try:
        lines = _key_lines(text.decode())
    except UnicodeDecodeError:
        raise InvalidText("This is no public key: it is not even text.") from None
    keys: dict[str, bytes] = {}
    for line in lines:
        public = from_base64(line, KEY_BYTES)
        if public is None:
            raise InvalidText(
                f"{line[:60]!r} is no public key: 32 bytes in base64 are wanted, as /api/v1/keys gives them."
            )
        keys[key_id(public)] = public
    if not keys:
        raise InvalidText("There is no public key.")
    return keys


class _PublishedKey(msgspec.Struct):
    public: str


class _PublishedKeys(msgspec.Struct):
    keys: list[_PublishedKey]


def _key_lines(text: str) -> list[str]:
    if not text.lstrip().startswith("{"):
        return text.split()
    try:
        return [key.public for key in msgspec.json.decode(text, type=_PublishedKeys).keys]
    except msgspec.DecodeError as wrong:
        raise InvalidText(f"This is not what /api/v1/keys answers: {wrong}.") from None


def _play(replay: Replay) -> Game | IllegalMove | UnknownVariant:
    try:
        game, _ = start_of(replay).play_all(move for _, move in replay.moves)
    except (IllegalMove, UnknownVariant) as refused:
        return refused
    return game


def _check(name: str, look: Callable[[_Known], str], known: _Known) -> Check:
    try:
        return Check(name, True, look(known))
    except _Fault as fault:
        return Check(name, False, str(fault))


def _check_commitment(known: _Known) -> str:
    _ = known.language.gettext
    replay = known.replay
    if not _SALT.fullmatch(replay.salt):
        raise _Fault(_("The salt is not 32 hex characters."))
    if commitment(replay.variant, replay.deal, replay.salt) != replay.commitment:
        raise _Fault(_("The commitment is to another game, deal or salt."))
    return _("The commitment is to this game, deal and salt.")


def _check_deal(known: _Known) -> str:
    _ = known.language.gettext
    replay = known.replay
    if isinstance(known.game, UnknownVariant):
        raise _Fault(_("There is no game called {name}.").format(name=repr(known.game.variant)))
    variant = find_variant(replay.variant)
    dealt = dealt_cards(variant, deal(variant, replay.deal))
    for other, told, right in (
        (_("Deal {deal} of {game} has other columns."), replay.layout, dealt.layout),
        (_("Deal {deal} of {game} has other cells."), replay.cells, dealt.cells),
        (_("Deal {deal} of {game} has other reserve."), replay.reserve, dealt.reserve or ()),
    ):
        if told != right:
            raise _Fault(other.format(deal=replay.deal, game=variant.id))
    return _("The cards lie as in deal {deal} of {game}.").format(deal=replay.deal, game=variant.id)


def _check_moves(known: _Known) -> str:
    _ = known.language.gettext
    count = len(known.replay.moves)
    match known.game:
        case UnknownVariant():
            raise _Fault(_("The moves cannot be judged in a game that is not known."))
        case IllegalMove(index=index, move=move, reason=reason):
            told = _("Entry {number} of {count}, {move}, is illegal: {why} ({reason})")
            why = _(REASON_SENTENCES[reason])
            raise _Fault(told.format(number=index + 1, count=count, move=move, why=why, reason=reason.value))
        case Game():
            return _("Each entry of the log is legal.") if count else _("The log is empty.")


def _check_stamps(known: _Known) -> str:
    _ = known.language.gettext
    before = 0
    for number, (at, _move) in enumerate(known.replay.moves, 1):
        if at < before:
            told = _("Entry {number} is stamped {at} ms, earlier than the one before it, {before} ms.")
            raise _Fault(told.format(number=number, at=at, before=before))
        before = at
    if known.replay.ended < before:
        told = _("The game ended at {ended} ms, before its last entry, {before} ms.")
        raise _Fault(told.format(ended=known.replay.ended, before=before))
    return _("No stamp falls.")


def _check_result(known: _Known) -> str:
    _ = known.language.gettext
    replay, game, result = known.replay, known.game, known.replay.result
    if not isinstance(game, Game):
        raise _Fault(_("The result cannot be judged without the moves."))
    home = game.board.cards_home
    if result.home != home:
        raise _Fault(_("Cards home by the moves: {home}, and not {told}.").format(home=home, told=result.home))
    status = result.status.value
    if result.status in _STILL_PLAYING:
        raise _Fault(_("No game ends as {status}.").format(status=status))
    if (result.status is EntrantStatus.WON) != game.won:
        told = (
            _("The moves win, and the result is {status}.")
            if game.won
            else _("The moves do not win, and the result is {status}.")
        )
        raise _Fault(told.format(status=status))
    if game.won:
        _check_time(replay, known.language)
        return _("The moves win, in {time} ms.").format(time=result.time)
    if (result.time, result.raw, result.latency) != (None, None, None):
        raise _Fault(_("Only a win has a time."))
    return _("The moves do not win, cards home: {home}, {status}.").format(home=home, status=status)


def _check_time(replay: Replay, language: NullTranslations) -> None:
    _ = language.gettext
    result, last = replay.result, replay.moves[-1][0]
    if result.time is None or result.raw is None or result.latency is None:
        raise _Fault(_("A win has `time`, `raw` and `latency`."))
    if result.raw != last or replay.ended != last:
        told = _("The winning move came at {last} ms; `raw` is {raw} and `ended` is {ended}.")
        raise _Fault(told.format(last=last, raw=result.raw, ended=replay.ended))
    if result.latency > LATENCY_CAP:
        told = _("A latency of {latency} ms is above {most}.")
        raise _Fault(told.format(latency=result.latency, most=LATENCY_CAP))
    if result.time != max(0, result.raw - result.latency):
        told = _("{raw} ms less a latency of {latency} ms is not {time}.")
        raise _Fault(told.format(raw=result.raw, latency=result.latency, time=result.time))


def _check_key(known: _Known) -> str:
    _ = known.language.gettext
    name = known.replay.key
    if not known.keys:
        raise _Fault(_("No key is given, so the signature cannot be checked; {name} is wanted.").format(name=name))
    if name not in known.keys:
        told = _("The key {name} signed it; given is {others}.")
        raise _Fault(told.format(name=name, others=", ".join(known.keys)))
    return _("The key is {name}.").format(name=name)


def _check_signature(known: _Known) -> str:
    _ = known.language.gettext
    public = known.keys.get(known.replay.key)
    if public is None:
        raise _Fault(_("The signature cannot be checked without its key."))
    signature = from_base64(known.replay.signature, SIGNATURE_BYTES)
    if signature is None:
        raise _Fault(_("The signature is not 64 bytes in base64."))
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, signed_bytes(known.written.fields))
    except (InvalidSignature, ValueError):
        raise _Fault(_("The signature is not that of this replay: something in it was changed.")) from None
    return _("The signature is that of this very replay.")


_CHECKS: dict[str, Callable[[_Known], str]] = {
    "commitment": _check_commitment,
    "deal": _check_deal,
    "moves": _check_moves,
    "stamps": _check_stamps,
    "result": _check_result,
    "key": _check_key,
    "signature": _check_signature,
}
