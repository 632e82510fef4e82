"""The deterministic simulation: real nodes, a model of the store, players; one thread, one seed, no real clock."""
