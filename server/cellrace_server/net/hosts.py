"""Hosts, proxies and origins as an operator writes them; what can be none is refused."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+){3}")
_ORIGIN = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def check_host(text: str) -> str:
    """The name or address of a machine as it was written. Raises ValueError where it can be neither."""
    if text and not (_is_address(text) or _is_name(text)):  # Empty it stands for all addresses.
        raise ValueError(f"{text!r} is no name or address of a machine")
    return text


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_name(text: str) -> bool:
    try:
        name = text.encode("idna").decode()
    except UnicodeError:
        return False
    return _NAME.fullmatch(name) is not None and not _NUMBERS.fullmatch(name)


def check_proxy(text: str) -> str:
    """The address or network of a proxy as it was written. Raises ValueError."""
    ip_network(text, strict=False)
    return text


def check_origin(text: str) -> str:
    """The origin of web pages as browsers send it: nothing else would ever be equal to one. Raises ValueError."""
    wanted = text.lower().removesuffix("/")
    told = _ORIGIN.fullmatch(wanted)
    if wanted == "null":
        return wanted
    if told is None:
        raise ValueError(f"{text!r} is no origin")
    return wanted.removesuffix(_DEFAULT_PORTS.get(told["scheme"], ""))
