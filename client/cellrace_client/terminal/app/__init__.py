"""The full-screen client, in Textual over the same connection and view as the line client.

deck, held, keys, hand      cards, what is picked up, what keys and clicks ask for
liking, themes              how somebody likes the screen, kept; the colours around the cards
board_layout, board_painter where piles lie and how they are drawn
ahead, own_game             one's own moves, shown before the server answers
bars, clock, steps, hints, settings_form, settings_words, watched
rows, day_lines, day_book   leaderboards, profiles and days in the width there is
film                        a replay that runs at any speed, and back
desk, rivals                what the screens share
widgets, screens, app       Textual
"""
