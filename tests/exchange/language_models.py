"""Language models for the harness that need no download: one of random weights, one that knows what it is told."""

import json
import os
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


class _Generating(LM):
    """A model that only ever continues prompts."""

    def loglikelihood(self, requests: Any, **_: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any, **_: Any) -> Any:
        raise NotImplementedError

    def generate_until(self, requests: Any, **_: Any) -> list[str]:
        return [self.continuation(*request.args) for request in requests]

    def continuation(self, prompt: str, options: dict[str, Any]) -> str:
        raise NotImplementedError


@register_model("comdiv-random")
class RandomModel(_Generating):
    """A GPT-2 of one layer and random weights over bytes: its words mean nothing, but it is a real language model."""

    def __init__(self, **_: Any) -> None:
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel

        super().__init__()
        torch.manual_seed(0)
        config = GPT2Config(
            vocab_size=256, n_positions=4096, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0
        )
        self.model = GPT2LMHeadModel(config).eval()

    def continuation(self, prompt: str, options: dict[str, Any]) -> str:
        import torch

        read = torch.tensor([list(prompt.encode())])
        written = self.model.generate(read, attention_mask=torch.ones_like(read), max_new_tokens=8, do_sample=False)
        text = bytes(written[0, read.shape[1] :].tolist()).decode(errors="replace")
        for stop in options["until"]:
            text = text.split(stop)[0]
        return text


@register_model("comdiv-knowing")
class KnowingModel(_Generating):
    """A model that has read a file of texts and answers: it says what it read, or nothing of use."""

    def __init__(self, **_: Any) -> None:
        super().__init__()
        self.answers = json.loads(Path(os.environ["COMDIV_TEST_ANSWERS"]).read_text(encoding="utf-8"))

    def continuation(self, prompt: str, options: dict[str, Any]) -> str:
        asked = prompt.rsplit("\n", 2)[1]
        return next((answer for text, answer in self.answers.items() if text in asked), " I do not know.")


if __name__ == "__main__":  # the harness's own command line, with these models known to it
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()
