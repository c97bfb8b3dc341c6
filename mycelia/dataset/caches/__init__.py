"""What was made once and is kept: in memory, in a temporary file, or in a folder."""
