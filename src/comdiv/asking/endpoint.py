"""One question to an OpenAI-compatible endpoint: bounded, patient, and silent about the key.

A reply is read up to a limit and a deadline. What passes by itself (429, 5xx, time-outs, cut connections, replies that
are no JSON or have no choices) is tried again, later each time, or when `Retry-After` says; what does not (a wrong key,
an unknown model, a prompt that is too long) is an error of one line at once.
"""

import http.client
import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from pydantic import BaseModel, ConfigDict, ValidationError

from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.prompting import Message
from comdiv.errors import ComdivError, shortened
from comdiv.loading import parse_json

LARGEST_REPLY = 4 * 2**20  # bytes
LARGEST_ERROR = 64 * 2**10  # bytes of a refusal that are read for its message
LONGEST_ANSWER = 200_000  # characters
LONGEST_WAIT = 600.0  # seconds that an endpoint may ask us to wait
_SLOWEST_RETRY = 60.0  # seconds between two tries of our own choice
_PASSING = frozenset([408, 409, 425, 429])  # refusals that pass, besides all of 500 and above
_HINTS = {
    401: "the key is missing or wrong: --key-variable NAME says which environment variable has it",
    403: "the key may not use this",
    404: "the model or the address is unknown there; base URLs usually end in /v1",
    413: "the prompt is too long: fewer --shots, or a model with a longer context",
}
_TOO_LONG = ("context", "too long", "maximum length", "exceed")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said: its words, why it stopped, what it cost, and how probable its words were, if it tells."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    log_probability: float | None = None


class PassingError(Exception):
    """A fault that may be gone when asked again; `after` is how long the endpoint wants us to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Pace:
    """Keeps threads together within requests and tokens per minute, and away while an endpoint wants a pause."""

    def __init__(
        self,
        requests: float | None,
        tokens: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._every = 60 / requests if requests else 0.0
        self._per_second = tokens / 60 if tokens else 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._next_request = self._tokens_free = self._not_before = clock()

    def wait(self, tokens: int) -> None:
        """Wait for the turn of a request that may take so many tokens."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next_request, self._tokens_free, self._not_before)
            self._next_request = start + self._every
            if self._per_second:
                self._tokens_free = max(self._tokens_free, now) + tokens / self._per_second
        if start > now:
            self._sleep(start - now)

    def correct(self, expected: int, actual: int) -> None:
        """Give back tokens that a request did not take after all."""
        if self._per_second:
            with self._lock:
                self._tokens_free -= (expected - actual) / self._per_second

    def pause(self, seconds: float) -> None:
        """Let nobody ask for a while."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would take the key to another place."""

    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        return None


# What we read of a reply; anything else in it is ignored.
class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Said(_Part):
    content: str | None = None


class _Token(_Part):
    logprob: float


class _Tokens(_Part):
    content: list[_Token] | None = None


class _Choice(_Part):
    message: _Said
    finish_reason: str | None = None
    logprobs: _Tokens | None = None


class _Usage(_Part):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(_Part):
    choices: list[_Choice]
    usage: _Usage | None = None


class Endpoint:
    """The chat completions of one model; safe to use from several threads.

    The key is read from the environment here and never leaves but in the request's header: it is cut out of
    everything that the endpoint says.
    """

    def __init__(self, settings: AskSettings, stop: threading.Event | None = None) -> None:
        self.settings = settings
        self.url = f"{settings.base_url}/chat/completions"
        self._key = key_of(settings.key_variable)
        self._stop = stop or threading.Event()
        self.pace = Pace(settings.requests_per_minute, settings.tokens_per_minute, sleep=self._stop.wait)
        self._opener: OpenerDirector = build_opener(_NoRedirects)
        self._without: set[str] = set()  # parameters that this endpoint has refused
        self._renamed: dict[str, str] = {}

    def ask(self, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Reply:
        """The reply to a chat; a fault that does not pass, or not in time, is a `ComdivError`."""
        expected = sum(len(message["content"]) for message in messages) // 3 + int(parameters.get("max_tokens") or 0)
        fault: PassingError | None = None
        for attempt in range(self.settings.retries + 1):
            if fault is not None:
                self._rest(fault, attempt)
            if self._stop.is_set():
                raise ComdivError("stopped")
            self.pace.wait(expected)
            try:
                reply = self._ask_once(messages, parameters)
            except PassingError as error:
                fault = error
                continue
            self.pace.correct(expected, reply.prompt_tokens + reply.completion_tokens)
            return reply
        tries = f"after {self.settings.retries + 1} tries" if self.settings.retries else "at the first try"
        raise ComdivError(f"{self.url}: {fault}; given up {tries}; the same command continues")

    def _rest(self, fault: PassingError, attempt: int) -> None:
        """Wait before the next try: as long as the endpoint says, else twice as long each time, a little at random."""
        if fault.after is not None and fault.after > LONGEST_WAIT:
            raise ComdivError(f"{self.url}: {fault}; it wants a pause of {fault.after:,.0f} seconds: continue later")
        own = min(_SLOWEST_RETRY, self.settings.backoff * 2 ** (attempt - 1)) * random.uniform(0.75, 1.25)
        if fault.after is not None:
            self.pace.pause(fault.after)
        self._stop.wait(own if fault.after is None else fault.after)

    def _ask_once(self, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Reply:
        named = {self._renamed.get(name, name): value for name, value in parameters.items() if value is not None}
        wanted = {name: value for name, value in named.items() if name not in self._without}
        body = {"model": self.settings.model, "messages": list(messages), **wanted}
        status, retry_after, text = self._post(json.dumps(body).encode())
        if status == 200:
            return self._reply(text)
        message = _message_of(text)
        if status == 400 and self._adapted(wanted, message):
            return self._ask_once(messages, parameters)
        said = f"{status} {http.client.responses.get(status, '')}".strip() + (f": {message}" if message else "")
        if status in _PASSING or status >= 500:
            raise PassingError(said, _retry_after(retry_after))
        hint = _HINTS.get(status, "")
        if status == 400 and any(word in message.lower() for word in _TOO_LONG):
            hint = _HINTS[413]
        elif 300 <= status < 400:
            hint = "it leads elsewhere, and keys are not taken there: give the final address"
        raise ComdivError(f"{self.url}: {said}{'; ' if hint else ''}{hint}")

    def _adapted(self, wanted: Mapping[str, Any], message: str) -> bool:
        """Whether a refused parameter can be done without or has another name; remembered for the next questions."""
        if "max_tokens" in wanted and "max_completion_tokens" in message:
            self._renamed["max_tokens"] = "max_completion_tokens"
            return True
        refused = {name for name in ("logprobs", "seed") if name in wanted and name in message}
        self._without |= refused
        return bool(refused)

    def _post(self, body: bytes) -> tuple[int, str | None, str]:
        """Status, `Retry-After` and text of a reply, without the key, whatever the endpoint does."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "comdiv"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, body, headers, method="POST")
        deadline = time.monotonic() + self.settings.timeout
        try:
            try:
                with self._opener.open(request, timeout=self.settings.timeout) as response:
                    return response.status, None, self._text(response, LARGEST_REPLY, deadline)
            except HTTPError as error:
                with error:
                    text = self._text(error, LARGEST_ERROR, deadline, cut=True)
                    return error.code, error.headers.get("Retry-After"), text
        except TimeoutError:
            raise PassingError(f"no reply within {self.settings.timeout:g} seconds") from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise PassingError(f"no reply within {self.settings.timeout:g} seconds") from None
            reason = getattr(error.reason, "strerror", None) or error.reason
            raise PassingError(f"cannot be reached: {self._scrubbed(str(reason))}") from None
        except (OSError, http.client.HTTPException) as error:
            said = self._scrubbed(shortened(str(error))) or type(error).__name__
            raise PassingError(f"the connection was cut: {said}") from None

    def _text(self, response: Any, largest: int, deadline: float, *, cut: bool = False) -> str:
        """The body up to a limit: a reply that is too large is refused, of a refusal the beginning is enough."""
        pieces, size = [], 0
        while size <= largest and (piece := response.read1(2**16)):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline:
                raise TimeoutError
        length = response.headers.get("Content-Length", "")
        if size > largest and not cut:
            raise ComdivError(f"{self.url}: a reply of more than {largest // 2**20} MB, which is no answer: not read")
        if not cut and length.isdecimal() and size < int(length):
            raise http.client.IncompleteRead(b"", int(length) - size)
        return self._scrubbed(b"".join(pieces).decode("utf-8", "replace"))

    def _scrubbed(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text

    def _reply(self, text: str) -> Reply:
        try:
            record = parse_json(text)
        except ValueError as error:
            raise PassingError(f"its reply is not JSON: {error}") from None
        if isinstance(record, dict) and isinstance(record.get("error"), dict | str):
            raise PassingError(f"its reply is an error: {_message_of(text)}")
        try:
            completion = _Completion.model_validate(record)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            raise PassingError(f"its reply is no chat completion: {place}: {error.errors()[0]['msg']}") from None
        if not completion.choices:
            raise PassingError("its reply has no choices")
        choice, usage = completion.choices[0], completion.usage or _Usage()
        tokens = choice.logprobs.content if choice.logprobs else None
        return Reply(
            (choice.message.content or "")[:LONGEST_ANSWER],
            choice.finish_reason or "",
            usage.prompt_tokens,
            usage.completion_tokens,
            sum(token.logprob for token in tokens) if tokens else None,
        )


def key_of(variable: str | None) -> str:
    """The key in an environment variable; empty if none is named. It is checked here, and shown nowhere."""
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ComdivError(f"the environment variable {variable} is not set: it should have the endpoint's key")
    if not key.isascii() or not key.isprintable():
        raise ComdivError(f"the environment variable {variable} has no key: it has signs that no header can carry")
    return key


def _message_of(text: str) -> str:
    """What a refusal says, in whatever form endpoints use."""
    try:
        record = parse_json(text)
    except ValueError:
        return shortened(text, 200)
    while isinstance(record, dict):
        record = next((record[key] for key in ("error", "message", "detail") if record.get(key)), "")
    return shortened(record if isinstance(record, str) else json.dumps(record), 300)


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or a date; None if the header is missing or makes no sense."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None
