"""Problems, clients and helpers small enough for tests of the pages."""

import re
from fractions import Fraction

from starlette.testclient import TestClient

from comdiv.expression import parse
from comdiv.problem import Problem, Provenance
from comdiv.studio.app import Studio, studio_app
from comdiv.studio.security import Guard

HERE = "http://127.0.0.1:8421"
ATTACK = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"


def product(name: str, text: str, expression: str, answer: int, provenance: Provenance) -> Problem:
    """A problem that a rule or operation made."""
    return Problem(name, "en", text, parse(expression), Fraction(answer), provenance, extra={"score": answer / 100})


def products() -> list[Problem]:
    """Three products in the manner of synthesis and augmentation; one parent is here, one is not."""
    bags = "Tom has 3 bags of 12 apples. How many apples has he?"
    pens = "Tom has 3 red and 5 green pens. How many pens has he?"
    nuts = "Ann had 9 nuts and ate 4. How many nuts are left?"
    return [
        product("p1", bags, "N0*N1", 36, Provenance(rule="4", parents=("demo-en-000001",))),
        product("p2", pens, "N0+N1", 8, Provenance(rule="11", parents=("p1",))),
        product("p3", nuts, "N0-N1", 5, Provenance(operation="1", round=2, parents=("p1", "lost"))),
    ]


def hostile() -> list[Problem]:
    """Problems whose texts and ids attack a page that does not escape them."""
    return [
        Problem(
            f"{ATTACK}&id=1#?/../..", "en", f"Tom has 3 {ATTACK} and 4 more. How many?", parse("N0+N1"), Fraction(7)
        ),
        Problem(
            '"><svg onload=x>', "zh", "小明有5个\"'><b>苹果</b>，又买了2个。一共有多少个？", parse("N0+N1"), Fraction(7)
        ),
    ]


def page_client(studio: Studio) -> TestClient:
    """A client that behaves as a browser on one of our pages."""
    return TestClient(Guard(studio_app(studio)), base_url=HERE, headers={"origin": HERE}, follow_redirects=False)


def text_of(page: str) -> str:
    """What a reader sees of a page, white space folded."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())
