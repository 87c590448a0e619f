"""A German corpus for the tests of the plug-in language: stories of one and of two steps, drawn by seed."""

import json
import random
from fractions import Fraction
from pathlib import Path

_PEOPLE = {"Anna": "Sie", "Lena": "Sie", "Mia": "Sie", "Paul": "Er", "Jonas": "Er", "Emil": "Er"}
_THINGS = ["Äpfel", "Birnen", "Murmeln", "Karten", "Hefte", "Stifte", "Kekse", "Blumen"]
_BOXES = ["Kisten", "Tüten", "Körbe"]
_EACH = {"Kisten": "jeder Kiste", "Tüten": "jeder Tüte", "Körbe": "jedem Korb"}


def write_corpus(path: Path, size: int = 320) -> Path:
    """Problems in German as JSON Lines; expressions are over the quantities of their texts."""
    source = random.Random(0)
    with path.open("w", encoding="utf-8") as stream:
        for number in range(size):
            text, expression, answer = _story(source, number % 8)
            record = {"id": f"de-{number}", "language": "de", "text": text, "expression": expression, "answer": answer}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def _story(source: random.Random, kind: int) -> tuple[str, str, str]:
    name, thing, box = source.choice(list(_PEOPLE)), source.choice(_THINGS), source.choice(_BOXES)
    few, some, many = source.randint(2, 9), source.randint(10, 19), source.randint(60, 99)
    owns = f"{name} hat {many} {thing}."
    boxes = f"{name} hat {few} {box}. In {_EACH[box]} sind {some} {thing}."
    sells = f"{_PEOPLE[name]} verkauft {few} {thing}."
    gets = f"{_PEOPLE[name]} bekommt {some} {thing}."
    packs = f"{_PEOPLE[name]} legt je {few} {thing} auf einen Tisch."
    asked = f"Wie viele {thing} hat {name} jetzt?"
    stories: list[tuple[str, str, int | Fraction]] = [
        (f"{owns} {sells} {asked}", "N0-N1", many - few),
        (f"{owns} {gets} {asked}", "N0+N1", many + some),
        (f"{boxes} Wie viele {thing} hat {name}?", "N0*N1", few * some),
        (f"{boxes} {_PEOPLE[name]} verkauft {few - 1} {thing}. {asked}", "N0*N1-N2", few * some - (few - 1)),
        (f"{boxes} {gets} {asked}", "N0*N1+N2", few * some + some),
        (f"{owns} {packs} Wie viele Tische sind es?", "N0/N1", Fraction(many, few)),
        (f"{owns} {sells} {packs} Wie viele Tische sind es?", "(N0-N1)/N2", Fraction(many - few, few)),
        (
            f"{owns} {gets} Jeder Gast kauft {few} mal so viele. Wie viele {thing} sind es?",
            "(N0+N1)*N2",
            (many + some) * few,
        ),
    ]
    text, expression, answer = stories[kind]
    return text, expression, str(answer)
