"""How a language model is asked: the options of `comdiv ask`, the keys of `ask` in a plan, the settings of a ranker."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from comdiv.loading import parse_json
from comdiv.settings import Option, Settings

# What may change from one sitting to the next without changing an answer: not part of what a run is.
HOW_FAST = frozenset([
    "concurrency", "retries", "backoff", "timeout", "requests_per_minute", "tokens_per_minute", "input_price",
    "output_price", "key_variable",
])  # fmt: skip

_RESERVED = frozenset(["model", "messages", "stream", "n", "temperature", "top_p", "max_tokens", "seed", "logprobs"])


class AskSettings(Settings):
    """The endpoint, the model, the prompt and how answers are drawn; then how fast, and at what price."""

    base_url: str = Field(description="Address of an OpenAI-compatible endpoint, such as http://localhost:8080/v1.")
    model: str = Field(min_length=1, max_length=300, description="Name of the model, as the endpoint knows it.")
    prompt: Literal["direct", "steps", "program"] = Field(
        default="steps", description="Ask for the number alone, for the working first, or for an expression."
    )
    shots: int = Field(default=4, ge=0, le=100, description="Examples from the training side of the same split.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="0 takes the likeliest words.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="Share of the probability that words are drawn from.")
    max_tokens: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Longest answer; by default 32 direct, 96 program, 512 steps."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the examples and of the answers.")
    samples: int = Field(default=1, ge=1, le=100, description="Answers to each problem; the majority decides.")
    parameters: Annotated[dict[str, Any], Option("--parameter")] = Field(
        default_factory=dict, description="A further parameter of the request: --parameter reasoning_effort=low."
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="Questions on their way at a time.")
    retries: int = Field(default=6, ge=0, le=100, description="Tries after the first, if a fault may pass.")
    backoff: float = Field(
        default=1.0, gt=0, le=60, description="Seconds before the second try; each wait is twice as long as the last."
    )
    timeout: float = Field(default=120.0, gt=0, le=3600, description="Seconds to wait for one answer.")
    requests_per_minute: float | None = Field(default=None, gt=0, description="Most questions in a minute.")
    tokens_per_minute: float | None = Field(default=None, gt=0, description="Most tokens in a minute, in and out.")
    input_price: float | None = Field(default=None, ge=0, description="Price of a million tokens of prompts.")
    output_price: float | None = Field(default=None, ge=0, description="Price of a million tokens of answers.")
    key_variable: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable with the key, such as OPENAI_API_KEY; without it, no key is sent.",
    )

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        """An address without secrets: it stands in files."""
        try:
            parts = urlsplit(value)
            host = parts.hostname
            _ = parts.port
        except ValueError:
            raise ValueError("not an address such as http://localhost:8080/v1") from None
        if parts.scheme not in ("http", "https") or not host or not value.isprintable() or " " in value:
            raise ValueError("not an address such as http://localhost:8080/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("an address without a user, a password or a query: keys come from --key-variable alone")
        return value.rstrip("/").removesuffix("/chat/completions")

    @field_validator("parameters")
    @classmethod
    def _further(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Values as JSON where they are typed; what has a setting of its own is not for here, nor is a key."""
        if wrong := sorted(name for name in value if name in _RESERVED or "key" in name.lower()):
            raise ValueError(f"'{wrong[0]}' is not a further parameter: it has an option of its own, or is not offered")
        return {name: _typed(entry) if isinstance(entry, str) else entry for name, entry in value.items()}

    @model_validator(mode="after")
    def _samples_differ(self) -> "AskSettings":
        if self.samples > 1 and self.temperature == 0:
            raise ValueError("several samples of temperature 0 are all the same: give a --temperature above 0")
        return self

    def identity(self) -> dict[str, Any]:
        """The settings that determine answers."""
        return self.model_dump(mode="json", exclude=set(HOW_FAST))


def _typed(text: str) -> Any:
    """What was typed after `NAME=`: a number, true, or else a text."""
    try:
        return parse_json(text)
    except ValueError:
        return text
