"""The screens, one for each thing that a player does."""
