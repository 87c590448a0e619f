"""Asking language models: prompts, any OpenAI-compatible endpoint, answers that are kept as they arrive."""
