"""Where and when: the memory plan of a program."""

from mycelia.schedule.memory import buffer_bytes, plan_memory

__all__ = ["buffer_bytes", "plan_memory"]
