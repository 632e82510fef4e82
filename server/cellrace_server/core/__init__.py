"""What a race decides, as pure functions over frozen values; time is an argument."""
