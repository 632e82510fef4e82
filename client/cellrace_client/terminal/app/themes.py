"""The colours around the cards: those of a table, and those with the most contrast."""

from __future__ import annotations

from textual.theme import Theme

THEMES = (
    Theme(
        name="table",
        primary="#6fae8f",
        secondary="#86a894",
        accent="#ffd24d",
        warning="#e0a030",
        error="#ff7b72",
        success="#7fd18b",
        foreground="#e8ece9",
        background="#121a16",
        surface="#18231d",
        panel="#22332a",
        dark=True,
    ),
    Theme(
        name="contrast",
        primary="#ffffff",
        secondary="#ffffff",
        accent="#ffff00",
        warning="#ffff00",
        error="#ff8080",
        success="#00ff66",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#202020",
        dark=True,
    ),
)
