"""Machine code: kernels and the driver that runs them, written as LLVM IR."""
