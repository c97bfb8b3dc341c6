"""Optimizers of `mint`; none has its own cover yet: those of `nn` are called with gradients."""
