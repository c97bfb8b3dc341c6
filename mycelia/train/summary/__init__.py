"""What happens while a network learns, as events that TensorBoard shows."""

from mycelia.train.summary.record import SummaryRecord

__all__ = ["SummaryRecord"]
