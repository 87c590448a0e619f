"""A language model behind an endpoint as a solver: it learns from examples in its prompt instead of training.

It is the solver `ask` of a run, a plan or an augmentation. Its answers are stored in the run (`answers.jsonl`): the
same questions cost nothing again, even for people who have no access to the endpoint.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.endpoint import Reply
from comdiv.asking.journal import ANSWERS, Journal
from comdiv.asking.prompting import draw_shots
from comdiv.asking.questions import ask_questions, questions_for, spending
from comdiv.asking.votes import majority, own_confidence, prediction_of
from comdiv.evaluation import Prediction
from comdiv.problem import Problem, read_problems, write_problems
from comdiv.reading import read
from comdiv.solver import Hypothesis, Progress, Score, Solution, TrainingSummary

ASK = "ask"  # the name of such a solver
SHOTS = "shots.jsonl"


class LanguageModel:
    """A model at an endpoint, its examples, and the answers so far; `folder` is the run that keeps them."""

    name = ASK

    def __init__(
        self,
        settings: AskSettings,
        shots: Sequence[Problem] = (),
        folder: Path | None = None,
        *,
        may_ask: bool = True,
    ) -> None:
        self.settings = settings
        self.shots = tuple(shots)
        self.folder = folder
        self.may_ask = may_ask
        self.facts: dict[str, Any] = {}  # tokens and cost of the latest predictions, for `result.json`

    def fit(
        self,
        train: Sequence[Problem],
        validation: Sequence[Problem] | None,
        *,
        resume_from: Path | None = None,
        **_: Any,
    ) -> TrainingSummary:
        """Draw the examples from the training side."""
        self.shots = draw_shots(train, self.settings.shots, self.settings.seed)
        self.folder = resume_from or self.folder
        return TrainingSummary(0, 0, None, len(self.shots), 0)

    def predict(self, problems: Sequence[Problem], progress: Progress | None = None) -> list[Prediction]:
        """Ask for every problem, and take the majority of its answers."""
        replies = self._replies(problems, probabilities=False, progress=progress)
        return [majority(problem, own, self.settings.prompt) for problem, own in zip(problems, replies, strict=True)]

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]:
        """As `predict`, with the probabilities of the model's own answers if the endpoint gives them."""
        replies = self._replies(problems, probabilities=True)
        return [
            _solution(majority(problem, own, self.settings.prompt))
            for problem, own in zip(problems, replies, strict=True)
        ]

    def score(self, problems: Sequence[Problem]) -> list[Score]:
        """How probable the problems' own answers are: by the endpoint's probabilities, or else by votes."""
        scores = []
        for problem, replies in zip(problems, self._replies(problems, probabilities=True), strict=True):
            predictions = [prediction_of(problem, reply, self.settings.prompt) for reply in replies]
            scores.append(Score(own_confidence(read(problem), replies, predictions), 1))
        return scores

    def _replies(
        self, problems: Sequence[Problem], *, probabilities: bool, progress: Progress | None = None
    ) -> list[list[Reply]]:
        """The replies to each problem, one per sample."""
        questions = questions_for(problems, self.shots, self.settings, probabilities=probabilities)
        journal = Journal(None if self.folder is None else self.folder / ANSWERS)
        replies = ask_questions(questions, self.settings, journal, may_ask=self.may_ask, progress=progress)
        spent = spending(replies, self.settings)
        self.facts = {
            "asked": {
                "model": self.settings.model,
                "base_url": self.settings.base_url,
                "prompt": self.settings.prompt,
                "shots": len(self.shots),
                "samples": self.settings.samples,
                "temperature": self.settings.temperature,
                "top_p": self.settings.top_p,
                "max_tokens": max((question.parameters["max_tokens"] for question in questions), default=None),
                "seed": self.settings.seed,
                "prompt_tokens": spent.prompt_tokens,
                "completion_tokens": spent.completion_tokens,
                "cost": spent.cost,
            }
        }
        own = [replies[question.key] for question in questions]
        size = self.settings.samples
        return [own[start : start + size] for start in range(0, len(own), size)]

    def save(self, folder: Path) -> None:
        """Write settings and examples to a run folder; the key is not a setting."""
        from comdiv.solvers.runs import write_config

        write_problems(folder / SHOTS, self.shots)
        write_config(folder, {"solver": self.name, "settings": self.settings.model_dump(mode="json")})

    @classmethod
    def load(cls, folder: Path, *, may_ask: bool = True) -> Self:
        """The model of a run folder."""
        from comdiv.solvers.runs import read_config

        settings = AskSettings.checked(**(read_config(folder).get("settings") or {}))
        return cls(settings, tuple(read_problems(folder / SHOTS)), folder, may_ask=may_ask)


def _solution(prediction: Prediction) -> Solution:
    sure = float("-inf") if prediction.log_probability is None else prediction.log_probability
    return Solution(
        prediction.expression,
        prediction.answer,
        sure,
        (Hypothesis(prediction.expression, sure),) if prediction.expression is not None else (),
        prediction.ill_formed,
        prediction.undefined,
    )
