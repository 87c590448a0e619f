"""Many questions at once: a bounded number in flight, every answer stored as it arrives, tokens and cost counted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any

from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.endpoint import Endpoint, Reply
from comdiv.asking.journal import Journal, question_key
from comdiv.asking.prompting import Message, messages_for, prompts_of
from comdiv.errors import ComdivError, located
from comdiv.problem import Problem
from comdiv.solver import Progress


@dataclass(frozen=True, slots=True)
class Question:
    """One problem, asked once."""

    key: str
    problem: Problem
    sample: int
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens, and their cost if prices are known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def __str__(self) -> str:
        price = "" if self.cost is None else f", cost {self.cost:,.4f}"
        return f"{self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out{price}"


def questions_for(
    problems: Sequence[Problem], shots: Sequence[Problem], settings: AskSettings, *, probabilities: bool = False
) -> list[Question]:
    """One question per problem and sample; each sample has its own seed."""
    return [
        question
        for problem in problems
        for question in _samples(problem, messages_for(problem, settings.prompt, shots), settings, probabilities)
    ]


def _samples(
    problem: Problem, messages: tuple[Message, ...], settings: AskSettings, probabilities: bool
) -> Iterator[Question]:
    style = prompts_of(problem.language).style(settings.prompt)
    for sample in range(settings.samples):
        parameters = {
            "temperature": settings.temperature,
            **({"top_p": settings.top_p} if settings.top_p < 1 else {}),
            "max_tokens": settings.max_tokens or style.tokens,
            "seed": settings.seed + sample,
            **({"logprobs": True} if probabilities else {}),
            **settings.parameters,
        }
        key = question_key(settings.model, settings.base_url, messages, parameters, problem)
        yield Question(key, problem, sample, messages, parameters)


def ask_questions(
    questions: Sequence[Question],
    settings: AskSettings,
    journal: Journal,
    *,
    may_ask: bool = True,
    progress: Progress | None = None,
) -> dict[str, Reply]:
    """The replies by key: those in the journal, then those of the endpoint, each stored as it arrives.

    After a permanent fault no new question is sent, but replies to those in flight are still awaited and stored.
    Without `may_ask`, a question that the journal cannot answer is an error.
    """
    replies = {question.key: reply for question in questions if (reply := journal.get(question.key)) is not None}
    left = [question for question in questions if question.key not in replies]
    if left and not may_ask:
        raise ComdivError(
            f"{len(left):,} of {len(questions):,} answers are not in the run, and asking would send problems to "
            f"{settings.base_url}{_with_key(settings)}; add --programs if you trust it"
        )

    def keep(question: Question, reply: Reply) -> None:
        if journal.get(question.key) is None:
            journal.add(question.key, reply, question.problem.id, question.sample)
        replies[question.key] = reply
        if progress is not None:
            progress(f"asking {settings.model}", len(replies), len(questions), str(spending(replies, settings)))

    if left:
        _ask_all(left, settings, keep)
    return replies


def _with_key(settings: AskSettings) -> str:
    return f" and the key in {settings.key_variable}" if settings.key_variable else ""


def _ask_all(questions: Sequence[Question], settings: AskSettings, keep: Callable[[Question, Reply], None]) -> None:
    """Ask, and keep the replies in the order of arrival; a fault is raised once nothing is in flight."""
    stop = Event()
    endpoint = Endpoint(settings, stop)
    waiting = iter(questions)
    in_flight: dict[Future[Reply], Question] = {}
    faults: list[ComdivError] = []

    def ask(question: Question) -> Reply:
        with located(f"problem '{question.problem.id}'"):
            return endpoint.ask(question.messages, question.parameters)

    def keep_arrived() -> None:
        for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
            try:
                reply = future.result()
            except ComdivError as error:
                faults.append(error)
                stop.set()  # wakes threads that wait for their next try
            else:
                keep(in_flight[future], reply)
            del in_flight[future]

    with ThreadPoolExecutor(settings.concurrency, thread_name_prefix="ask") as pool:
        try:
            while True:
                while not faults and len(in_flight) < settings.concurrency and (question := next(waiting, None)):
                    in_flight[pool.submit(ask, question)] = question
                if not in_flight:
                    break
                keep_arrived()
        except BaseException as error:  # the command was stopped: questions in flight have been paid for
            stop.set()
            while in_flight and not isinstance(error, ComdivError):  # an error of `keep`: nothing can be stored
                keep_arrived()
            raise
    if faults:
        raise faults[0]


def spending(replies: Mapping[str, Reply], settings: AskSettings) -> Spending:
    """The tokens of some replies, and their cost at the prices of the settings."""
    prompts = sum(reply.prompt_tokens for reply in replies.values())
    answers = sum(reply.completion_tokens for reply in replies.values())
    prices = (settings.input_price, settings.output_price)
    cost = None if prices == (None, None) else (prompts * (prices[0] or 0) + answers * (prices[1] or 0)) / 1_000_000
    return Spending(prompts, answers, cost)
