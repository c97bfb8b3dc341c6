"""Nothing here is a test: these are programs that other frameworks run too, and import each other."""

collect_ignore_glob = ["*.py"]
