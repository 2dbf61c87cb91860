"""The page in Chromium: charts are drawn, legends filter them, points tell their numbers."""

import shutil

import pytest

from automata.analysis import wording
from automata.analysis.quantities import TIMES
from automata.analysis.tables import read_csv
from automata.page.build import write_page

pytestmark = pytest.mark.browser

DNA = "#dataset-dna"
POINTS = f"{DNA} .points_marks path"


@pytest.fixture(scope="module")
def browser():
    """A Chromium that is on the machine; of one module, because its event loop runs as long."""
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip(f"no {' or '.join(names)} on the PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def file(experiment):
    write_page(experiment, "snakemake --cores all")
    return experiment / "index.html"


@pytest.fixture
def page(browser, file):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.messages, page.requests = [], []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(POINTS)
    yield page
    context.close()


@pytest.fixture(scope="module")
def table(experiment):
    table = read_csv(experiment / "tables/tradeoff.csv")
    return table.query("dataset == 'dna' and search == 'random'")


def shown(page):
    """Return what Vega says of each point, for those who cannot see it."""
    return [node.get_attribute("aria-label") for node in page.query_selector_all(POINTS)]


def click(page, entry, **options):
    page.locator(f"{DNA} .role-legend-label text", has_text=entry).first.click(**options)


def wait_for_points(page, count):
    """Wait until so many points are drawn, also on a busy machine."""
    drawn = "([points, count]) => document.querySelectorAll(points).length === count"
    page.wait_for_function(drawn, arg=[POINTS, int(count)])


def test_nothing_is_requested_and_nothing_goes_wrong(page, file):
    page.wait_for_timeout(500)
    assert page.requests == [file.as_uri()]
    assert page.messages == []
    assert page.title().startswith("AUTOMATA: experiment")


def test_a_click_in_the_legend_hides_the_others(page, table):
    everything = shown(page)
    click(page, "AUTOMATA")
    wait_for_points(page, (table["selector"] == "gradmatch").sum())
    click(page, "RANDOM (fixed)", modifiers=["Shift"])
    wait_for_points(page, table["selector"].isin(["gradmatch", "random"]).sum())
    page.locator(f"{DNA} svg").first.click(position={"x": 300, "y": 250})
    wait_for_points(page, len(everything))
    assert sorted(shown(page)) == sorted(everything)


def test_a_point_tells_its_numbers_and_runs_nothing_in_them(page, table):
    page.locator(f"{POINTS}[aria-label*='title: AUTOMATA 5 %']").hover()
    text = page.locator("#vg-tooltip-element.visible").inner_text()
    row = table.query("selector == 'gradmatch' and fraction == 0.05").iloc[0]
    assert text.startswith("AUTOMATA 5 %")
    assert wording.number(row["speedup"], TIMES) in text
    assert wording.percent(row["test_accuracy"]) in text
    assert "<script>" in text  # of a configuration: as text, nothing in it is run
    assert page.title().startswith("AUTOMATA: experiment")


def test_a_mark_leads_to_its_records_and_command_by_keyboard(page):
    page.locator(f"{POINTS}[aria-label*='title: AUTOMATA 5 %']").focus()
    assert page.locator("#vg-tooltip-element.visible").inner_text().startswith("AUTOMATA 5 %")
    page.keyboard.press("Enter")
    text = page.locator("#source-dataset-dna").inner_text()
    assert "results/runs/dna/random-hyperband/gradmatch-0.05/seed-2/record.json" in text
    assert "snakemake --cores all --force" in text
    page.locator(f"{DNA} .untuned_marks text").focus()
    page.keyboard.press("Enter")
    assert "/untuned-0/seed-2/" in page.locator("#source-dataset-dna").inner_text()


@pytest.mark.parametrize("width", [400, 760])
def test_a_narrow_window_cuts_nothing_off(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    figure = "document.querySelector('figure .scroll')"
    hidden = page.evaluate(f"{figure}.scrollWidth - {figure}.clientWidth")
    hint = page.evaluate(f"getComputedStyle({figure}, '::before').content")
    assert (hidden > 0) == ("Scroll sideways" in hint) == (width == 400)
