"""One question to an OpenAI-compatible endpoint: bounded, patient, and silent about the key.

A reply is read up to a size limit and a deadline. Temporary faults (429, 5xx, time-outs, dropped connections, replies
that are not JSON or have no choices) are retried after growing pauses, or when `Retry-After` says. Permanent ones (a
wrong key, an unknown model, a prompt that is too long) are one-line errors at once.
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
from typing import Annotated, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, Request

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.deadline import patient_opener
from comdiv.asking.prompting import Message
from comdiv.errors import ComdivError, shortened
from comdiv.loading import parse_json

LARGEST_REPLY = 4 * 2**20  # bytes
LARGEST_ERROR = 64 * 2**10  # bytes read of an error's message
LONGEST_ANSWER = 200_000  # characters
LONGEST_FINISH = 100  # characters of the reason why a model stopped
LONGEST_WAIT = 600.0  # seconds that an endpoint may ask us to wait
MOST_TOKENS = 10**9  # that one reply can plausibly use
_IMPOSSIBLE = -1e6  # the log-probability of an impossible word
_SLOWEST_RETRY = 60.0  # seconds between two tries if the endpoint names no time
_PASSING = frozenset([408, 409, 425, 429])  # temporary, like every status from 500 on
_HINTS = {
    401: "the key is missing or wrong: --key-variable NAME names the environment variable that holds it",
    403: "this key has no access to the model",
    404: "the endpoint does not know the model or the address; base URLs usually end in /v1",
    413: "the prompt is too long: use fewer --shots or a model with a longer context",
}
_TOO_LONG = ("context", "too long", "maximum length", "exceed")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer: its words, why it stopped, its tokens and, if the endpoint gives it, its log-probability."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    log_probability: float | None = None


class PassingError(Exception):
    """A fault that may be gone on the next try; `after` is the number of seconds the endpoint wants us to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class UnreachableError(PassingError):
    """Nobody answers: passing while others have been answered; before that, more likely a wrong address."""


class Pace:
    """Keeps all threads together below the limits per minute, and idle while the endpoint wants a pause."""

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
        """Give back tokens that a request did not use, or take more; no claim costs more than the longest wait."""
        if self._per_second:
            with self._lock:
                self._tokens_free -= max(-LONGEST_WAIT, (expected - actual) / self._per_second)

    def pause(self, seconds: float) -> None:
        """Hold back all requests for a while."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)


TokenCount = Annotated[int, Field(ge=0, le=MOST_TOKENS)]
Told = TypeVar("Told", bound=BaseModel)


# What we read of a reply; anything else in it is ignored.
class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class _Said(_Part):
    content: str | None = None


class _Choice(_Part):
    message: _Said
    finish_reason: str | None = None
    logprobs: Any = None


class _Completion(_Part):
    choices: list[_Choice]
    usage: Any = None


# What may be missing or nonsense: the words have been paid for all the same.
class _Token(_Part):
    logprob: float


class _Tokens(_Part):
    content: list[_Token] = []


class _Usage(_Part):
    prompt_tokens: TokenCount = 0
    completion_tokens: TokenCount = 0


class Endpoint:
    """The chat completions of one model; safe to use from several threads.

    The key is read from the environment here and leaves only in the request's header; it is removed from
    everything that the endpoint sends back.
    """

    def __init__(self, settings: AskSettings, stop: threading.Event | None = None) -> None:
        self.settings = settings
        self.url = f"{settings.base_url}/chat/completions"
        self._key = key_of(settings.key_variable)
        self._stop = stop or threading.Event()
        self.pace = Pace(settings.requests_per_minute, settings.tokens_per_minute, sleep=self._stop.wait)
        self._opener: OpenerDirector = patient_opener()
        self._answered = False  # with whatever status
        self._without: set[str] = set()  # parameters that this endpoint has refused
        self._renamed: dict[str, str] = {}

    def ask(self, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Reply:
        """The reply to a chat; a permanent fault, or one that outlasts all tries, is a `ComdivError`."""
        expected = sum(len(message["content"]) for message in messages) // 3 + int(parameters.get("max_tokens") or 0)
        fault: PassingError | None = None
        for attempt in range(self.settings.retries + 1):
            if fault is not None:
                self._rest(fault, attempt)
            self.pace.wait(expected)
            if self._stop.is_set():  # which also ends waiting
                raise ComdivError("stopped")
            try:
                reply = self._ask_once(messages, parameters)
            except PassingError as error:
                if isinstance(error, UnreachableError) and not self._answered:
                    raise ComdivError(f"{self.url}: {error}; is the address right, and the server running?") from None
                fault = error
                continue
            self.pace.correct(expected, reply.prompt_tokens + reply.completion_tokens)
            return reply
        tries = f"after {self.settings.retries + 1} tries" if self.settings.retries else "at the first try"
        raise ComdivError(f"{self.url}: {fault}; gave up {tries}; the same command continues")

    def _rest(self, fault: PassingError, attempt: int) -> None:
        """Wait before the next try: as long as the endpoint says, or else twice as long each time, with some jitter."""
        if fault.after is not None and fault.after > LONGEST_WAIT:
            raise ComdivError(f"{self.url}: {fault}; it wants a pause of {fault.after:,.0f} seconds: continue later")
        own = min(_SLOWEST_RETRY, self.settings.backoff * 2 ** (attempt - 1)) * random.uniform(0.75, 1.25)
        if fault.after is not None:
            self.pace.pause(fault.after)
        self._stop.wait(own if fault.after is None else fault.after)

    def _ask_once(self, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Reply:
        arguments = {self._renamed.get(name, name): value for name, value in parameters.items() if value is not None}
        wanted = {name: value for name, value in arguments.items() if name not in self._without}
        body = {"model": self.settings.model, "messages": list(messages), **wanted}
        status, retry_after, text = self._post(json.dumps(body).encode())
        self._answered = True
        if status == 200:
            return self._reply(text)
        message = self._message_of(text)
        if status == 400 and self._adapted(wanted, message):
            return self._ask_once(messages, parameters)
        fault = f"{status} {http.client.responses.get(status, '')}".strip() + (f": {message}" if message else "")
        if status in _PASSING or status >= 500:
            raise PassingError(fault, _retry_after(retry_after))
        hint = _HINTS.get(status, "")
        if status == 400 and any(word in message.lower() for word in _TOO_LONG):
            hint = _HINTS[413]
        elif 300 <= status < 400:
            hint = "this is a redirect, which is not followed because of the key: give the final address"
        raise ComdivError(f"{self.url}: {fault}{'; ' if hint else ''}{hint}")

    def _adapted(self, wanted: Mapping[str, Any], message: str) -> bool:
        """Whether a refused parameter can be left out or renamed; later questions do the same."""
        if "max_tokens" in wanted and "max_completion_tokens" in message:
            self._renamed["max_tokens"] = "max_completion_tokens"
            return True
        refused = {name for name in ("logprobs", "seed") if name in wanted and name in message}
        self._without |= refused
        return bool(refused)

    def _post(self, body: bytes) -> tuple[int, str | None, str]:
        """Status, `Retry-After` and text of a reply, with the key removed."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "comdiv"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, body, headers, method="POST")
        try:
            try:
                with self._opener.open(request, timeout=self.settings.timeout) as response:
                    return response.status, None, self._text(response, LARGEST_REPLY)
            except HTTPError as error:
                with error:
                    text = self._text(error, LARGEST_ERROR, cut=True)
                    return error.code, error.headers.get("Retry-After"), text
        except TimeoutError:
            raise PassingError(f"no reply within {self.settings.timeout:g} seconds") from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise PassingError(f"no reply within {self.settings.timeout:g} seconds") from None
            reason = getattr(error.reason, "strerror", None) or error.reason
            raise UnreachableError(f"cannot be reached: {self._scrubbed(str(reason))}") from None
        except (OSError, http.client.HTTPException) as error:
            fault = shortened(self._scrubbed(str(error))) or type(error).__name__
            raise PassingError(f"the connection was cut: {fault}") from None

    def _text(self, response: Any, largest: int, *, cut: bool = False) -> str:
        """The body of a response. One that is too large is refused, or cut off if it is an error's."""
        pieces, size = [], 0
        while size <= largest and (piece := response.read1(2**16)):
            pieces.append(piece)
            size += len(piece)
        if size > largest and not cut:
            raise ComdivError(f"{self.url}: a reply of more than {largest // 2**20} MB cannot be an answer: not read")
        if response.length and not cut:
            raise http.client.IncompleteRead(b"", response.length)
        return self._scrubbed(b"".join(pieces).decode("utf-8", "replace"))

    def _scrubbed(self, text: str) -> str:
        """The text without the key. JSON has many ways to write it: whatever is taken out of JSON needs this again."""
        return text.replace(self._key, "[key]") if self._key else text

    def _message_of(self, text: str) -> str:
        """The message of an error, in any of the forms that endpoints use."""
        try:
            record = parse_json(text)
        except ValueError:
            return shortened(text, 200)
        while isinstance(record, dict):
            record = next((record[key] for key in ("error", "message", "detail") if record.get(key)), "")
        return shortened(self._scrubbed(record if isinstance(record, str) else json.dumps(record)), 300)

    def _reply(self, text: str) -> Reply:
        try:
            record = parse_json(text)
        except ValueError as error:
            raise PassingError(f"its reply is not JSON: {error}") from None
        if isinstance(record, dict) and isinstance(record.get("error"), dict | str):
            raise PassingError(f"its reply is an error: {self._message_of(text)}")
        try:
            completion = _Completion.model_validate(record)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            raise PassingError(f"its reply is not a chat completion: {place}: {error.errors()[0]['msg']}") from None
        if not completion.choices:
            raise PassingError("its reply has no choices")
        choice = completion.choices[0]
        usage = _if_valid(_Usage, completion.usage) or _Usage()
        tokens = _if_valid(_Tokens, choice.logprobs)
        return Reply(
            self._scrubbed(choice.message.content or "")[:LONGEST_ANSWER],
            self._scrubbed(choice.finish_reason or "")[:LONGEST_FINISH],
            usage.prompt_tokens,
            usage.completion_tokens,
            # rounding makes some words likelier than certain; the lowest numbers stand for the impossible
            sum(max(_IMPOSSIBLE, min(0.0, token.logprob)) for token in tokens.content)
            if tokens and tokens.content
            else None,
        )


def _if_valid(model: type[Told], value: Any) -> Told | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def key_of(variable: str | None) -> str:
    """The key in an environment variable; empty if none is named. It is checked here, and shown nowhere."""
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ComdivError(f"the environment variable {variable} is not set: it should hold the endpoint's key")
    if not key.isascii() or not key.isprintable() or set(key) & set('"\\'):  # would be escaped in a message
        raise ComdivError(
            f"the environment variable {variable} does not hold a key: a header cannot carry its characters"
        )
    return key


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or a date; None if the header is missing or makes no sense."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None
