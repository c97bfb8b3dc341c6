"""What turns functions into other functions: gradients, tangents, vectorisation; and the settings of a session."""

from mycelia.api.grad import GradOperation, get_grad, grad, value_and_grad, vjp

__all__ = ["GradOperation", "get_grad", "grad", "value_and_grad", "vjp"]
