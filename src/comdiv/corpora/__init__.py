"""Corpora of word problems: where they are published, where they lie on disk, how they are read."""
