"""The page in a real browser: no error, all pictures, tables that sort and filter, colour schemes, phone, print."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import Complaints, broken_images, open_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NUMBERS = "#rows-main-results-numbers"


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as chromium:
        yield chromium


@pytest.fixture
def page(browser: "Browser", report: Path) -> "Iterator[Page]":
    """The page as it opens, and at the end the proof that nothing went wrong in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    shown = context.new_page()
    complaints = Complaints(shown)
    shown.goto((report / "index.html").as_uri())
    yield shown
    assert complaints.found == []
    context.close()


def test_all_pictures_load(page: "Page") -> None:
    assert page.locator("figure img").count() >= 18
    assert broken_images(page) == []


def column(page: "Page", index: int) -> list[str]:
    return page.locator(f"{NUMBERS} tbody tr > :nth-child({index})").evaluate_all(
        "cells => cells.map(c => c.dataset.value)"
    )


def open_numbers(page: "Page") -> None:
    page.locator("#details-main-results-numbers > summary").click()


def test_a_column_sorts_both_ways_and_says_so(page: "Page") -> None:
    open_numbers(page)
    header = page.locator(f"{NUMBERS} thead tr:last-child th").nth(4)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    values = [float(value) for value in column(page, 5)]
    assert values == sorted(values)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert [float(value) for value in column(page, 5)] == sorted(values, reverse=True)


def test_missing_values_stay_last_in_both_directions(page: "Page") -> None:
    open_numbers(page)
    button = page.locator(f"{NUMBERS} thead tr:last-child th").nth(15).get_by_role("button")
    for _ in range(2):
        button.click()
        empty = [value == "" for value in column(page, 16)]
        assert any(empty)
        assert empty == sorted(empty)


def test_sorting_works_from_the_keyboard(page: "Page") -> None:
    open_numbers(page)
    button = page.locator(f"{NUMBERS} thead tr:last-child th").first.get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    names = column(page, 1)
    assert names == sorted(names)
    page.keyboard.press("Space")
    assert column(page, 1) == sorted(names, reverse=True)


def test_rows_are_filtered_by_all_words_and_counted(page: "Page") -> None:
    open_numbers(page)
    field = page.locator("#details-main-results-numbers input[type=search]")
    total = page.locator(f"{NUMBERS} tbody tr").count()
    field.fill("GTS+DA structural hard")
    shown = page.locator(f"{NUMBERS} tbody tr:visible")
    assert 0 < shown.count() < total
    for text in shown.all_inner_texts():
        assert "GTS+DA" in text
        assert "structural" in text
    told = page.locator("#details-main-results-numbers output").inner_text()
    assert told == f"{shown.count()} of {total} rows"
    field.fill("nothing like this")
    assert shown.count() == 0
    field.fill("")
    assert shown.count() == total


def test_a_number_leads_to_its_row_even_if_that_is_folded_away(page: "Page") -> None:
    page.locator("#rows-main-results-accuracy a.value").first.click()
    target = page.locator("tr:target")
    target.wait_for(state="visible")
    assert "MathEN" in target.inner_text()


def test_colours_follow_the_system_and_the_button(page: "Page") -> None:
    def shown() -> tuple[str, bool]:
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return background, page.locator("img.dark-only").first.is_visible()

    light = shown()
    page.emulate_media(color_scheme="dark")
    dark = shown()
    assert light[0] != dark[0]
    assert (light[1], dark[1]) == (False, True)
    button = page.locator("button.theme")
    button.click()
    assert button.inner_text() == "Colours: light"
    assert shown() == light
    button.click()
    page.emulate_media(color_scheme="light")
    assert shown() == dark


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_nothing_is_wider_than_the_screen(page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_print_opens_what_is_folded_and_hides_what_cannot_be_clicked(page: "Page") -> None:
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("nav").is_hidden()
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(NUMBERS).is_visible()


def test_without_scripts_everything_can_still_be_read(browser: "Browser", report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto((report / "index.html").as_uri())
    assert plain.locator("#rows-main-results-accuracy").is_visible()
    assert plain.locator(".filter").first.is_hidden()
    context.close()


def test_the_page_has_no_accessibility_violations(page: "Page") -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
