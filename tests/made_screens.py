"""The pictures of our pages: `python -m tests.made_screens`, or `make screens`, draws them from a real race.

The same players, deal and moves each time; what the clock alone decides stands still.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from cellrace.messages import SettingsRequest
from cellrace_client.connection import Connection, connect
from cellrace_client.own_server import own_server
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.app import CellraceApp
from cellrace_client.terminal.app.desk import Taste
from cellrace_client.thinker import Thinker
from tests.client.app.screen_text import screen_text
from tests.story.solved_games import golden_game
from tests.waiting import eventually

FOLDER = Path(__file__).parent.parent / "docs" / "screens"
SIZE = (100, 30)
SOLVED = golden_game("freecell", 617, "safe")
RIVALS = (("Bob", 44), ("Chen", 38), ("Robo", 52), ("Dasha", 20))
OWN_MOVES = 40
DAILY = (3, 20, 6, 45)
"""How many moves each rival's attempt at the daily stops before the end; winning at once would look like cheating."""
UNTIL_THEN = 63_409_000
"""How long a day has lasted when its picture is drawn, ms."""
SINCE_START = 83_400
PLACE = re.compile(r"127\.0\.0\.1:\d{5}")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
SHOWN_PLACE = "192.0.2.10:8765"
"""As long as the place it stands for, so that the line keeps its width."""
FONTS = 'font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace'


@asynccontextmanager
async def shown(connection: Connection, at: int | None, race: str | None) -> AsyncIterator[CellraceApp]:
    """The app at a race clock that stands still."""
    app = CellraceApp(connection, race=race, taste=Taste(steps=False), now=(lambda: at) if at is not None else None)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        yield app
    await app.desk.close()


def draw(app: CellraceApp, name: str) -> None:
    """Writes the screen as a picture, with fonts of the reader's own."""
    svg = app.export_screenshot(title="cellrace")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = DATE.sub("2026-01-31", svg)
    svg = PLACE.sub(SHOWN_PLACE, svg.replace("font-family: Fira Code, monospace", FONTS))
    svg = "\n".join(line.rstrip() for line in svg.splitlines() if line.strip())
    (FOLDER / f"{name}.svg").write_text(f"{svg}\n", encoding="utf-8")


async def press(app: CellraceApp, *keys: str) -> None:
    """Presses keys."""
    from textual.pilot import Pilot

    pilot: Pilot[object] = Pilot(app)  # type: ignore[arg-type] # what the app returns does not matter here
    await pilot.press(*keys)
    await pilot.pause()


async def shows(app: CellraceApp, *words: str) -> None:
    """Waits for words."""
    await eventually(lambda: all(word in screen_text(app) for word in words), 20)


async def main() -> None:
    """Draws all of them."""
    FOLDER.mkdir(exist_ok=True)
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(own_server())
        ann = await stack.enter_async_context(connect(url, name="Ann"))
        rivals = [await stack.enter_async_context(connect(url, name=name, bot=name == "Robo")) for name, _ in RIVALS]
        await draw_lobby(ann, rivals)
        view = await begin(ann, rivals)
        await draw_race(ann, rivals, view)
        await draw_watching(stack, url, view)
        await draw_standings(ann, rivals, view)
        await draw_daily(ann, rivals)


async def draw_lobby(ann: Connection, rivals: list[Connection]) -> None:
    """The lobby with some open races."""
    bob, chen, robo, dasha = rivals
    races = [
        (bob, await bob.create(SettingsRequest(seats=4))),
        (chen, await chen.create(SettingsRequest(variant="six-by-six"))),
        (dasha, await dasha.create(SettingsRequest(variant="marseille", seats=8))),
    ]
    await robo.join(races[2][1].race)
    async with shown(ann, None, None) as app:
        await shows(app, "Bob", "Chen", "Dasha")
        draw(app, "lobby")
    await robo.leave(races[2][1].race)
    for host, race in races:
        await host.leave(race.race)


async def begin(ann: Connection, rivals: list[Connection]) -> RaceView:
    """A race in which the rivals are on their way."""
    settings = SettingsRequest(deal=617, seats=len(rivals) + 1, countdown=0, spectate="live")  # type: ignore[arg-type]
    race = (await ann.create(settings)).race
    for rival in rivals:
        await rival.join(race)
        await rival.ready(race)
    await ann.ready(race)
    for player in (ann, *rivals):
        await player.view_where(race, lambda view: view.playing)
    for rival, (_, count) in zip(rivals, RIVALS, strict=True):
        await rival.move(race, *SOLVED[:count])
    await ann.move(race, *SOLVED[:OWN_MOVES])
    counts = sorted((OWN_MOVES, *(count for _, count in RIVALS)))
    return await ann.view_where(race, lambda view: sorted(one.moves for one in view.entrants) == counts)


async def draw_race(ann: Connection, rivals: list[Connection], view: RaceView) -> None:
    """One's own board with a card picked up, and everybody's bars."""
    async with shown(ann, (view.start_at or 0) + SINCE_START, view.race) as app:
        await shows(app, "1:23", *(rival.player.name for rival in rivals))
        await press(app, "2")
        draw(app, "race")


async def draw_watching(stack: AsyncExitStack, url: str, view: RaceView) -> None:
    """Three boards side by side."""
    eve = await stack.enter_async_context(connect(url, name="Eve"))
    await eve.watch(view.race)
    async with shown(eve, (view.start_at or 0) + SINCE_START, view.race) as app:
        await shows(app, "1:23", "Bob", "Ann")
        draw(app, "watching")
    await eve.unwatch(view.race)


async def draw_standings(ann: Connection, rivals: list[Connection], view: RaceView) -> None:
    """How the race ended."""
    await ann.move(view.race, *SOLVED[OWN_MOVES:])
    await rivals[2].move(view.race, *SOLVED[RIVALS[2][1] :])
    for rival in (rivals[0], rivals[1]):
        await rival.concede(view.race)
    await rivals[3].forfeit(view.race)
    await ann.view_where(view.race, lambda now: now.ended)
    async with shown(ann, None, view.race) as app:
        await shows(app, "Undos", "won the race")
        draw(app, "standings")


async def draw_daily(ann: Connection, rivals: list[Connection]) -> None:
    """The daily challenge of a day on which others have made their attempts."""
    thinker = Thinker()
    for rival, missing in zip(rivals, DAILY, strict=True):
        view = await rival.start_daily()
        assert view.game is not None, "an attempt runs from the beginning"
        solution = await thinker.solve(view.game.board)
        assert solution is not None, "the deal of a day can be won"
        await rival.move(view.race, *solution.safe_moves[: len(solution.safe_moves) - missing])
        await rival.concede(view.race)
        while (you := (await rival.daily()).you) is None or you.place is None:
            pass
    await thinker.close()
    now = (await ann.daily()).opens_at + UNTIL_THEN
    async with shown(ann, now, None) as app:
        await press(app, "d")
        await shows(app, "Dasha", "It counts once")
        draw(app, "daily")


if __name__ == "__main__":
    asyncio.run(main())
