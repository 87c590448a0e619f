"""Asking language models: prompts, any OpenAI-compatible endpoint, answers stored as they arrive."""
