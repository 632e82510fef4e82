"""Keys by their place: what was typed on a Cyrillic layout, as the Latin letters on the same keys. Pure."""

from __future__ import annotations

_CYRILLIC = "йцукенгшщзфывапролдячсмитьіїґ"
_LATIN = "qwertyuiopasdfghjklzxcvbnms]\\"
_BY_PLACE = str.maketrans(_CYRILLIC + _CYRILLIC.upper(), _LATIN + _LATIN.upper())


def latin_by_place(text: str) -> str:
    """The text as its keys would have given it on a Latin layout: `3ф` is `3a`."""
    return text.translate(_BY_PLACE)
