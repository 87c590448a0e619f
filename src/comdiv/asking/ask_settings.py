"""How a language model is asked: the options of `comdiv ask`, the keys of `ask` in a plan, the settings of a ranker."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from comdiv.loading import parse_json
from comdiv.settings import Option, Settings

# Settings that affect speed and cost but no answer: they may change when a run is continued.
HOW_FAST = frozenset([
    "concurrency", "retries", "backoff", "timeout", "requests_per_minute", "tokens_per_minute", "input_price",
    "output_price", "key_variable",
])  # fmt: skip

_NO_ADDRESS = "not an address such as http://localhost:8080/v1"
_RESERVED = frozenset(["model", "messages", "stream", "n", "temperature", "top_p", "max_tokens", "seed", "logprobs"])


class AskSettings(Settings):
    """Endpoint, model, prompt and sampling; then speed and prices."""

    base_url: str = Field(description="Address of an OpenAI-compatible endpoint, such as http://localhost:8080/v1.")
    model: str = Field(min_length=1, max_length=300, description="Name of the model, as the endpoint knows it.")
    prompt: Literal["direct", "steps", "program"] = Field(
        default="steps", description="Ask for the bare number, for the working first, or for an expression."
    )
    shots: int = Field(default=4, ge=0, le=100, description="Examples from the training side of the same split.")
    temperature: float = Field(
        default=0.0, ge=0, le=2, description="Sampling temperature; 0 takes the likeliest words."
    )
    top_p: float = Field(default=1.0, gt=0, le=1, description="Words are drawn from this share of the probability.")
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Longest answer in tokens; by default 32 (direct), 96 (program), 512 (steps).",
    )
    seed: int = Field(default=0, ge=0, description="Seed for the examples and the answers.")
    samples: int = Field(default=1, ge=1, le=100, description="Answers per problem; the majority decides.")
    parameters: Annotated[dict[str, Any], Option("--parameter")] = Field(
        default_factory=dict, description="Another parameter of the request: --parameter reasoning_effort=low."
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="Most questions in flight at a time.")
    retries: int = Field(default=6, ge=0, le=100, description="Most further tries after a temporary fault.")
    backoff: float = Field(
        default=1.0, gt=0, le=60, description="Seconds before the second try; every further wait is twice as long."
    )
    timeout: float = Field(default=120.0, gt=0, le=3600, description="Seconds to wait for one answer.")
    requests_per_minute: float | None = Field(default=None, ge=0.01, description="Most questions per minute.")
    tokens_per_minute: float | None = Field(default=None, ge=1, description="Most tokens per minute, in and out.")
    input_price: float | None = Field(default=None, ge=0, description="Price of a million prompt tokens.")
    output_price: float | None = Field(default=None, ge=0, description="Price of a million answer tokens.")
    key_variable: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable with the key, such as OPENAI_API_KEY; without it, no key is sent.",
    )

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        """An address without secrets, because it is written to files."""
        try:
            parts = urlsplit(value)
            host = parts.hostname
            _ = parts.port
            (host or "").encode("idna")
        except ValueError:
            raise ValueError(_NO_ADDRESS) from None
        if parts.scheme not in ("http", "https") or not host or not value.isprintable() or " " in value:
            raise ValueError(_NO_ADDRESS)
        if not parts.path.isascii():
            raise ValueError("an address has no letters beyond ASCII after its host: write them as %C3%A4")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("give an address without user, password or query: a key comes only from --key-variable")
        return value.rstrip("/").removesuffix("/chat/completions")

    @field_validator("parameters")
    @classmethod
    def _further(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Typed values read as JSON; refuses keys, and parameters that have a setting of their own."""
        if wrong := sorted(name for name in value if name in _RESERVED or "key" in name.lower()):
            raise ValueError(
                f"'{wrong[0]}' cannot be given as a parameter: it has an option of its own, or is not supported"
            )
        return {name: _typed(entry) if isinstance(entry, str) else entry for name, entry in value.items()}

    @model_validator(mode="after")
    def _samples_differ(self) -> "AskSettings":
        if self.samples > 1 and self.temperature == 0:
            raise ValueError("samples at temperature 0 are all the same: give a --temperature above 0")
        return self

    def identity(self) -> dict[str, Any]:
        """The settings that determine the answers."""
        return self.model_dump(mode="json", exclude=set(HOW_FAST))


def _typed(text: str) -> Any:
    """The value typed after `NAME=`: JSON if it is any, such as a number or true; otherwise text."""
    try:
        return parse_json(text)
    except ValueError:
        return text
