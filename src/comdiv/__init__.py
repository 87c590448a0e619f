"""comdiv."""
