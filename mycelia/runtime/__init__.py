"""Compiling and running: the pipeline, the cache, memory, threads, libraries.

MindSpore has streams and memory under this name (`ms.runtime.synchronize`): they are found here too.
"""
