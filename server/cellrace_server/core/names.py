"""Names that players choose: what is allowed, and when two are the same (RFC 8266, and the protocol's section 2)."""

from __future__ import annotations

import unicodedata

from msgspec import Struct
from precis_i18n import get_profile

from cellrace.errors import ErrorCode, Refused

SHORTEST = 2
LONGEST = 20

_SHOWN = get_profile("NicknameCasePreserved")
_COMPARED = get_profile("NicknameCaseMapped")
_FORBIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
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
    if any(unicodedata.category(c) in _FORBIDDEN_CATEGORIES for c in shown):
        raise Refused(ErrorCode.BAD_NAME)
    return Name(shown, folded)
