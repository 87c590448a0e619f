"""Which products and seeds enter a set: proportions, twins, halves, novelty."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.problem import Problem
from comdiv.synthesis import SynthesisOptions
from comdiv.synthesis.assembly import Assembly, assemble, largest_remainder
from comdiv.synthesis.families import Family, make_family
from comdiv.synthesis.tale import Tale
from synthesis.handmade import RULES, SEEDS, seed_of, workshop


def family(rule: str, fit: float | None = None, **changes: str) -> Family:
    """The family of a rule's seed by hand, its seed under another id or with another text."""
    result = make_family(seed_of(RULES[rule], workshop(), f"seed-{rule}"), workshop())
    assert isinstance(result, Family)
    products = result.products if fit is None else tuple(replace(p, fit=fit) for p in result.products)
    if not changes:
        return Family(result.seed, products)
    original: Problem = result.seed.tale.problem
    tale = Tale(replace(original, **changes), result.seed.tale.language)  # type: ignore[arg-type]
    return Family(replace(result.seed, tale=tale, entry=tale), products)


def ids(assembly: Assembly) -> list[set[str]]:
    return [{each.id for each in part} for part in (assembly.training, assembly.structural, assembly.lexical)]


def test_a_decomposition_goes_to_test_and_its_halves_to_train() -> None:
    assert ids(assemble([family("6")], SynthesisOptions())) == [{"seed-6-r6a", "seed-6-r6b"}, {"seed-6"}, set()]


def test_a_reformulation_goes_to_test_and_its_seed_to_train() -> None:
    assert ids(assemble([family("10")], SynthesisOptions())) == [{"seed-10"}, set(), {"seed-10-r10"}]


def test_test_problems_say_what_is_new_about_them_and_by_which_rule() -> None:
    result = assemble([family("6"), family("10")], SynthesisOptions())
    assert [(p.composition, p.rule) for p in result.test] == [("structural", "6"), ("lexical", "10")]
    assert {(p.composition, p.rule) for p in result.training} == {("", "")}


def test_of_twins_the_fitter_seed_is_chosen() -> None:
    text = SEEDS["6"][0].replace("120", "180")
    result = assemble([family("6", fit=3), family("6", fit=7, id="twin", text=text)], SynthesisOptions())
    assert [each.id for each in result.structural] == ["twin"]


def test_a_product_that_is_a_test_text_stays_out_of_train() -> None:
    other = family("7")
    half = family("6").products[0]
    joined = Family(other.seed, (replace(half, tale=other.seed.tale), *other.products))
    assert "seed-7" not in ids(assemble([joined], SynthesisOptions()))[0]


def test_of_disjoint_seeds_half_give_the_first_and_half_the_second_product() -> None:
    other = family("6", id="b", text="一本书有120页，看完30页，剩下的每天看15页，还要看几天？")
    result = assemble([family("6"), other], SynthesisOptions(disjoint=True))
    assert ids(result)[0] == {"seed-6-r6a", "seed-6-r6b"}


def test_the_least_fit_product_leaves_where_there_is_no_room() -> None:
    six = family("6")
    weak = Family(six.seed, (replace(six.products[0], fit=1.0), replace(six.products[1], fit=2.0)))
    result = assemble([weak], SynthesisOptions(size="1/1"))
    assert ids(result) == [{"seed-6-r6b"}, {"seed-6"}, set()]


@pytest.mark.parametrize(("size", "said"), [("1/2", "only 1 seeds decompose"), ("9/1", "a train of at most 2")])
def test_too_few_candidates_are_counted_in_the_error(size: str, said: str) -> None:
    with pytest.raises(ComdivError, match=said):
        assemble([family("6")], SynthesisOptions(size=size))


def test_novelty_is_the_words_shared_with_the_nearest_training_problem_of_the_template() -> None:
    ten, six = family("10"), family("6")  # the product of ten is n1-n2, and so is the first half of six
    nearest = len(ten.product.tale.words & six.products[0].tale.words)
    assert assemble([ten, six], SynthesisOptions()).novelty == {"seed-10-r10": nearest}
    assert assemble([ten], SynthesisOptions()).novelty == {"seed-10-r10": 0}  # nothing in train has the template


def test_a_seed_in_train_makes_what_comes_after_it_less_new() -> None:
    """The seed of rule 13 has the template of rule 12's product, and two words of it: 甲数, 乙数."""
    twelve, thirteen = family("12"), family("13", text="甲数是30，乙数是6，甲数除以乙数，商是多少？")
    assert assemble([twelve, thirteen], SynthesisOptions()).novelty["seed-12-r12"] == 2
    assert len(assemble([twelve, thirteen], SynthesisOptions(novelty=1)).lexical) == 1


def test_a_story_enters_once_as_a_seed_or_as_a_product() -> None:
    """With its numbers masked, the product of rule 12 is the seed of rule 13."""
    assert ids(assemble([family("12"), family("13")], SynthesisOptions()))[1:] == [set(), {"seed-12-r12"}]


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
