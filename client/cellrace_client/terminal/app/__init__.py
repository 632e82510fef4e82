"""The full-screen client, in Textual over the same connection and view as the line client.

deck, held, keys, hand          cards, what is picked up, what keys and clicks ask for
liking, themes, plain_marks     how somebody likes the screen, kept; what is around the cards, in colours or in ASCII
board_layout, board_painter     where piles lie and how they are drawn
ahead, own_game, steps          one's own moves, shown before the server answers, card by card
watched, film                   the games of others as they come in; a replay that runs at any speed, and back
fitting, bars, clock            text in the width there is, entrants as bars, times as they are counted
rows, lobby_lines, day_lines    leaderboards, profiles, races and days as lines
settings_form, settings_words   the settings of a new race
day_book, rivals, desk          what is known of a day, bots that were called, what all screens share
trouble                         what is wrong with the connection
widgets, screens                what is drawn, and what there is to be seen
tasting, app, running           the app itself: its looks, its screens, its run on a terminal
"""
