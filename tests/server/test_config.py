"""The settings of a node: each an option with its limits, each an environment variable, each with effect."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import get_args

import pytest
from click import Command
from click.testing import CliRunner
from msgspec.structs import fields

from cellrace_client.cli.administering import admin
from cellrace_client.cli.serving import serve
from cellrace_server.config import Bounds, Config
from cellrace_server.net.hosts import check_host
from tests.story.players import table
from tests.story.servers import Servers, servers

BOUNDS = fields(Bounds)


def option(name: str) -> str:
    return "--" + name.replace("_", "-")


def test_what_the_protocol_says_is_the_default() -> None:
    bounds = Bounds()
    assert (bounds.frame_bytes, bounds.hello_seconds) == (16 * 1024, 10)
    assert (bounds.burst, bounds.per_second, bounds.bad_frame_cost, bounds.rate_limited_per_minute) == (60, 30, 5, 100)
    assert (bounds.merge_bytes, bounds.evict_bytes, bounds.evict_seconds) == (64 * 1024, 256 * 1024, 5)
    assert (bounds.log_entries, bounds.ping_seconds) == (20_000, 10)
    config = Config()
    assert (config.host, config.port, config.redis) == ("127.0.0.1", 8765, None)


@pytest.mark.parametrize("field", BOUNDS, ids=lambda field: field.name)
def test_each_bound_is_told_by_help_with_its_default(field: object) -> None:
    help_text = " ".join(CliRunner().invoke(serve, ["--help"], terminal_width=200).output.split())
    name, default = getattr(field, "name", ""), getattr(field, "default", None)
    told = re.search(rf"{option(name)} [A-Z ]+ (.*?)(?= --|$)", help_text)
    assert told
    assert str(default) in told[1]


@pytest.mark.parametrize("field", BOUNDS, ids=lambda field: field.name)
def test_a_bound_out_of_its_limits_is_a_wrong_use(field: object) -> None:
    _, meta = get_args(getattr(field, "type", None))
    for number in (meta.ge - 1, 10**24):
        result = CliRunner().invoke(serve, [option(getattr(field, "name", "")), str(number)])
        assert result.exit_code == 2
        assert "not in the range" in result.output


@pytest.mark.parametrize(
    "word", ["--port=70000", "--port=x", "--workers=0", "--log-level=loud", "--certificate=nowhere"]
)
def test_other_options_are_checked_as_well(word: str) -> None:
    assert CliRunner().invoke(serve, [word]).exit_code == 2


@pytest.mark.parametrize(
    "host", ["localhost:80", "http://localhost", "a..b", "a b", "256.1.1.1", "-x", "a/b", "[::1]", "x" * 64]
)
def test_what_can_be_no_address_is_a_wrong_use(host: str) -> None:
    """And is told how to write one; whether there is one of that name is for the system to say."""
    result = CliRunner().invoke(serve, [f"--host={host}"])
    assert result.exit_code == 2
    assert "no name or address of a machine. Write one alone" in result.output


@pytest.mark.parametrize("host", ["", "::", "0.0.0.0", "fe80::1%eth0", "races.example.", "my_box", "пошта.укр"])  # noqa: S104 - nothing listens
def test_addresses_and_names_of_machines_are_taken(host: str) -> None:
    assert check_host(host) == host


@pytest.mark.parametrize("command", [serve, admin])
@pytest.mark.parametrize(
    "url",
    ["localhost", "http://localhost", "redis://h:x", "redis://h?bogus=1", "redis+sentinel://a", "redis://h:99999"],
)
def test_what_can_name_no_store_is_a_wrong_use(command: Command, url: str) -> None:
    """Nobody is asked for it."""
    arguments = [f"--redis={url}"] if command is serve else [f"--redis={url}", "history"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert "names no store" in result.output
    assert "Write redis://HOST:PORT" in result.output


def test_a_place_where_nobody_can_listen_is_a_failure(store_url: str) -> None:
    """Told with what the system says of it."""
    result = CliRunner().invoke(serve, ["--host=192.0.2.1", "--port=0", f"--redis={store_url}", "--pool=0"])
    assert result.exit_code == 1
    why = os.strerror(errno.EADDRNOTAVAIL)
    assert f"Error: Cannot listen on 192.0.2.1:0 ({why}). Choose another" in result.output


@pytest.mark.parametrize("number", ["nan", "inf"])
@pytest.mark.parametrize("name", ["per_second", "hello_seconds", "keep_days"])
def test_a_number_that_is_none_or_endless_is_a_wrong_use(name: str, number: str) -> None:
    result = CliRunner().invoke(serve, [option(name), number])
    assert result.exit_code == 2
    assert "not in the range" in result.output


def test_a_key_without_a_certificate_is_a_wrong_use(tmp_path: Path) -> None:
    """Rather than ws:// where somebody believes in wss://."""
    key = tmp_path / "key.pem"
    key.touch()
    result = CliRunner().invoke(serve, ["--key", str(key)])
    assert result.exit_code == 2
    assert "--certificate" in result.output


async def test_options_and_environment_variables_reach_the_players(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option goes before the variable of its name."""
    for name, value in {"BURST": "77", "PER_SECOND": "11", "HELLO_SECONDS": "4.5", "NODE": "from-env"}.items():
        monkeypatch.setenv(f"CELLRACE_{name}", value)
    house: Servers
    async with servers(tmp_path) as house:
        server = await house.start("--burst", "99", "--bad-frame-cost", "7", "--log-entries", "500")
        async with table(server.url) as seats:
            welcome = (await seats.player("Ann")).welcome
    limits = welcome["limits"]
    assert (limits["burst"], limits["per_second"], limits["bad_frame_cost"]) == (99, 11, 7)
    assert (limits["hello_within"], limits["log_entries"]) == (4500, 500)
    assert welcome["node"] == "from-env"
