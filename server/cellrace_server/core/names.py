"""Names that players choose: what is allowed, and when two are the same (RFC 8266, and the protocol's section 2)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from msgspec import Struct
from precis_i18n import get_profile

from cellrace.errors import ErrorCode, Refused

SHORTEST = 2
LONGEST = 20
"""How many characters a name has at least and at most."""

_SHOWN = get_profile("NicknameCasePreserved")
_COMPARED = get_profile("NicknameCaseMapped")
_FORBIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_MARKS = frozenset(("Mn", "Me"))
_MARKS_IN_A_ROW = 4
"""As UTS 39 has it (5.4): with more, a letter grows over the lines above and below."""
_BLANK = "\u2800"  # A symbol by its category, and shown as nothing.


class Name(Struct, frozen=True):
    """A name as others see it, and the form in which names are compared."""

    shown: str
    folded: str


def parse_name(text: str, longest: int = LONGEST) -> Name:
    """The name of a text after normalisation, `longest` characters at most. Raises Refused with `bad_name`."""
    try:
        shown = _SHOWN.enforce(text)
        folded = _COMPARED.enforce(shown)
    except UnicodeError:
        raise Refused(ErrorCode.BAD_NAME) from None
    seen = shown.replace(_BLANK, "")
    if not SHORTEST <= len(seen) <= len(shown) <= LONGEST:
        raise Refused(ErrorCode.BAD_NAME)
    if len(shown) > longest:
        raise Refused(ErrorCode.BAD_NAME, f"A name has at most {longest} characters here.")
    categories = [unicodedata.category(c) for c in shown]
    if not _FORBIDDEN_CATEGORIES.isdisjoint(categories) or _is_piled(categories):
        raise Refused(ErrorCode.BAD_NAME)
    return Name(shown, folded)


def _is_piled(categories: Sequence[str]) -> bool:
    """Whether marks are piled up, or stand on what comes before the name."""
    if categories[0] in _MARKS:
        return True
    return any(
        _MARKS.issuperset(categories[i : i + _MARKS_IN_A_ROW + 1]) for i in range(len(categories) - _MARKS_IN_A_ROW)
    )
