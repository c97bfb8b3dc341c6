"""Plans: immutable steps that say what a pipeline does; each becomes a table or a stream of `flow`."""
