"""A model as a solver: what all neural solvers have in common."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from pydantic import BaseModel, Field

from comdiv.errors import ComdivError
from comdiv.expression import Expression, in_text_order
from comdiv.expression.tree import MAX_REFERENCE
from comdiv.files import file_sha256, write_text
from comdiv.groups import draw_validation
from comdiv.loading import load_model, validate
from comdiv.problem import Problem
from comdiv.reading import Reading, read, read_all
from comdiv.registry import SOLVERS
from comdiv.solver import (
    Attention,
    Hypothesis,
    Progress,
    Score,
    Solution,
    SolvedStep,
    TrainingSummary,
    solution_of,
    steps_of,
)
from comdiv.solvers.alphabet import Alphabet, expression_tokens
from comdiv.solvers.batches import collate, sorted_batches
from comdiv.solvers.beam import is_right, learn_bonus, masked_log_softmax, search, with_bonus
from comdiv.solvers.checkpoints import read_tensors, write_tensors
from comdiv.solvers.deduction import DeductionRules, explained_steps
from comdiv.solvers.grammar import DecodingRules
from comdiv.solvers.hyperparameters import SolverSettings
from comdiv.solvers.inputs import Example, input_words
from comdiv.solvers.model import Model, Sizes
from comdiv.solvers.plausible import BEAM, learn_weights, rerank
from comdiv.solvers.runs import CONFIG, read_config, write_config
from comdiv.solvers.training import TrainingState, seed_initialisation, train
from comdiv.splitting.extraction import extract
from comdiv.splitting.methods import preset_settings, split_problems

SOLVING_BATCH = 64
LEAST_WITH_VALIDATION = 10  # problems; with fewer, none is held out


class _RecordedAlphabet(BaseModel):
    constants: list[str]
    copies: int = Field(ge=0, le=MAX_REFERENCE)


class _RecordedTokens(BaseModel):
    """`vocabulary.json`."""

    words: list[str]
    alphabet: _RecordedAlphabet


class _LearntBonus(BaseModel):
    cover_bonus: float
    plausible: dict[str, float] = {}


class _Learnt(BaseModel):
    """What training has learnt besides the weights, as recorded in `config.yaml`."""

    learnt: _LearntBonus


class NeuralSolver:
    """Trains a model, decodes by beam search, scores expressions, and stores everything in one folder."""

    def __init__(self, name: str, model_class: type[Model], settings: SolverSettings) -> None:
        self.name = name
        self.model_class = model_class
        self.settings = settings
        self.model: Model | None = None
        self.cover_bonus = settings.cover_bonus
        self.plausible: dict[str, float] = {}  # the weights of the re-ranking

    # --- training ---

    def fit(
        self,
        train_problems: Sequence[Problem],
        validation: Sequence[Problem] | None,
        *,
        resume_from: Path | None = None,
        progress: Progress | None = None,
        after_epoch: Callable[[TrainingState], None] | None = None,
        start_from: Path | None = None,
    ) -> TrainingSummary:
        """Train from scratch, or resume the training in `resume_from`.

        `validation` selects the epoch. If it is empty, some of the training problems are held out for that; if it is
        None, the last epoch is kept. With `start_from`, the folder of a run, training starts from that run's weights,
        vocabulary and alphabet.
        """
        if not train_problems:
            raise ComdivError("there are no training problems")
        readings = read_all(train_problems)  # every text is read once, not once per epoch
        held_out = read_all(validation or ())
        if validation is not None and not validation:
            readings, held_out = hold_out_validation(readings, self.settings.seed)
        if start_from is None:
            model = self._new_model(self._learn_sizes(readings), pretrained=True)
        else:
            model = self._begin_with(type(self).load(start_from), start_from)
        examples = [example for example in self._encode(readings) if example.target is not None]
        if not examples:
            raise ComdivError("no training problem has an expression that the solver can spell")
        validation_examples = self._encode(held_out)
        state = train(
            model,
            examples,
            lambda: self._accuracy(held_out, validation_examples) if held_out else None,
            checkpoints=resume_from / "training_state" if resume_from else None,
            fingerprint=self._fingerprint(examples, held_out, start_from),
            after_epoch=after_epoch,
            progress=progress,
        )
        if held_out:
            beams = self.with_settings(cover="none", plausible="none")._solve(held_out, validation_examples, beam=5)
            counts = [len(example.quantity_positions) for example in validation_examples]
            self.cover_bonus = learn_bonus(held_out, beams, counts)
        if self.settings.plausible != "none":
            self.plausible = self._learn_plausible(readings, held_out, resume_from, progress)
        return TrainingSummary(
            epochs=state.epoch,
            best_epoch=state.best_epoch,
            best_validation_accuracy=state.best_accuracy,
            problems=len(examples),
            left_out=len(readings) - len(examples),
            history=tuple(state.history),
        )

    def _learn_plausible(
        self,
        readings: Sequence[Reading],
        held_out: Sequence[Reading],
        resume_from: Path | None,
        progress: Progress | None,
    ) -> dict[str, float]:
        """The weights of the re-ranking, from beams for problems that their solver was not trained on."""
        other = self.with_settings(plausible="none", cover="none")
        if self.settings.plausible == "nested":  # the same solver, trained on a part of the training problems
            readings, held_out = nested_split(readings, self.settings.seed)
            other = type(self)(self.name, self.model_class, other.settings)
            folder = None if resume_from is None else resume_from / "nested"
            other.fit([reading.problem for reading in readings], (), resume_from=folder, progress=progress)
        beams = other._solve(held_out, other._encode(held_out), beam=BEAM)
        return learn_weights(held_out, beams)

    def _learn_sizes(self, readings: Sequence[Reading]) -> Sizes:
        reader = self.model_class.learn_reader(readings, self.settings)
        return Sizes(reader, Alphabet.learn(readings), self.model_class.numbers)

    def _begin_with(self, other: "NeuralSolver", folder: Path) -> Model:
        """The model with another run's weights, under this solver's settings."""
        beginning = other._ready()
        model = self._new_model(beginning.sizes)
        try:
            model.load_state_dict(beginning.state_dict())
        except RuntimeError as error:
            raise ComdivError(f"{folder}: its weights do not fit this solver: {str(error).splitlines()[0]}") from error
        return model

    def _new_model(self, sizes: Sizes, *, pretrained: bool = False) -> Model:
        if self.settings.threads:
            torch.set_num_threads(self.settings.threads)
        torch.use_deterministic_algorithms(True)
        # Nothing here reads uninitialised memory, and filling every new tensor would take a tenth of the time.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        seed_initialisation(self.settings.seed)
        self.model = self.model_class(self.settings, sizes)
        if pretrained:
            self.model.load_pretrained()
        return self.model.to(_device(self.settings.device))

    def _encode(self, readings: Sequence[Reading]) -> list[Example]:
        model = self._ready()
        if self.settings.targets == "given":
            return [model.example(reading, reading.expression) for reading in readings]
        return [model.example(r, None if r.expression is None else in_text_order(r.expression)) for r in readings]

    def _fingerprint(self, examples: Sequence[Example], held_out: Sequence[Reading], start: Path | None) -> str:
        """A hash of everything that determines the weights: settings, tokens, ordered examples, validation, start."""
        settings = self.settings.model_dump(
            exclude_defaults=True
        )  # a newer setting at its default does not make it another training
        digest = hashlib.sha256(json.dumps([self.name, settings], sort_keys=True).encode())
        digest.update(b"" if start is None else file_sha256(start / "model.safetensors").encode())
        for example in examples:
            digest.update(example.words.tobytes() + (example.target.tobytes() if example.target is not None else b""))
        for reading in held_out:
            digest.update(f"{reading.problem.id}\n{reading.text}\n{reading.problem.answer}\n".encode())
        return digest.hexdigest()

    # --- solving ---

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]:
        """The solution of every problem, in order."""
        readings = read_all(problems)
        return self._solve(readings, self._encode(readings), beam)

    def _solve(self, readings: Sequence[Reading], examples: Sequence[Example], beam: int) -> list[Solution]:
        """The solutions of texts that are already encoded."""
        model = self._ready()
        hypotheses: list[list[Hypothesis]] = [[] for _ in readings]
        device = next(model.parameters()).device
        reranks = self.settings.plausible != "none" and bool(self.plausible)
        width = max(beam, BEAM if reranks else 5) if self.settings.cover == "soft" or reranks else beam
        for places, batch in sorted_batches(examples, SOLVING_BATCH, device):
            with torch.no_grad():
                memory = model.encode(batch)
                decodings = search(model, memory, batch, self._rules(cover=self.settings.cover == "hard"), width)
                if self.settings.cover == "hard" and not all(decodings):  # out of the beam's reach: unconstrained
                    free = search(model, memory, batch, self._rules(cover=False), width)
                    decodings = [covered or other for covered, other in zip(decodings, free, strict=True)]
            for place, sequences in zip(places, decodings, strict=True):
                hypotheses[place] = [Hypothesis(model.read_tokens(s.tokens), s.log_probability) for s in sequences]
                if self.settings.cover == "soft":
                    quantities = len(examples[place].quantity_positions)
                    hypotheses[place] = with_bonus(hypotheses[place], quantities, self.cover_bonus)
                if reranks:
                    hypotheses[place] = rerank(readings[place], hypotheses[place], self.plausible)
        return [solution_of(reading, best[:beam]) for reading, best in zip(readings, hypotheses, strict=True)]

    def accuracy(self, problems: Sequence[Problem]) -> float:
        """Answer accuracy of the best single hypothesis; it selects the epoch."""
        readings = read_all(problems)
        return self._accuracy(readings, self._encode(readings))

    def _accuracy(self, readings: Sequence[Reading], examples: Sequence[Example]) -> float:
        return sum(map(is_right, readings, self._solve(readings, examples, beam=1))) / len(readings)

    def score(self, problems: Sequence[Problem]) -> list[Score]:
        """The log-probability of every problem's own expression under the distribution that decoding uses."""
        model = self._ready()
        scores = [Score(float("-inf"), 0) for _ in problems]
        examples = self._encode(read_all(problems))
        spellable = [index for index, example in enumerate(examples) if example.target is not None]
        device = next(model.parameters()).device
        rules = self._rules(cover=False)
        for places, batch in sorted_batches([examples[index] for index in spellable], SOLVING_BATCH, device):
            with torch.no_grad():
                logits = model.target_logits(model.encode(batch), batch)  # (batch, tokens, columns)
                columns = logits.shape[-1]
                syntax = rules.start(batch.quantity_counts, columns)
                totals = torch.zeros(len(places), dtype=torch.float64, device=device)
                for step in range(batch.targets.shape[1]):
                    counted = batch.targets[:, step] >= 0
                    tokens = batch.targets[:, step].clamp(min=0)
                    steps = masked_log_softmax(logits[:, step], rules.allowed(syntax, columns))
                    chosen = steps.gather(1, tokens.unsqueeze(1)).squeeze(1).double()
                    totals += torch.where(counted, chosen, 0.0)
                    syntax = rules.advance(syntax, tokens)
            lengths = (batch.targets >= 0).sum(1).tolist()
            for place, total, length in zip(places, totals.tolist(), lengths, strict=True):
                scores[spellable[place]] = Score(total, length)
        return scores

    def attention(self, problem: Problem, expression: Expression) -> Attention | None:
        """The model's attention when it writes an expression; None if it has no attention or cannot spell it."""
        model, reading = self._ready(), read(problem)
        example = model.example(reading, expression)
        if example.target is None:
            return None
        batch = collate([example], next(model.parameters()).device)
        with torch.no_grad():
            weights = model.attention(model.encode(batch), batch)  # (1, tokens, words)
        if weights is None:
            return None
        words, places = input_words(reading, "indexed")
        tokens = expression_tokens(expression, model.notation)
        rows = weights[0, : len(tokens)].tolist()
        return Attention(tuple(words), tuple(places), tuple(tokens), tuple(tuple(row) for row in rows))

    def steps(self, problem: Problem, expression: Expression) -> tuple[SolvedStep, ...]:
        """The steps of an expression; with their probabilities and alternatives if the solver deduces step by step."""
        model, reading = self._ready(), read(problem)
        steps = steps_of(expression, reading.values)
        example = model.example(reading, expression)
        if not isinstance(model.rules(constrained=True, cover=False), DeductionRules) or example.target is None:
            return tuple(steps)
        batch = collate([example], next(model.parameters()).device)
        rules = self._rules(cover=False)
        assert isinstance(rules, DeductionRules)
        with torch.no_grad():
            logits = model.target_logits(model.encode(batch), batch)[0]  # (steps, columns)
        return tuple(explained_steps(steps, example.target.tolist(), logits, rules, reading.values))

    def with_settings(self, **changes: Any) -> "NeuralSolver":
        """The same trained solver with other decoding settings: `cover`, `plausible`, `constrained`, `beam`."""
        other = type(self)(self.name, self.model_class, self.settings.model_copy(update=changes))
        other.model, other.cover_bonus, other.plausible = self.model, self.cover_bonus, self.plausible
        return other

    def _rules(self, *, cover: bool) -> DecodingRules:
        constrained = self.settings.constrained or cover  # coverage is part of the grammar
        return self._ready().rules(constrained=constrained, cover=cover)

    def _ready(self) -> Model:
        if self.model is None:
            raise ComdivError("the solver has not been trained")
        return self.model

    # --- saving and loading ---

    def save(self, folder: Path) -> None:
        """Write weights, vocabulary and configuration; other keys of an existing configuration are kept."""
        model = self._ready()
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / "model.safetensors", model.state_dict())
        model.save_reader(folder)
        tokens = {"words": list(model.sizes.reader.words), "alphabet": model.sizes.alphabet.to_json()}
        write_text(folder / "vocabulary.json", json.dumps(tokens, ensure_ascii=False) + "\n")
        learnt = {"cover_bonus": self.cover_bonus, "plausible": self.plausible}
        write_config(folder, {"solver": self.name, "settings": self.settings.model_dump(), "learnt": learnt})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The solver of a run folder."""
        config = read_config(folder)
        try:
            tokens = load_model(folder / "vocabulary.json", _RecordedTokens)
            name = config.get("solver", "")
            model_class = SOLVERS.get(name)
            settings = model_class.settings_class
            solver = cls(name, model_class, settings.checked(**settings.own(config.get("settings") or {})))
            alphabet = Alphabet(tuple(tokens.alphabet.constants), tokens.alphabet.copies)
            sizes = Sizes(model_class.load_reader(folder, tokens.words), alphabet, model_class.numbers)
            learnt = validate(config, _Learnt, CONFIG).learnt
            solver.cover_bonus, solver.plausible = learnt.cover_bonus, learnt.plausible
        except (OSError, ValueError, ComdivError) as error:
            raise ComdivError(f"{folder} is not a run of a solver: {error}") from error
        model = solver._new_model(sizes)
        try:
            model.load_state_dict(read_tensors(folder / "model.safetensors"))
        except RuntimeError as error:
            raise ComdivError(f"{folder}: the weights do not fit: {str(error).splitlines()[0]}") from error
        model.eval()
        return solver


def hold_out_validation(readings: Sequence[Reading], seed: int) -> tuple[list[Reading], list[Reading]]:
    """Train and validation: a share of the problems is drawn by seed, twins together; none from a very small set."""
    if len(readings) < LEAST_WITH_VALIDATION:
        return list(readings), []
    is_held_out = draw_validation([reading.mask for reading in readings], seed=seed)
    parts: tuple[list[Reading], list[Reading]] = ([], [])
    for reading, held_out in zip(readings, is_held_out, strict=True):
        parts[bool(held_out)].append(reading)
    return parts


def nested_split(readings: Sequence[Reading], seed: int) -> tuple[list[Reading], list[Reading]]:
    """A compositional split of the training problems, in place of the test problems, which must not be used."""
    extraction = extract([reading.problem for reading in readings])
    is_test = split_problems(extraction, preset_settings("paper", seed=seed))
    test = {problem.id for problem, inside in zip(extraction.problems, is_test, strict=True) if inside}
    parts: tuple[list[Reading], list[Reading]] = ([], [])
    for reading in readings:
        parts[reading.problem.id in test].append(reading)
    return parts


def _device(name: str) -> torch.device:
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name != "auto":
        if not available[name]:
            there = ", ".join(device for device, is_there in available.items() if is_there)
            raise ComdivError(f"there is no {name} device; available: {there}")
        return torch.device(name)
    return torch.device(next(device for device in ("cuda", "mps", "cpu") if available[device]))
