"""Folders of random models small enough for tests, as `save_pretrained` leaves them: a BERT and a GPT-2."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

POSITIONS = 160  # fewer than the longest test text has pieces: it is cut
SIGNS = "+-*/^()=.,?!$→"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789小明有个苹果"
WORDS = ("has", "how", "many", "are", "of", "and", "the", "boxes", "apples", "10", "12", "100")


@cache
def tiny_weights(name: str) -> str:
    """The folder of a model for a solver: made once, gone with the process."""
    folder = Path(tempfile.mkdtemp(prefix=f"comdiv-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        MAKERS[name](folder)
    return str(folder)


def make_bert(folder: Path, **changes: Any) -> None:
    """A BERT of two layers that knows letters and a few words."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SIGNS, *LETTERS, *(f"##{c}" for c in LETTERS), *WORDS]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizer(str(vocabulary))
    sizes: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 32, "max_position_embeddings": POSITIONS, "vocab_size": len(pieces)}
    config = transformers.BertConfig(**{**sizes, **changes})
    _save(folder, tokenizer, transformers.BertModel(config))


def make_gpt2(folder: Path, **changes: Any) -> None:
    """A GPT-2 of two layers over bytes, with spaces marked as GPT-2 does; `N1` begins `N10`."""
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "N"), ("Ġ", "+"), ("Ġ", "("), ("h", "o"), ("ho", "w")]
    vocabulary = {piece: index for index, piece in enumerate([*pieces, *(a + b for a, b in merges), "<|endoftext|>"])}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token=end, bos_token=end)
    sizes: dict[str, Any] = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 2 * POSITIONS}
    config = transformers.GPT2Config(
        **{**sizes, "vocab_size": len(vocabulary), "bos_token_id": len(vocabulary) - 1, **changes}
    )
    _save(folder, tokenizer, transformers.GPT2LMHeadModel(config))


def _save(folder: Path, tokenizer: Any, model: Any) -> None:
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


MAKERS = {"bertgen": make_bert, "gpt2": make_gpt2}
