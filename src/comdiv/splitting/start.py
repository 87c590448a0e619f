"""Random splits of exact size that never tear a twin group: the i.i.d. split, and where every search starts."""

import numpy as np

from comdiv.errors import ComdivError
from comdiv.groups import Mask, draw_groups
from comdiv.splitting.encoding import Encoded


def check_test_size(encoded: Encoded, test_size: int) -> None:
    """Refuse, with one clear line, what cannot be split."""
    items = encoded.items
    if items < 2:
        raise ComdivError(f"nothing to split: {items} examples, at least 2 are needed")
    if not 0 < test_size < items:
        raise ComdivError(
            f"a test size of {test_size} leaves one side empty: of {items} examples, 1 to {items - 1} can go to test"
        )
    smallest_group = int(encoded.group_sizes.min())
    if smallest_group == items:
        raise ComdivError(f"all {items} examples are twins of each other, and twins stay on one side: no split exists")
    if smallest_group > test_size:
        raise ComdivError(
            f"a test size of {test_size} is smaller than the smallest group of twins ({smallest_group} examples), "
            "and twins stay on one side"
        )


def random_split(encoded: Encoded, test_size: int, seed: int = 0) -> Mask:
    """A random test set of whole groups, as a mask over items: the i.i.d. split of §V.

    If groups do not add up to `test_size`, it is of the nearest smaller size that they do add up to.
    """
    check_test_size(encoded, test_size)
    return draw_groups(encoded.group_sizes, test_size, np.random.default_rng(seed))[encoded.groups]
