"""The daily, quick matches, leaderboards, profiles and replays on the full screen, against a real server."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import pytest

from cellrace.messages import RaceKind, RaceState, SettingsRequest
from cellrace.replay import read_replay
from cellrace_client.connection import Connection, connect
from cellrace_client.language import speak
from cellrace_client.race_view import RaceView
from cellrace_client.replay_files import read_replay_file
from cellrace_client.terminal.app.film import Film
from cellrace_client.terminal.app.screens import picking, replay
from cellrace_client.terminal.competing import BOARDS
from cellrace_server.core.daily import day_of
from cellrace_server.stock import load_stock
from cellrace_server.store import keys
from tests.client.app.conftest import House, Screen, alone
from tests.client.app.relay import relay
from tests.client.app.test_languages import english_left, is_translated, keys_without_room
from tests.protocol.replays import won_replay
from tests.story.passing_time import PassingTime
from tests.story.solved_games import golden_game, stocked_game
from tests.waiting import eventually

if TYPE_CHECKING:
    from redis.asyncio import Redis

SIZES = [(80, 24), (120, 40)]
both_sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
SOLVED = golden_game("freecell", 617, "safe")
GAME = "one-suit"
DAY = 86_400_000


async def today_is(deal: int, house: House, redis_client: Redis) -> list[str]:
    """Makes a deal today's, and tells the moves that win it."""
    day = day_of(house.node.services.store.clock.now())
    await redis_client.hset(keys.daily(day.isoformat(), GAME), "secret", f"{deal}:{'0' * 32}")
    return stocked_game(GAME, deal)


async def play_daily(house: House, name: str, moves: list[str], *, bot: bool = False) -> Connection:
    """Somebody who has played today's challenge; where the moves do not win it, conceded."""
    player = await house.player(name, bot=bot)
    race = (await player.start_daily(GAME)).race
    await player.move(race, *moves)
    if not (view := player.view(race)).ended and (view.game is None or not view.game.won):
        await player.concede(race)
    await player.view_where(race, lambda view: view.ended)
    return player


async def seen(player: Connection, variant: str = GAME) -> None:
    """Waits until the day knows the place of a player."""
    while (you := (await player.daily(variant)).you) is None or you.place is None:
        pass


def late_today(house: House, name: str = "Ann") -> None:
    """Lets a player's clock stand at 17:36:49 of this UTC day."""
    now = house.node.services.store.clock.now()
    house.at[name] = now - now % DAY + 63_409_000


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """No day ends while a test looks at one."""
    PassingTime(monkeypatch).jump_to_noon()


@both_sizes
async def test_the_daily_is_seen_begun_and_ranked(house: House, redis_client: Redis, size: tuple[int, int]) -> None:
    """What it is, the time left, the board; Enter says that it counts and begins; then one's own row stands there."""
    moves = await today_is(load_stock(GAME).numbers[0], house, redis_client)
    await seen(await play_daily(house, "Bob", moves))
    await seen(await play_daily(house, "Robo", moves[:4], bot=True))
    late_today(house)
    screen = await house.screen(size=size)
    await screen.press("d", "up")
    await screen.shows("6:23:11 left", "Bob", "2 players have begun", "It counts once")
    await screen.is_as("daily")
    await screen.press("enter")
    await screen.shows("It is the one that")
    del house.at["Ann"]
    await screen.press("enter")
    await screen.shows("u undo")
    view = await screen.until(lambda view: view.playing)
    assert view.kind is RaceKind.DAILY
    await screen.press("f2")
    await screen.shows("There are no hints in a daily challenge.")
    await screen.connection.move(view.race, *moves)
    await screen.shows("The race is over", "d the day")
    late_today(house)
    await screen.press("d")
    await screen.shows("You have won it", "Your streak: 1 day", "Ann (you)")
    await screen.is_as("daily-won")
    await screen.press("tab", "down", "enter")
    await screen.shows("Watch the replay", "Race against this game")
    await screen.press("down", "enter")
    await screen.shows("still a secret")
    await screen.press("escape")
    await screen.shows("The race is over")


async def test_an_attempt_that_goes_on_is_gone_on_with(house: House) -> None:
    """From the lobby, and nothing is asked again."""
    screen = await house.screen()
    race = (await screen.connection.start_daily("freecell")).race
    await screen.press("d")
    await screen.shows("Your attempt goes on", "Enter go on")
    await screen.press("enter")
    await screen.shows("u undo")
    assert [view.race for view in screen.connection.races.values()] == [race]


async def test_published_days_are_practised(house: House) -> None:
    """Arrows go from day to day; Enter deals a published one again."""
    store = house.node.services.store
    secret = await store.daily.secret(day_of(store.clock.now() - 2 * DAY), "freecell")
    await store.daily.secret(day_of(store.clock.now() - DAY), "freecell")
    screen = await house.screen()
    await screen.press("d")
    await screen.shows("It counts once")
    await screen.press("right")
    await screen.shows("Tomorrow's deal is a secret")
    await screen.press("left")
    await screen.shows_not("It counts once")
    await screen.press("left")
    await screen.shows(f"Its deal was {secret.deal}", "published", "Enter practise")
    await screen.press("left")
    await screen.shows("There is no daily challenge of")
    await screen.press("enter")
    await screen.shows("u undo", f"deal {secret.deal}")


async def race_of_four(house: House) -> RaceView:
    """A ranked race: Bob wins, then Cy, Di concedes, and Ro, a bot, gives up; on every board."""
    players = [await house.player(name, bot=name == "Ro") for name in ("Bob", "Cy", "Di", "Ro")]
    race = (await players[0].create(SettingsRequest(variant=GAME, seats=4, countdown=0))).race
    for player in players[1:]:
        await player.join(race)
    for player in players:
        await player.ready(race)
    views = [await player.view_where(race, lambda view: view.playing) for player in players]
    assert views[0].dealt is not None
    moves = stocked_game(GAME, views[0].dealt.deal or 0)
    await players[0].move(race, *moves)
    await players[1].move(race, *moves)
    await players[2].concede(race)
    await players[3].forfeit(race)
    view = await players[0].view_where(race, lambda view: view.ended)
    await house.settled(race)
    return view


@both_sizes
async def test_boards_lead_to_profiles_and_games(house: House, size: tuple[int, int]) -> None:
    """Each board with its rows; the player who is picked has a profile, its races have replays."""
    await race_of_four(house)
    screen = await house.screen(size=size)
    screen.app.desk.variant = GAME
    await screen.press("l")
    await screen.shows("Ratings, One Suit", "Ro (bot)", "4 players")
    await screen.is_as("boards")
    await screen.press("b")
    await screen.shows("3 players", "with bots")
    await screen.press("right")
    await screen.shows("Fastest wins of ranked races", "2 players")
    await screen.press("enter", "enter")
    await screen.shows("Bob, here since", "Last races", "Cy, Di, Ro (bot)")
    await screen.is_as("profile")
    await screen.press("o")
    await screen.shows("Which player?", "Di")
    await screen.press("escape", "enter")
    await screen.shows("Bob: One Suit, deal", "Verified")
    await screen.press("escape", "escape", "escape")
    await screen.shows("What now?")


async def test_boards_have_pages_and_an_own_row(house: House) -> None:
    """As many rows as there is room for; one's own below them, or in the middle of a page."""
    names = [f"P{number:02d}" for number in range(7)]
    players = [await house.player(name) for name in names]
    race = (await players[0].create(alone(seats=7))).race
    for player in players[1:]:
        await player.join(race)
    for player in players:
        await player.ready(race)
    for player in players:
        await player.view_where(race, lambda view: view.playing)
        await player.move(race, *SOLVED)
    await players[0].view_where(race, lambda view: view.ended)
    await house.settled(race)
    screen = await house.screen("P06", (80, 11), connection=players[6])
    await screen.press("l", "right", "right")
    await screen.shows("press d and type the number")
    await screen.press("d", *"617", "enter")
    await screen.shows("places 1 to 3", "P00", "…", "P06 (you)")
    assert keys_without_room(screen) == []
    await screen.press("pagedown")
    await screen.shows("places 4 to 6", "P03", "P06 (you)")
    await screen.press("pagedown")
    await screen.shows("place 7")
    await screen.press("t")
    await screen.shows("places 1 to 3")
    await screen.press("o")
    await screen.shows("places 6 to 7", "P06 (you)")
    await screen.press("d", *"today", "enter")
    await screen.shows("A deal is a number")
    await screen.press("left", "left", "left", "left")
    await screen.shows("[daily]", "The daily of today, FreeCell")
    await screen.press("d", *"2001-01-01", "enter")
    await screen.shows("There was no daily challenge of 2026-01-31")


@both_sizes
async def test_waiting_for_a_stranger(house: House, size: tuple[int, int]) -> None:
    """For how long, who will do by now, and that a bot will; what is wanted can be changed meanwhile."""
    house.at["Ann"] = at = house.node.services.store.clock.now()
    screen = await house.screen(size=size)
    await screen.press("q")
    await screen.shows("Waiting for a rival; nobody else waits yet", "up to 100 away", "In 10 seconds a bot will do")
    house.at["Ann"] = at + 7_000
    await screen.look()
    await screen.shows("In 3 seconds a bot will do")
    await screen.is_as("queue")
    house.at["Ann"] = at + 50_000
    await screen.look()
    await screen.shows("any rating", "A bot will do now")
    await screen.press("b", "right")
    await screen.shows("People only", "Marseille", "Waiting for a rival; nobody else waits yet")
    await screen.press("left")
    bob = await house.player("Bob")
    await bob.queue("freecell")
    await screen.shows("FreeCell", "Bob")
    assert (await screen.until(lambda view: view.me is not None)).settings.ranked


async def test_a_drop_ends_no_waiting(house: House) -> None:
    """The queue that was left by it is joined again, and leads to a race."""
    async with relay(house.port) as wire:
        connection = await house.stack.enter_async_context(connect(f"ws://127.0.0.1:{wire.port}/ws", name="Ann"))
        screen = await house.screen(connection=connection)
        await screen.press("q")
        await screen.shows("Waiting for a rival; nobody else waits yet")
        wire.cut()
        await screen.shows("Coming back")
        wire.mend()
        await screen.shows_not("Coming back")
        await screen.shows("Waiting for a rival; nobody else waits yet")
        bob = await house.player("Bob")
        await bob.queue("freecell")
        await screen.shows("The race starts in", "Bob")


async def raced(house: House, size: tuple[int, int] = (80, 24)) -> Screen:
    """Ann at the standings of a race that Bob has won."""
    bob = await house.player("Bob")
    screen = await house.at_play(alone(seats=2), bob, size=size)
    del house.at["Ann"]
    race = next(iter(screen.connection.races))
    await bob.move(race, *SOLVED)
    await screen.connection.move(race, *SOLVED[:20])
    await screen.connection.concede(race)
    await screen.shows("The race is over", "Bob")
    return screen


@both_sizes
async def test_a_replay_is_stepped_run_and_raced_against(
    house: House, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """From the standings: forward and back, at any speed, verified; then a race against it as a ghost."""
    monkeypatch.setattr(picking, "COUNTDOWN", 0)
    screen = await raced(house, size)
    await screen.press("v")
    await screen.shows("Which player?")
    await screen.press("down", "enter")
    await screen.shows("Bob: FreeCell, deal 617", "0/56", "Verified: deal, moves, result")
    await screen.press("right", "right", "left", "pagedown", "plus")
    await screen.shows("11/56", "×2")
    await screen.is_as("replay")
    if size != SIZES[0]:
        return
    await screen.press("v")
    await screen.shows("What was checked", "The signature is that of this very replay.")
    await screen.press("escape", "home")
    await screen.shows("0/56", "space runs it")
    await screen.press("plus", "plus", "space")
    await screen.shows("56/56", "Bob has won in", "paused ×8")
    await screen.click_at("#bar", size[0] // 2)
    await screen.shows_not("56/56")
    await screen.press("g")
    await screen.shows("Bob (ghost)", "u undo")
    view = await screen.until(lambda view: view.playing)
    assert (view.settings.deal, view.settings.ranked, view.settings.seats) == (617, False, 1)


async def test_a_replay_does_not_run_on_while_the_program_is_stopped(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has seen what would have been shown meanwhile."""
    screen = await house.screen()
    made = won_replay("two-suit", 3)
    film = Film(made)
    shown = replay.ReplayScreen(screen.app.desk, read_replay(msgspec.json.encode(made)), film)
    screen.app.call_later(screen.app.enter, shown)
    await screen.shows("space runs it")
    at = 1000.0
    monkeypatch.setattr(replay, "time", SimpleNamespace(monotonic=lambda: at))
    await screen.press("space")
    at += 3600.0
    await eventually(lambda: film.at)
    assert film.at == 1000.0


async def test_replays_are_saved_and_found_again(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file that is not written over; by one's own last races, by race and name, from the file."""
    monkeypatch.chdir(tmp_path)
    screen = await raced(house)
    race = next(iter(screen.connection.races))
    await screen.press("escape", "r")
    await screen.shows("2 of 2: conceded", "Bob")
    await screen.press("i", *f"{race} bob", "enter")
    await screen.shows("Bob: FreeCell, deal 617")
    await screen.press("s", "ctrl+u", *"b.json", "enter")
    await screen.shows("Saved. Anyone can check it with: cellrace verify b.json")
    assert read_replay_file(tmp_path / "b.json").replay.name == "Bob"
    await screen.press("s", "ctrl+u", *"b.json", "enter")
    await screen.shows("There is a file of this name already.")
    forge(tmp_path / "b.json", tmp_path / "c")
    await screen.press("escape", "f", "c", "enter")
    await screen.shows("Eve?: FreeCell, deal 617", "Not verified: The signature is not that of this replay")
    await screen.press("escape", "f", "d", "enter")
    await screen.shows("The file cannot be read")


def forge(path: Path, to: Path) -> None:
    """Writes the replay of another name, which would be obeyed by a terminal."""
    to.write_bytes(path.read_bytes().replace(b'"name":"Bob"', b'"name":"Eve\\u001b"'))


async def test_a_race_that_begins_leads_away_from_everything(house: House) -> None:
    """Whoever looks at a replay is left at it by what others do, and led to the race that they are in."""
    screen = await raced(house)
    race = next(iter(screen.connection.races))
    await screen.press("v", "enter")
    await screen.shows("Ann: FreeCell, deal 617")
    await screen.connection.rematch(race)
    await screen.until(lambda view: view.successor is not None, race)
    await screen.shows("Ann: FreeCell, deal 617", "0/20")
    await screen.press("escape")
    await screen.shows("A rematch is open")
    await screen.press("p", "down", "enter", "enter")
    await screen.shows("Bob, here since", "1 of 2")
    await screen.press("escape", "r")
    view = await screen.until(lambda view: view.parent == race and view.state is RaceState.OPEN)
    assert view.code
    await screen.shows("Tell a friend the code")


WORDS = {
    "uk": {
        "daily": ("Щоденне змагання", "Таблиця дня", "залишилося 6:23:11", "не почато"),
        "question": ("Почати сьогоднішню спробу", "Не зараз (n)"),
        "queue": ("Швидка гра", "більше поки ніхто не чекає", "підійде й бот"),
        "boards": ("Таблиці", "[рейтинги]", "Рейтинги, Одна масть", "місця 1–4"),
        "profile": ("Bob, тут із", "Останні перегони", "Перемоги"),
        "replay": ("Bob: Одна масть, роздача", "Перевірено:", "пробіл — пуск"),
        "replays": ("Записи ігор", "завершених перегонів ще немає"),
    },
    "ru": {
        "daily": ("Ежедневное состязание", "Таблица дня", "осталось 6:23:11", "не начато"),
        "question": ("Начать сегодняшнюю попытку", "Не сейчас (n)"),
        "queue": ("Быстрая игра", "больше пока никто не ждёт", "подойдёт и бот"),
        "boards": ("Таблицы", "[рейтинги]", "Рейтинги, Одна масть", "места 1–4"),
        "profile": ("Bob, здесь с", "Последние гонки", "Победы"),
        "replay": ("Bob: Одна масть, раздача", "Проверено:", "пробел — пуск"),
        "replays": ("Записи игр", "оконченных гонок пока нет"),
    },
}


@pytest.mark.parametrize("lang", WORDS)
async def test_the_competition_is_told_in_one_language(house: House, lang: str) -> None:
    """Every screen of it, and with room for all keys at 80 columns."""
    speak(lang)
    words = WORDS[lang]
    await race_of_four(house)
    late_today(house)
    screen = await house.screen()
    await screen.press("d")
    await screen.shows(*words["daily"])
    await is_translated(screen, f"daily-{lang}")
    await screen.press("enter")
    await screen.shows(*words["question"])
    await is_translated(screen)
    await screen.press("escape", "escape", "q")
    await screen.shows(*words["queue"])
    await is_translated(screen, f"queue-{lang}")
    screen.app.desk.variant = GAME
    await screen.press("escape", "r")
    await screen.shows(*words["replays"])
    await is_translated(screen)
    await screen.press("escape", "l")
    await screen.shows(*words["boards"])
    await is_translated(screen, f"boards-{lang}")
    for _board in range(len(BOARDS)):
        await screen.press("right")
        await is_translated(screen)
    await screen.shows(*words["boards"])
    await screen.press("enter", "enter")
    await screen.shows(*words["profile"])
    await is_translated(screen, f"profile-{lang}")
    await screen.press("enter")
    await screen.shows(*words["replay"])
    assert english_left(screen.text) == {"UTC"}
    assert keys_without_room(screen) == []
