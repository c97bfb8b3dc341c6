"""Compiling and running: the pipeline, the cache, memory, threads, libraries."""
