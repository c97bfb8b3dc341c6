"""MindSpore's name for what checks arguments."""
