"""Pictures of first screens, by headless Chromium, small enough for a repository."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from teiten.errors import UsageError

WIDTH, HEIGHT = 1400, 900
"""Pixels of the window."""
MOST = 80 * 1024
"""Bytes of a picture."""
QUALITIES = (90, 80, 70, 60, 50, 40)
"""Of WebP, from the best on: the first that is small enough is taken."""
PATIENCE = 300
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")


class Camera:
    """A Chromium that shows files."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def first_screen(self, page: Path) -> bytes:
        """The upper end of a report as WebP, once its charts are drawn."""
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(page.as_uri())
        WebDriverWait(self.driver, PATIENCE).until(
            lambda driver: driver.execute_script(
                "return document.documentElement.dataset.charts === 'drawn'"
                " || !document.querySelector('[data-chart]')"
            )
        )
        for quality in QUALITIES:
            picture = self._shot(quality)
            if len(picture) <= MOST:
                return picture
        raise UsageError(
            f"the picture of {page.name} has {len(picture)} bytes at the least quality",
            "make the window smaller",
        )

    def _shot(self, quality: int) -> bytes:
        taken = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"format": "webp", "quality": quality}
        )
        return base64.b64decode(taken["data"])


@contextmanager
def camera() -> Iterator[Camera]:
    """Raises UsageError without Chromium and its driver."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver_path = shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        raise UsageError(
            "there is no chromium or no chromedriver", "apt-get install chromium chromium-driver"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield Camera(driver)
    finally:
        driver.quit()
