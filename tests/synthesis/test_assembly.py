"""Which products and seeds enter a set: proportions, twins, halves, novelty."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.synthesis import SynthesisOptions
from comdiv.synthesis.assembly import Assembly, assemble, largest_remainder
from comdiv.synthesis.products import Family, Product
from comdiv.synthesis.seeds import Tale
from synthesis.handmade import SEEDS, made

NAMES = [f"小{name}" for name in "红华刚丽强军芳兰亮英东林玲云冬春夏秋"]


def named(family: Family, *names: str) -> Family:
    """The family with short names for its products."""
    products = [
        Product(Tale(replace(product.tale.problem, id=name), product.tale.language), product.seed)
        for product, name in zip(family.products, names, strict=True)
    ]
    return Family(family.seed, tuple(products))


def family(rule: str, text: str = "", name: str = "") -> Family:
    """The family of a rule's seed by hand, or of its story in other words; the products are called 6a, 6b or 10."""
    name = name or f"seed-{rule}"
    result = made(rule, text, SEEDS[rule][1] if text else "", name)
    own = name.removeprefix("seed-")
    return named(result, *([f"{own}a", f"{own}b"] if len(result.products) > 1 else [own]))


def ids(assembly: Assembly) -> list[set[str]]:
    return [{each.id for each in part} for part in (assembly.training, assembly.structural, assembly.lexical)]


def test_a_decomposition_goes_to_test_and_its_halves_to_train() -> None:
    assert ids(assemble([family("6")], SynthesisOptions())) == [{"6a", "6b"}, {"seed-6"}, set()]


def test_a_reformulation_goes_to_test_and_its_seed_to_train() -> None:
    assert ids(assemble([family("10")], SynthesisOptions())) == [{"seed-10"}, set(), {"10"}]


def test_test_problems_say_what_is_new_about_them_and_by_which_rule() -> None:
    result = assemble([family("6"), family("10")], SynthesisOptions())
    assert [(p.composition, p.rule) for p in result.test] == [("structural", "6"), ("lexical", "10")]
    assert {(p.composition, p.rule) for p in result.training} == {("", "")}


def test_of_twins_one_seed_is_chosen_whatever_their_order() -> None:
    twins = [family("6"), family("6", SEEDS["6"][0].replace("120", "180"), "seed-twin")]
    chosen = [assemble(order, SynthesisOptions()).structural for order in (twins, twins[::-1])]
    assert len(chosen[0]) == 1
    assert chosen[0] == chosen[1]


def test_a_product_that_is_a_test_text_stays_out_of_train() -> None:
    other, half = family("7"), family("6").products[0]
    joined = Family(other.seed, (replace(half, tale=other.seed.tale), *other.products))
    assert "seed-7" not in ids(assemble([joined], SynthesisOptions()))[0]


def test_a_lexical_problem_whose_twin_is_in_train_stays_out() -> None:
    """The product of rule 10 in one family is, with other numbers, a half of a decomposition."""
    ten, six = family("10"), family("6")
    twin = Family(six.seed, (replace(six.products[0], tale=ten.product.tale), six.products[1]))
    assert ids(assemble([ten, twin], SynthesisOptions()))[2] == set()


def test_of_disjoint_seeds_half_give_the_first_and_half_the_second_product() -> None:
    other = family("6", "一本书有120页，小红已经看了30页，剩下的每天看15页，还要看几天？", "seed-b")
    parts = ids(assemble([family("6"), other], SynthesisOptions(disjoint=True)))[0]
    assert len(parts) == 2
    assert {name[-1] for name in parts} == {"a", "b"}


def test_where_there_is_no_room_one_product_leaves_but_never_both_of_a_seed() -> None:
    result = assemble([family("6")], SynthesisOptions(size="1/1"))
    assert len(result.training) == 1
    assert ids(result)[1:] == [{"seed-6"}, set()]


@pytest.mark.parametrize(("size", "said"), [("1/2", "only 1 seeds decompose"), ("9/1", "a train of at most 2")])
def test_too_few_candidates_are_counted_in_the_error(size: str, said: str) -> None:
    with pytest.raises(ComdivError, match=said):
        assemble([family("6")], SynthesisOptions(size=size))


def test_novelty_is_the_words_shared_with_the_nearest_training_problem_of_the_template() -> None:
    ten, six = family("10"), family("6")  # the product of ten is n1-n2, and so is the first half of six
    nearest = len(ten.product.tale.words & six.products[0].tale.words)
    assert assemble([ten, six], SynthesisOptions()).novelty == {"10": nearest}
    assert assemble([ten], SynthesisOptions()).novelty == {"10": 0}  # nothing in train has the template


def test_a_seed_in_train_makes_what_comes_after_it_less_new() -> None:
    """The seed of rule 10 has the template of rule 11's product: n1+n2."""
    ten, eleven = family("10"), family("11")
    shared = len(eleven.product.tale.words & ten.seed.tale.words)
    assert assemble([ten, eleven], SynthesisOptions()).novelty["11"] == shared
    assert len(assemble([ten, eleven], SynthesisOptions(novelty=0)).lexical) == (2 if shared == 0 else 1)


def test_every_rule_has_its_share_of_the_lexical_half() -> None:
    decompositions = [family("6", SEEDS["6"][0].replace("小明", name), f"seed-{name}") for name in NAMES]
    grades = [family("10", SEEDS["10"][0].replace("三", grade), f"seed-{grade}") for grade in "四五"]
    lexical = [*grades, family("10"), *(family(rule) for rule in ("11", "12", "13"))]
    result = assemble([*decompositions, *lexical], SynthesisOptions(size=f"{len(NAMES) + 2}/{len(NAMES) + 2}"))
    assert len(result.lexical) == 2
    assert "10" in {problem.rule for problem in result.lexical}  # half of all that there are


def test_the_papers_size_has_the_papers_halves() -> None:
    assert SynthesisOptions(size="1078/745").sizes == (1078, 668, 77)
    assert SynthesisOptions().sizes is None


def test_places_are_shared_out_by_the_largest_remainder() -> None:
    assert largest_remainder({"a": 6, "b": 3, "c": 1}, 5) == {"a": 3, "b": 2, "c": 0}  # 3, 1.5, 0.5: b before c
    assert largest_remainder({"a": 1, "b": 1, "c": 1}, 2) == {"a": 1, "b": 1, "c": 0}


@given(st.dictionaries(st.text("abcdef", min_size=1), st.integers(1, 50), min_size=1), st.data())
def test_shares_add_up_and_never_exceed_what_is_there(counts: dict[str, int], data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, sum(counts.values())))
    shares = largest_remainder(counts, wanted)
    assert sum(shares.values()) == wanted
    assert all(shares[name] <= counts[name] for name in counts)
