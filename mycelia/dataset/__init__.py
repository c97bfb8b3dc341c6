"""The data engine: from files to batches."""
