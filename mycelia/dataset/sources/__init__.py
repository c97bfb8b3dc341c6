"""Sources of rows: objects in memory, and files of every kind, here or behind addresses."""
