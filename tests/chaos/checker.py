"""Holds what was recorded against what the store has, and against the rules: each violation is a sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from cellrace.cards import card_name
from cellrace.deals import deal
from cellrace.errors import IllegalMove
from cellrace.variants import find_variant
from cellrace_server.core.facts import Done, Stamped
from cellrace_server.store.races import Entry, RaceStore, Record
from tests.chaos.games import first_game
from tests.chaos.history import Asked, History, Map, RaceSeen, Seat


async def check(history: History, races: RaceStore) -> list[str]:
    """Everything that is wrong with a run, one sentence each."""
    found = list(history.problems)
    for race_id, seen in history.races.items():
        record = await races.load(race_id)
        if record is None:
            found.append(f"{race_id} is not on record any more")
            continue
        found += [f"{race_id} ({seen.variant}): {wrong}" for wrong in check_race(seen, record)]
    return found


def check_race(seen: RaceSeen, record: Record) -> Iterator[str]:
    """What is wrong with one race."""
    if not record.race.ended:
        yield "it has not ended"
    yield from _facts(seen, record.facts)
    for player, seat in seen.seats.items():
        log = record.logs.get(player, ())
        for wrong in (*_log(seat, log), *_replayed(seen.variant, seat, log)):
            yield f"{player}: {wrong}"
    yield from _start(seen)
    yield from _standings(seen, record)


def _facts(seen: RaceSeen, facts: Sequence[Stamped]) -> Iterator[str]:
    if [stamped.version for stamped in facts] != list(range(1, len(facts) + 1)):
        yield f"its facts have the versions {[stamped.version for stamped in facts]}"
    if unknown := [version for version in seen.facts if version > len(facts)]:
        yield f"the facts {unknown} were told and are not on record"
    done = [stamped.fact.player for stamped in facts if isinstance(stamped.fact, Done)]
    if len(done) != len(set(done)):
        yield f"somebody was done twice: {done}"
    for stamped in facts:
        told = seen.facts.get(stamped.version)
        if told is not None and told["type"] == "race.done" and told["player"] != getattr(stamped.fact, "player", ""):
            yield f"fact {stamped.version} was told as {told} and is on record as {stamped.fact}"


def _log(seat: Seat, log: Sequence[Entry]) -> Iterator[str]:
    moves = [entry.move for entry in log]
    stamps = [entry.at for entry in log]
    if stamps != sorted(stamps):
        yield f"its stamps fall: {stamps}"
    answers: dict[tuple[int, tuple[str, ...]], Map] = {}
    for asked in seat.asked:
        if asked.answer is None:
            continue
        end = asked.seq + len(asked.moves)
        if moves[asked.seq : end] != asked.moves:
            yield f"{asked.moves} at {asked.seq} were answered; on record are {moves[asked.seq : end]} of {len(moves)}"
        elif asked.answer["seq"] != end or [step[0] for step in asked.answer["steps"]] != asked.moves:
            yield f"{asked.moves} at {asked.seq} were answered with {asked.answer}"
        answer = {name: value for name, value in asked.answer.items() if name != "re"}
        if answers.setdefault((asked.seq, tuple(asked.moves)), answer) != answer:
            yield f"one request, two answers: {answer} and {answers[asked.seq, tuple(asked.moves)]}"
    yield from _uncovered(seat, moves)


def _uncovered(seat: Seat, moves: Sequence[str]) -> Iterator[str]:
    """Entries that nobody has asked for, or only by a connection that another one had taken over from."""
    by_place: dict[int, list[Asked]] = {}
    for asked in seat.asked:
        for place in range(asked.seq, asked.seq + len(asked.moves)):
            by_place.setdefault(place, []).append(asked)
    for place, move in enumerate(moves):
        asking = [a.connection for a in by_place.get(place, ()) if a.moves[place - a.seq] == move]
        newest = max((came.connection for came in seat.came if came.length <= place), default=0)
        if not asking:
            yield f"nobody asked for {move} at {place}"
        elif max(asking) < newest:
            yield f"{move} at {place} is of connection {max(asking)}, which {newest} had taken over from"


def _replayed(variant: str, seat: Seat, log: Sequence[Entry]) -> Iterator[str]:
    if seat.started is None:
        if log:
            yield "it has moves and no start"
        return
    start_at = seat.started["start_at"]
    game = first_game(variant, seat.started["deal"])
    ends: dict[int, tuple[int, int, bool]] = {}
    try:
        for entry in log:
            game, _ = game.play(entry.move)
            ends[game.seq] = game.board.cards_home, entry.at - start_at, game.won
    except IllegalMove as illegal:
        yield f"an illegal move is on record: {illegal.move} ({illegal.reason})"
        return
    for asked in seat.asked:
        told = asked.answer
        if told and (told["home"], told["at"], told["won"]) != ends.get(asked.seq + len(asked.moves)):
            yield f"at {told['seq']} it was told {told}, and its log gives {ends.get(told['seq'])}"
    if seat.end is not None and "you" in seat.end:
        you = seat.end["you"]
        if you["moves"] != [entry.move for entry in log]:
            yield f"it was told the log {you['moves']}"
        if sum(map(len, you["board"]["columns"])) + game.board.cards_home + _held(you["board"]) != _pack(variant):
            yield f"it was told the board {you['board']} with {game.board.cards_home} cards home"


def _held(board: Map) -> int:
    return sum(card is not None for card in board["cells"]) + len(board["reserve"])


def _pack(variant: str) -> int:
    found = find_variant(variant)
    return len(found.suits) * len(found.ranks)


def _start(seen: RaceSeen) -> Iterator[str]:
    starts = [seat.started for seat in seen.seats.values() if seat.started is not None]
    for started in starts:
        if any(started.get(name) != starts[0].get(name) for name in ("deal", "salt", "layout", "reserve", "start_at")):
            yield f"two entrants had different starts: {started} and {starts[0]}"
        if "deal" in started:
            found = find_variant(seen.variant)
            columns = [[card_name(card) for card in column] for column in deal(found, started["deal"]).columns]
            if started["layout"] != columns:
                yield f"the layout {started['layout']} is not that of deal {started['deal']}, {columns}"
            text = f"cellrace:{seen.variant}:{started['deal']}:{started['salt']}"
            if seen.countdown and hashlib.sha256(text.encode()).hexdigest() != seen.countdown["commitment"]:
                yield "its deal is not the one that was committed to"


def _standings(seen: RaceSeen, record: Record) -> Iterator[str]:
    ends = [seat.end for seat in seen.seats.values() if seat.end is not None]
    if record.race.standings is None:
        return
    names = sorted(standing.player.id for standing in record.race.standings)
    entrants = sorted(entrant.player.id for entrant in record.race.entrants)
    if names != entrants:
        yield f"its standings are of {names}, its entrants were {entrants}"
    for end in ends:
        if end.get("standings") != ends[0].get("standings"):
            yield f"two entrants saw different standings: {end.get('standings')} and {ends[0].get('standings')}"
        lines = end.get("standings", [])
        if sorted(line["player"]["id"] for line in lines) != entrants:
            yield f"its standings were told as {lines}"
        for line in lines:
            better = sum(_worth(other) < _worth(line) for other in lines)
            if line["place"] != better + 1:
                yield f"{line['player']['id']} came {line['place']}. and {better} were better"
            game = [asked for asked in seen.seats[line["player"]["id"]].asked if asked.answer and asked.answer["won"]]
            if bool(game) > (line["status"] == "won"):
                yield f"{line['player']['id']} was told to have won and is ranked as {line['status']}"


def _worth(line: Map) -> tuple[int, int]:
    if line["status"] == "won":
        return 0, line["time"]
    return 1 if line["status"] in ("conceded", "timed_out") else 2, -line["home"]
