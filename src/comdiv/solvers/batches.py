"""Batches of similar length, in an order that depends only on (seed, epoch)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from comdiv.solvers.inputs import Example, Floats, Integers

IGNORED = -100  # a target that the loss ignores
BUCKET = 16  # batches sorted by length together: similar lengths within a batch, but still a random order


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """The trees of a batch as one forest of nodes, scheduled by level (GTS).

    Children are indices into the forest. `levels[d]` has the nodes at depth d: first all left children of the operators
    of the level above, then all right ones; `operators[d]` has the places of the operators within it. `heights[h]` has
    the operators of height h+1, whose children are merged before them.
    """

    problem: Tensor  # (nodes): which problem of the batch a node belongs to
    position: Tensor  # (nodes): its place in the prefix sequence
    left: Tensor  # (nodes)
    right: Tensor  # (nodes)
    levels: list[Tensor]
    operators: list[Tensor]
    heights: list[Tensor]


@dataclass(frozen=True, slots=True)
class Batch:
    """Problems as padded tensors, longest text first."""

    ids: tuple[str, ...]
    words: Tensor  # (batch, words)
    lengths: Tensor  # (batch), on the CPU, as packing requires
    quantity_positions: Tensor  # (batch, quantities)
    quantity_counts: Tensor  # (batch)
    targets: Tensor  # (batch, tokens), IGNORED after the end of a target
    trees: TreeBatch | None
    quantity_lengths: Tensor | None = None  # (batch, quantities): pieces, if some have several
    values: Tensor | None = None  # (batch, quantities), for decoders that look at them

    @property
    def word_mask(self) -> Tensor:
        """True for words, False for padding: (batch, words)."""
        steps = torch.arange(self.words.shape[1], device=self.words.device)
        return steps < self.lengths.to(self.words.device).unsqueeze(1)

    def decoder_inputs(self, first: int) -> Tensor:
        """What a decoder reads before it writes each token of the targets: `first`, then the token before."""
        before = self.targets[:, :-1].masked_fill(self.targets[:, :-1] == IGNORED, 0)
        return torch.cat([torch.full_like(self.targets[:, :1], first), before], 1)


def epoch_batches(
    examples: Sequence[Example], size: int, seed: int, epoch: int, device: torch.device
) -> Iterator[Batch]:
    """The batches of one epoch: shuffled, then sorted by length within buckets, then shuffled as batches."""
    generator = np.random.default_rng((seed, epoch))
    order = generator.permutation(len(examples))
    batches: list[Integers] = []
    for start in range(0, len(order), size * BUCKET):
        bucket = order[start : start + size * BUCKET]
        lengths = np.array([len(examples[index].words) for index in bucket])
        bucket = bucket[np.argsort(-lengths, kind="stable")]
        batches += [bucket[first : first + size] for first in range(0, len(bucket), size)]
    for index in generator.permutation(len(batches)):
        yield collate([examples[position] for position in batches[index]], device)


def sorted_batches(examples: Sequence[Example], size: int, device: torch.device) -> Iterator[tuple[list[int], Batch]]:
    """All examples sorted by length, for solving and scoring, with their positions in the given sequence."""
    order = sorted(range(len(examples)), key=lambda index: -len(examples[index].words))
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        yield chosen, collate([examples[index] for index in chosen], device)


def collate(examples: Sequence[Example], device: torch.device) -> Batch:
    """Pad and stack examples, which must be sorted, longest text first."""
    targets = [example.target if example.target is not None else np.zeros(0, dtype=np.int64) for example in examples]
    trees = _forest(examples, device) if all(example.tree is not None for example in examples) else None
    return Batch(
        ids=tuple(example.id for example in examples),
        words=_padded([example.words for example in examples], 0).to(device),
        lengths=torch.tensor([len(example.words) for example in examples]),
        quantity_positions=_padded([example.quantity_positions for example in examples], 0).to(device),
        quantity_counts=torch.tensor([len(example.quantity_positions) for example in examples], device=device),
        targets=_padded(targets, IGNORED).to(device),
        trees=trees,
        quantity_lengths=_all_padded([example.quantity_lengths for example in examples], 1, device),
        values=_all_padded([example.values for example in examples], 0, device),
    )


def _all_padded(rows: Sequence[Integers | Floats | None], filler: int, device: torch.device) -> Tensor | None:
    """The rows as a tensor, if no row is missing."""
    there = [row for row in rows if row is not None]
    return _padded(there, filler).to(device) if len(there) == len(rows) else None


def _padded(rows: Sequence[Integers | Floats], filler: int) -> Tensor:
    width = max(1, *(len(row) for row in rows))
    table = np.full((len(rows), width), filler, dtype=rows[0].dtype)
    for position, row in enumerate(rows):
        table[position, : len(row)] = row
    return torch.from_numpy(table)


def _forest(examples: Sequence[Example], device: torch.device) -> TreeBatch:
    trees = [example.tree for example in examples if example.tree is not None]
    sizes = np.array([len(tree.left) for tree in trees])
    offsets = np.repeat(np.cumsum(sizes) - sizes, sizes)  # (nodes)
    left = np.concatenate([tree.left for tree in trees])
    right = np.concatenate([tree.right for tree in trees])
    height = np.concatenate([tree.height for tree in trees])
    is_operator = left >= 0
    left, right = np.where(is_operator, left + offsets, -1), np.where(is_operator, right + offsets, -1)
    level = np.cumsum(sizes) - sizes  # the roots
    levels, operators = [], []
    while len(level):
        inner = np.flatnonzero(is_operator[level])
        levels.append(level)
        operators.append(inner)
        level = np.concatenate([left[level[inner]], right[level[inner]]])
    heights = [np.flatnonzero(height == h) for h in range(1, int(height.max(initial=0)) + 1)]

    def tensor(values: Integers) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)

    return TreeBatch(
        problem=tensor(np.repeat(np.arange(len(trees)), sizes)),
        position=tensor(np.concatenate([np.arange(size) for size in sizes])),
        left=tensor(left),
        right=tensor(right),
        levels=[tensor(nodes) for nodes in levels],
        operators=[tensor(places) for places in operators],
        heights=[tensor(nodes) for nodes in heights],
    )
