"""Where and when: the order of steps, what is kept and what is made again, the memory plan of a program."""

from mycelia.schedule.memory import arena_bytes, buffer_bytes, plan_memory
from mycelia.schedule.order import in_good_order
from mycelia.schedule.remat import POLICIES, with_memory
from mycelia.schedule.report import memory_report

__all__ = [
    "POLICIES",
    "arena_bytes",
    "buffer_bytes",
    "in_good_order",
    "memory_report",
    "plan_memory",
    "with_memory",
]
