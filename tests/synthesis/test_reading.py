"""Reading a problem: who is who in it."""

from comdiv.synthesis.reading import Reader
from synthesis.handmade import problem


def test_the_first_word_of_a_sentence_names_nobody() -> None:
    problems = [
        problem("opener", "By noon 12 cups are gone, 3 more than Maya has. How many cups has Maya?", "N0-N1", "en"),
        problem("name", "At noon Oscar has 12 cups by the door. Oscar has 3 cups more than Maya. "
                        "How many cups has Maya?", "N0-N1", "en"),
    ]  # fmt: skip
    reader = Reader.for_corpus(problems, "en")
    opener, name = (reader.read(each) for each in problems)
    assert opener is not None
    assert name is not None
    assert "By" not in opener.roles.values()
    assert name.roles["compared1"] == "Oscar"
    assert name.roles["reference1"] == "Maya"
