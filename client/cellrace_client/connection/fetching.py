"""What a server answers over plain HTTP, for those who need no player there."""

from __future__ import annotations

from http.client import HTTPException
from ssl import SSLCertVerificationError
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import msgspec

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import RaceAnswer
from cellrace_client.connection.address import server_url
from cellrace_client.connection.wire import untrusted, unwelcome, why_unreachable
from cellrace_client.errors import Unreachable
from cellrace_client.language import _

PATIENCE = 10.0
"""Seconds in which a server must answer."""
LARGEST = 8 * 1024 * 1024
"""The most bytes of an answer; a replay of 20,000 entries has a twentieth of that."""


class _HttpError(msgspec.Struct):
    code: str
    message: str


def http_url(server: str, path: str) -> str:
    """Where a path of a server is, whose address a person has typed."""
    scheme, _, place = server_url(server).removesuffix("/ws").partition("://")
    return f"{'https' if scheme == 'wss' else 'http'}://{place}{path}"


def fetch(server: str, path: str) -> bytes:
    """The answer to a GET; waits for it. Raises Refused, Unreachable."""
    url = http_url(server, path)
    try:
        request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - the scheme is http or https
        with urlopen(request, timeout=PATIENCE) as response:  # noqa: S310 - the request above: http or https
            answer: bytes = response.read(LARGEST + 1)
    except HTTPError as refused:
        raise _refusal(url, refused) from refused
    except (OSError, HTTPException, ValueError) as failed:
        # A socket's error tells its reason, a URLError has it inside.
        reason = getattr(failed, "reason", failed)
        if isinstance(reason, SSLCertVerificationError):
            raise untrusted(url, reason) from reason
        raise Unreachable(url, why_unreachable(reason)) from failed
    if len(answer) > LARGEST:
        raise Unreachable(url, _("it answers more than {most} bytes").format(most=LARGEST))
    return answer


def player_of_name(server: str, race: str, name: str) -> str | None:
    """The id of somebody who is in a race under a name; waits for it. Raises Refused, Unreachable."""
    try:
        answer = msgspec.json.decode(fetch(server, f"/api/v1/races/{quote(race, safe='')}"), type=RaceAnswer)
    except msgspec.DecodeError:
        return None
    names = {entrant.player.name.casefold(): entrant.player.id for entrant in answer.entrants if not entrant.ghost}
    return names.get(name.casefold())


def _refusal(url: str, refused: HTTPError) -> Refused | Unreachable:
    try:
        told = msgspec.json.decode(refused.read(LARGEST), type=_HttpError)
        after = refused.headers.get("Retry-After") or ""
        wait = int(after) * 1000 if after.isascii() and after.isdigit() else None
        return Refused(ErrorCode(told.code), told.message, retry_after=wait)
    except (OSError, HTTPException, ValueError):  # What msgspec cannot read is a ValueError, an unknown code too.
        return unwelcome(url, refused.code)
