"""Problems as integers."""

import pytest

from comdiv.expression import parse, postfix_tokens
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.solvers.alphabet import Alphabet
from comdiv.solvers.inputs import MOST_WORDS, Vocabulary, input_words, tree_of
from solvers.tiny import problem, tiny_example

ALPHABET = Alphabet(("1",), 3)


def test_masked_quantities_are_all_num_and_words_are_lower_case() -> None:
    words, positions = input_words(read(problem("a", "Tom has 3 red and 12 green apples.", "N0")), "masked")
    assert words == ["tom", "has", "NUM", "red", "and", "NUM", "green", "apples", "."]
    assert positions == [2, 5]


def test_indexed_quantities_have_their_numbers() -> None:
    words, positions = input_words(read(problem("a", "3 of 4 and 5", "N0")), "indexed")
    assert [words[position] for position in positions] == ["N0", "N1", "N2"]


def test_number_words_count_where_the_problem_says_so() -> None:
    counted = Problem(id="a", language="en", text="Tom has three pens.", number_words=True)
    assert input_words(read(counted), "masked") == (["tom", "has", "NUM", "pens", "."], [2])
    assert input_words(read(Problem(id="a", language="en", text="Tom has three pens.")), "masked")[1] == []


def test_an_empty_text_is_one_unknown_word() -> None:
    example = tiny_example(Problem("a", "en", ""), Vocabulary(("<pad>", "<unk>")), ALPHABET, "infix", "masked", 45)
    assert example.words.tolist() == [1]
    assert example.quantity_positions.tolist() == []
    assert example.target is None


def test_a_text_beyond_the_greatest_length_is_cut_and_late_quantities_point_at_its_last_word() -> None:
    long = problem("a", "7 " + "word " * (MOST_WORDS + 20) + "8", "N0+N1")
    words, positions = input_words(read(long), "masked")
    assert len(words) == MOST_WORDS
    assert positions == [0, MOST_WORDS - 1]


def test_a_sequence_decoder_cannot_spell_a_quantity_beyond_its_copies_but_a_pointer_can() -> None:
    five = problem("a", "1 and 2 and 3 and 4 and 5", "N0+N4")
    vocabulary = Vocabulary(("<pad>", "<unk>"))
    indexed = tiny_example(five, vocabulary, ALPHABET, "infix", "indexed", 45)
    assert indexed.target is None
    assert len(indexed.quantity_positions) == 3
    masked = tiny_example(five, vocabulary, ALPHABET, "prefix", "masked", 45)
    assert masked.target is not None
    assert masked.target.tolist() == [1, ALPHABET.first_copy, ALPHABET.first_copy + 4]


@pytest.mark.parametrize(("most", "spelled"), [(8, True), (7, False), (3, False)])
def test_an_expression_that_decoding_could_not_finish_has_no_target(most: int, spelled: bool) -> None:
    bracketed = problem("a", "2 of 3 and 4", "N0*(N1+N2)")  # 7 tokens in infix, and the end
    example = tiny_example(bracketed, Vocabulary(("<pad>", "<unk>")), ALPHABET, "infix", "indexed", most)
    assert (example.target is not None) == spelled


def prefix(text: str) -> list[int]:
    return ALPHABET.spell(parse(text), "prefix", 3) or []


def test_the_tree_of_a_prefix_sequence_by_hand() -> None:
    tree = tree_of(prefix("(N0+N1)*(N2-1)"), ALPHABET)  # * + N0 N1 - N2 1
    assert tree.left.tolist() == [1, 2, -1, -1, 5, -1, -1]
    assert tree.right.tolist() == [4, 3, -1, -1, 6, -1, -1]
    assert tree.depth.tolist() == [0, 1, 2, 2, 1, 2, 2]
    assert tree.height.tolist() == [2, 1, 0, 0, 1, 0, 0]


def test_the_trees_of_a_leaf_and_of_chains_by_hand() -> None:
    leaf = tree_of(prefix("N1"), ALPHABET)
    assert (leaf.left.tolist(), leaf.depth.tolist(), leaf.height.tolist()) == ([-1], [0], [0])
    left = tree_of(prefix("N0-N1-N2"), ALPHABET)  # - - N0 N1 N2
    assert (left.left.tolist(), left.right.tolist()) == ([1, 2, -1, -1, -1], [4, 3, -1, -1, -1])
    assert (left.depth.tolist(), left.height.tolist()) == ([0, 1, 2, 2, 1], [2, 1, 0, 0, 0])
    right = tree_of(prefix("N0-(N1-N2)"), ALPHABET)  # - N0 - N1 N2
    assert (right.left.tolist(), right.right.tolist()) == ([1, -1, 3, -1, -1], [2, -1, 4, -1, -1])


def test_mathen_learns_the_normal_form() -> None:
    example = tiny_example(
        problem("a", "2 and 3", "N1*N0"), Vocabulary(("<pad>", "<unk>")), ALPHABET, "postfix", "indexed", 45
    )
    assert example.target is not None
    assert example.target.tolist()[:-1] == [ALPHABET.first_copy, ALPHABET.first_copy + 1, 3]
    assert postfix_tokens(parse("N0*N1")) == ["N0", "N1", "*"]
