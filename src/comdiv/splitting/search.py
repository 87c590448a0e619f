"""§III-A: find a split whose compounds diverge while its atoms do not. One function for both searches.

The search knows nothing about arithmetic: it works for anything with atoms and compounds, such as sentences with their
words and pairs of neighbouring words:

>>> from itertools import product
>>> from comdiv.splitting.encoding import encode
>>> from comdiv.splitting.search import find_split
>>> subjects, verbs = ["cats", "dogs", "birds", "mice"], ["eat", "sleep", "run", "hide"]
>>> sentences = [f"{subject} {verb}" for subject, verb in product(subjects, verbs)]
>>> words = str.split
>>> pairs = lambda sentence: list(zip(words(sentence), words(sentence)[1:]))
>>> split = find_split(encode(sentences, atoms_of=words, compounds_of=pairs), test_size=4)
>>> split.compound_divergence, split.atom_divergence, split.test_size
(1.0, 0.0, 4)
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from comdiv.errors import ComdivError, unknown_name
from comdiv.splitting.divergence import PAPER, Alphas
from comdiv.splitting.encoding import Encoded
from comdiv.splitting.greedy import greedy
from comdiv.splitting.sides import Bounded, SearchSpace, SplitResult, check_test_size, random_split, split_result

__all__ = ["Bounded", "Search", "SplitResult", "find_split", "random_split"]

Search = Literal["anneal", "greedy"]


def find_split(
    encoded: Encoded | Sequence[Encoded],
    *,
    test_size: int,
    search: Search = "anneal",
    alphas: Alphas = PAPER,
    atom_bound: float | None = 0.01,
    also_bounded: Sequence[Bounded] = (),
    length_weight: float = 0.5,
    target: float | None = None,
    steps_per_item: int = 150,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> SplitResult:
    """A split with a compound divergence as high as possible (or at `target`) and atom divergence within `atom_bound`.

    Several views of the same corpus may be given (`Encoded` with the same items, lengths and groups): the compound
    divergence is their mean, and atoms are bounded in each, as is everything in `also_bounded`. `anneal` also keeps
    the length ratio near 1, weighted by `length_weight`; `greedy` is the published swap search, which ignores lengths
    and, with `atom_bound=None`, has no bound. Twin groups stay on one side. Equal seeds give equal splits. `progress`
    is called with (steps done, total steps). An unreachable goal is a `ComdivError`.
    """
    views = [encoded] if isinstance(encoded, Encoded) else list(encoded)
    space = SearchSpace.of(views, alphas, atom_bound, also_bounded)
    _check(space, test_size, search, length_weight, target, steps_per_item, seed)
    if search == "greedy":
        test_mask, steps = greedy(space, test_size, target, seed, progress)
    else:
        from comdiv.splitting.anneal import AnnealSettings, anneal  # imported here because it loads a compiler

        settings = AnnealSettings(length_weight, target, steps_per_item, seed)
        test_mask, steps = anneal(space, test_size, settings, progress)
    return split_result(space, test_mask, test_size, steps)


def _check(
    space: SearchSpace,
    test_size: int,
    search: str,
    length_weight: float,
    target: float | None,
    steps_per_item: int,
    seed: int,
) -> None:
    """Refuse, in one line, what no search can work with."""
    if search not in get_args(Search):
        raise unknown_name("search", search, get_args(Search))
    check_test_size(space.encoded, test_size)
    tables = [(bounded.name, bounded.counts) for bounded in space.bounded]
    for what, incidence in [*tables, *(("compound", view.compounds) for view in space.views)]:
        if incidence.width == 0:
            raise ComdivError(f"no example has any {what}, so there is no {what} divergence to search by")
    for bounded in space.bounded:
        if bounded.bound is not None and not 0 <= bounded.bound <= 1:
            raise ComdivError(
                f"an {bounded.name} bound of {bounded.bound:g} makes no sense: divergences lie between 0 and 1"
            )
    if target is not None and not 0 <= target <= 1:
        raise ComdivError(f"a target of {target:g} makes no sense: divergences lie between 0 and 1")
    if not length_weight >= 0:
        raise ComdivError(f"a length weight of {length_weight:g} makes no sense: it must be 0 or more")
    if steps_per_item < 1:
        raise ComdivError(f"{steps_per_item} steps per item are too few: at least 1 is needed")
    if seed < 0:
        raise ComdivError(f"the seed is {seed}; seeds are whole numbers from 0 up")
