"""Plans in a real browser: pev2 runs in its frames, and nothing is asked of the network."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from teiten.analysis.explain.difference import difference
from teiten.report.plans.page import render_difference
from tests.browser.conftest import PATIENCE, Browser
from tests.fixtures.plan_corpus import plan

pytestmark = pytest.mark.browser


def test_both_plans_are_drawn_side_by_side(browser: Browser, tmp_path: Path) -> None:
    found = difference(plan("pg13", "wide-text"), plan("pg18", "partitionwise-parallel"))
    page = tmp_path / "plans.html"
    page.write_text(render_difference(found, ("13", "18"), "ja", "0"), encoding="utf-8")
    driver = browser.driver
    browser.messages()
    browser.requests()
    driver.get(page.as_uri())
    browser.run("document.querySelector('details.plans').open = true")
    WebDriverWait(driver, PATIENCE).until(
        lambda driver: len(driver.find_elements("css selector", "iframe")) == 2
    )
    for frame in driver.find_elements("css selector", "iframe"):
        driver.switch_to.frame(frame)
        WebDriverWait(driver, PATIENCE).until(
            lambda driver: driver.find_elements("css selector", ".plan-node")
        )
        shown = driver.find_element("css selector", "body").text  # not its script, which says it
        assert shown and "Couldn't parse plan" not in shown
        driver.switch_to.default_content()
    driver.save_screenshot(str(tmp_path / "plans.png"))
    assert [one for one in browser.messages() if "SEVERE" in one] == []
    assert browser.requests() == []
