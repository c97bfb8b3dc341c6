"""Running plans: pipelines with workers, iterators with positions, what is measured, shown and written."""
