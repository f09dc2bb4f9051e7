# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: no console message, no request, no label on top of another.

Lab only: it runs where OKOSU_LAB is set and chromium is installed.
"""

from __future__ import annotations

import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
import bench_fake
import synthetic

from okosu.report import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    not (os.environ.get("OKOSU_LAB") and CHROMIUM), reason="lab only: OKOSU_LAB=1 and chromium"
)

# Both widths are shown in one page, as frames: a headless window cannot be made this narrow, but a frame has its own
# viewport.
FRAME = """<!DOCTYPE html><iframe width="{width}" height="900" srcdoc="{page}"></iframe><pre id="found"></pre><script>
onload = function () {{
  var inner = document.querySelector("iframe").contentDocument, found = [];
  var root = inner.documentElement;
  if (root.scrollWidth > {width}) found.push("page is " + root.scrollWidth + " wide");
  inner.querySelectorAll("details").forEach(function (part) {{ part.open = true; }});
  inner.querySelectorAll("svg").forEach(function (svg) {{
    var frame = svg.getBoundingClientRect();
    if (!frame.width) return;
    var boxes = Array.from(svg.querySelectorAll("text"), function (text) {{
      return {{ text: text.textContent, box: text.getBoundingClientRect() }};
    }});
    boxes.forEach(function (one, i) {{
      if (one.box.left < frame.left - 1 || one.box.right > frame.right + 1 || one.box.bottom > frame.bottom + 1)
        found.push(one.text + " leaves " + svg.getAttribute("aria-label"));
      boxes.slice(i + 1).forEach(function (other) {{
        if (one.box.left < other.box.right - 1 && other.box.left < one.box.right - 1 &&
            one.box.top < other.box.bottom - 1 && other.box.top < one.box.bottom - 1)
          found.push(one.text + " over " + other.text + " in " + svg.getAttribute("aria-label"));
      }});
    }});
  }});
  document.getElementById("found").textContent = JSON.stringify(found);
}};
</script>"""


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[str]]]:
    seen: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", seen
        running.shutdown()
        thread.join()


def browse(path: Path, profile: Path) -> tuple[str, list[str], list[str]]:
    """(DOM after load, console messages, requested addresses that are neither file: nor data:)."""
    net = profile / "net.json"
    done = subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--no-first-run", "--disable-sync",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--enable-logging=stderr",
         f"--user-data-dir={profile}", f"--log-net-log={net}", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    # The browser's own requests (component updates, clock) have no origin; the requests of a page name it.
    events = [event.get("params", {}) for event in json.loads(net.read_text())["events"]]
    asked = [e["url"] for e in events if "url" in e and str(e.get("initiator", "")).startswith(("file:", "null"))]
    return done.stdout, console, [url for url in asked if not url.startswith(("file:", "data:"))]


ALL = {**synthetic.ALL, "bench": bench_fake.envelope}


def text(name: str) -> str:
    return page.render([(Path(f"{name}.json"), ALL[name]())])


def test_the_check_sees_what_it_looks_for(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    address, seen = server
    bad = tmp_path / "bad.html"
    bad.write_text(f"<img src='{address}/asked'><script>console.error('said')</script>")
    _, console, asked = browse(bad, tmp_path)
    assert any("said" in line for line in console)
    assert f"{address}/asked" in asked
    assert "/asked" in seen
    overlap = '<svg width="100" height="50" aria-label="x"><text y="20">one</text><text y="25">two</text></svg>'
    bad.write_text(FRAME.format(width=420, page=html.escape(overlap)))
    assert "one over two in x" in found_in(browse(bad, tmp_path)[0])


def found_in(dom: str) -> str:
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found
    assert found[1], "the script in the frame did not run"
    return html.unescape(found[1])


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_console_message_and_no_request(name: str, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text(text(name), encoding="utf-8")
    dom, console, asked = browse(out, tmp_path)
    assert console == []
    assert asked == []
    assert "Copy</button>" in dom, "the script did not run"


@pytest.mark.parametrize("width", [420, 1280])
@pytest.mark.parametrize("name", sorted(ALL))
def test_no_label_lies_over_another(name: str, width: int, tmp_path: Path) -> None:
    out = tmp_path / "frame.html"
    out.write_text(FRAME.format(width=width, page=html.escape(text(name))), encoding="utf-8")
    assert json.loads(found_in(browse(out, tmp_path)[0])) == []
