"""Compositional splits of anything, by the conventions of scikit-learn: `CompositionalSplit`.

>>> from itertools import product
>>> from comdiv.splitting import CompositionalSplit
>>> sentences = [" ".join(pair) for pair in product(["cats", "dogs", "birds", "mice"], ["eat", "sleep", "run", "hide"])]
>>> pairs = lambda sentence: list(zip(sentence.split(), sentence.split()[1:]))
>>> splitter = CompositionalSplit(str.split, pairs, test_size=0.25)
>>> [(train, test)] = splitter.split(sentences)
>>> audit = splitter.audit(sentences, train, test)
>>> len(test), audit.compound_divergence, audit.atom_divergence
(4, 1.0, 0.0)
"""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from comdiv.errors import ComdivError, shortened
from comdiv.groups import connected_groups
from comdiv.splitting.audit import SplitAudit, audit_sides
from comdiv.splitting.divergence import alphas_named
from comdiv.splitting.encoding import Encoded, Integers, Things, encode
from comdiv.splitting.methods import default_steps
from comdiv.splitting.search import Search, find_split
from comdiv.splitting.sides import size_of_test

ThingsOf = Callable[[Any], Things]
Indices = tuple[Integers, Integers]  # train, test


@dataclass(frozen=True)
class CompositionalSplit:
    """A cross-validator whose test sides need new compounds of the atoms that the training sides have (§III-A).

    `atoms_of` and `compounds_of` give what an item consists of: hashable things, or a counter of them. The items of a
    group stay on one side, and so do equal items. The order of the items and the number of jobs change nothing.
    `id_of` identifies items whose `repr` does not show their contents; `text_of` gives the text for an audit.
    """

    atoms_of: ThingsOf
    compounds_of: ThingsOf
    n_splits: int = 1  # with consecutive seeds: their test sides may overlap
    test_size: float = 0.2  # a share, or a number of items
    alpha: str = "paper"
    atom_bound: float | None = 0.01
    length_weight: float = 0.5
    target: float | None = None
    search: Search = "anneal"
    steps_per_item: int | None = None
    length_of: Callable[[Any], float] | None = None
    id_of: Callable[[Any], Hashable] | None = None
    text_of: Callable[[Any], str] | None = None
    n_jobs: int | None = None
    random_state: Any = 0  # a seed, a generator of numpy, or None: another split at each call

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803
        """The number of splits that `split` yields."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Indices]:  # noqa: N803
        """The indices of train and of test, for each split; `y` is not looked at."""
        if self.n_splits < 1:
            raise ComdivError(f"n_splits is {self.n_splits}; at least 1 is needed")
        if not isinstance(self.test_size, Real):
            raise ComdivError(f"test_size is a {type(self.test_size).__name__}, not a share or a number of items")
        order, items, labels = self._in_order(X, groups)
        encoded = self._encoded(self.atoms_of, self.compounds_of, items, labels)
        search = partial(
            find_split,
            encoded,
            test_size=size_of_test(self.test_size, len(items), "items"),
            search=self.search,
            alphas=alphas_named(self.alpha),
            atom_bound=self.atom_bound,
            length_weight=self.length_weight,
            target=self.target,
            steps_per_item=self.steps_per_item or default_steps(len(items)),
        )
        first = _first_seed(self.random_state)
        with ThreadPoolExecutor(_workers(self.n_jobs)) as pool:  # the search holds no lock of the interpreter
            seeds = range(first, first + self.n_splits)
            for mask in pool.map(lambda seed: search(seed=seed).test_mask, seeds):
                yield np.sort(order[~mask]), np.sort(order[mask])

    def audit(
        self,
        X: Any,  # noqa: N803
        train: Any,
        test: Any,
        groups: Any = None,
        other_views: Mapping[str, tuple[ThingsOf, ThingsOf]] | None = None,
    ) -> SplitAudit:
        """The audit of a split of these items, made by this class or not.

        `other_views` are further definitions of atoms and compounds, by name: does the split hold under them, too?
        """
        order, items, labels = self._in_order(X, groups)
        sides = [set(np.asarray(side, dtype=np.int64).tolist()) for side in (train, test)]
        if sides[0] & sides[1] or not sides[0] | sides[1] <= set(order.tolist()):
            raise ComdivError(f"train and test must be different indices of the {len(order)} items")
        places = [place for place, index in enumerate(order.tolist()) if index in sides[0] or index in sides[1]]
        items, labels, order = [items[place] for place in places], [labels[place] for place in places], order[places]
        texts = [self._text(item) for item in items]
        encoded = partial(self._encoded, items=items, labels=labels)
        return audit_sides(
            [encoded(self.atoms_of, self.compounds_of)],
            np.array([index in sides[1] for index in order.tolist()]),
            others={name: encoded(*functions) for name, functions in (other_views or {}).items()},
            texts=None if None in texts else [str(text) for text in texts],
            names=[str(index) for index in order.tolist()],
            alpha=self.alpha,
        )

    def _in_order(self, X: Any, groups: Any) -> tuple[Integers, list[Any], list[Hashable]]:  # noqa: N803
        """The items in an order that does not depend on the given one, their original places, and their groups."""
        items = _items(X)
        keys = [stable_key(item if self.id_of is None else self.id_of(item)) for item in items]
        labels = list(range(len(items))) if groups is None else [stable_key(group) for group in groups]
        if len(labels) != len(items):
            raise ComdivError(f"{len(labels)} groups for {len(items)} items: each item needs one")
        order = sorted(range(len(items)), key=lambda index: keys[index])
        together = connected_groups([(labels[index], keys[index]) for index in order])
        return np.array(order, dtype=np.int64), [items[index] for index in order], list(together)

    def _encoded(
        self, atoms_of: ThingsOf, compounds_of: ThingsOf, items: Sequence[Any], labels: Sequence[Hashable]
    ) -> Encoded:
        length_of = self.length_of
        return encode(
            range(len(items)),
            lambda place: atoms_of(items[place]),
            lambda place: compounds_of(items[place]),
            None if length_of is None else lambda place: length_of(items[place]),
            lambda place: labels[place],
        )

    def _text(self, item: Any) -> str | None:
        if self.text_of is not None:
            return self.text_of(item)
        text = item.get("text") if isinstance(item, Mapping) else getattr(item, "text", item)
        return text if isinstance(text, str) else None


def stable_key(value: Any) -> str:
    """A text that is equal for equal values, in every process; a value whose `repr` is its address is refused."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        pairs = sorted(f"{stable_key(name)}: {stable_key(part)}" for name, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, AbstractSet):
        return f"{{{', '.join(sorted(map(stable_key, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(stable_key, value))}]"
    text = repr(value)
    if not isinstance(value, str) and f" at {hex(id(value))}" in text:
        raise ComdivError(
            f"{shortened(text)} cannot be told from others of its kind: give id_of, which returns an item's id"
        )
    return text


def _items(X: Any) -> list[Any]:  # noqa: N803
    """The rows: a data frame's as mappings, those of anything else unchanged."""
    if hasattr(X, "to_dict") and getattr(X, "ndim", 1) == 2:
        return list(X.to_dict("records"))
    try:
        return list(X)
    except TypeError as error:
        raise ComdivError(f"items of type {type(X).__name__} cannot be split: give a list of them") from error


def _first_seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if random_state is None:
        random_state = np.random.default_rng()
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise ComdivError(f"random_state is a {type(random_state).__name__}, not a seed, a generator or None")
    return int(draw(2**31 - 1))


def _workers(n_jobs: int | None) -> int:
    """As in scikit-learn: None is one, -1 as many as there are cores."""
    if n_jobs == 0:
        raise ComdivError("n_jobs is 0: give a number of jobs, or -1 for all cores")
    cores = os.cpu_count() or 1
    return 1 if n_jobs is None else n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
