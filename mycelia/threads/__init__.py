"""The threads of the process: one OpenMP runtime for generated code and oneDNN, and threads that work for others."""
