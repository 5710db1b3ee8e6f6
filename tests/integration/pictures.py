"""Pictures of the page's views."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from cluster.browser import Browser, views
from cluster.paths import Checkout

WIDTH = 1400
# Lists are longer, and limits and their changes are at the end of a node's view.
MOST_PIXELS = 1100
MOST_PIXELS_OF = {"node": 3600}
# The names of the views in docs/page, with their colour schemes.
IN_DOCS = sorted(
    [*((name, "light") for name in views("", "")), ("cluster", "dark"), ("node", "dark")]
)
# A view with its heading alone fills less.
LEAST_FILLED = 0.15
# The part of the lines of pixels below the page's heading that are not of one colour.
FILLED = """
const [url, done] = arguments;
const image = new Image();
image.onerror = () => done(0);
image.onload = () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const from = 60;
  let filled = 0;
  for (let y = from; y < image.height; y += 1) {
    const line = new Uint32Array(context.getImageData(0, y, image.width, 1).data.buffer);
    filled += line.some((pixel) => pixel !== line[0]);
  }
  done(filled / Math.max(1, image.height - from));
};
image.src = url;
"""


def pictures_folder(checkout: Checkout) -> Path:
    """Where the tests write pictures: PAGE_PICTURES, or target/page-pictures."""
    return Path(os.environ.get("PAGE_PICTURES") or checkout.target / "page-pictures")


def most_pixels(view: str) -> int:
    """The height from which on a picture of a view is cut."""
    return MOST_PIXELS_OF.get(view, MOST_PIXELS)


def picture_name(view: str, scheme: str) -> str:
    return f"{view}-{scheme}.png"


def check_filled(browser: Browser, file: Path) -> None:
    """Asserts that a picture shows more than the page's heading."""
    url = f"data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}"
    filled = browser.driver.execute_async_script(FILLED, url)
    assert filled >= LEAST_FILLED, f"{file} is blank: {filled:.0%} of its lines show something"
