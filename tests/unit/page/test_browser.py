"""The page in Chromium: what is drawn, what filters do, what a point tells."""

from __future__ import annotations

import json

import pytest

from automata.analysis import wording
from automata.analysis.tables import read_csv
from automata.page.build import write_page

pytestmark = pytest.mark.browser

POINT = ".points_marks path"
PANELS = {
    "panel-dna-random-hyperband": ("dna", "random"),
    "panel-dna-tpe-hyperband": ("dna", "tpe"),
    "panel-trec6-random-hyperband": ("trec6", "random"),
}
PLACES = """
figure => {
  const place = node => node.getAttribute("transform").match(/[-\\d.]+/g).map(Number);
  const number = node => Number(node.textContent.replace("\\u2212", "-"));
  const axis = (name, coordinate) => {
    const group = [...figure.querySelectorAll(".role-axis")].find(
      axis => (axis.getAttribute("aria-label") || "").startsWith(name));
    const nodes = [...group.querySelectorAll(".role-axis-label text")];
    const ticks = [...group.querySelectorAll(".role-axis-tick line")];
    const [first, last] = [0, nodes.length - 1];
    const [a, b] = [place(ticks[first])[coordinate], place(ticks[last])[coordinate]];
    const [low, high] = [number(nodes[first]), number(nodes[last])];
    return at => low + (at - a) / (b - a) * (high - low);
  };
  const [x, y] = [axis("X-axis", 0), axis("Y-axis", 1)];
  return [...figure.querySelectorAll(".points_marks path")].map(node => {
    const [across, down] = place(node);
    return [x(across), y(down), node.getAttribute("aria-label")];
  });
}
"""


@pytest.fixture(scope="module")
def file(experiment):
    folders = (experiment / "tables", experiment / "figures")
    write_page(*folders, "test", experiment / "page.html")
    return experiment / "page.html"


class Seen:
    """What a page said and asked for."""

    def __init__(self, page, file):
        self.messages, self.requests = [], []
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.route("**/*", lambda route: self._answer(route, file.as_uri()))

    def _answer(self, route, uri):
        if route.request.url == uri:
            return route.continue_()
        self.requests.append(route.request.url)
        return route.abort()


@pytest.fixture
def open_page(browser, file):
    contexts = []

    def open_page(width=1280, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, **options))
        page = contexts[-1].new_page()
        page.seen = Seen(page, file)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def draw_all(page):
    for name in PANELS:
        page.locator(f"#{name}").scroll_into_view_if_needed()
        page.wait_for_selector(f"#{name}[data-drawn]")


@pytest.fixture
def page(open_page):
    opened = open_page()
    draw_all(opened)
    return opened


@pytest.fixture(scope="module")
def table(experiment):
    return read_csv(experiment / "tables/tradeoff.csv")


def of(table, name):
    dataset, search = PANELS[name]
    return table[(table["dataset"] == dataset) & (table["search"] == search)]


def labels(page, name):
    return [
        node.get_attribute("aria-label") for node in page.query_selector_all(f"#{name} {POINT}")
    ]


def choose(page, name, value, checked):
    box = page.locator(f"#controls [name={name}][value='{value}']")
    box.set_checked(checked) if name != "quantity" else box.check()
    for panel in PANELS:
        page.locator(f"#{panel}").scroll_into_view_if_needed()
    page.wait_for_timeout(300)


def test_nothing_is_requested_and_nothing_goes_wrong(page):
    assert page.seen.requests == []
    assert page.seen.messages == []
    assert page.title() == "AUTOMATA: test"


@pytest.mark.parametrize("name", PANELS)
def test_every_row_of_the_table_is_a_point(page, table, name):
    assert len(labels(page, name)) == len(of(table, name))


def assert_points(page, rows, name, column):
    places = page.locator(f"#{name}").evaluate(PLACES)
    keys = {"full": "FULL.", "full-again": "FULL (repeat)."}
    names = {"random": "RANDOM (fixed)", "gradmatch": "AUTOMATA"}
    shown = {label.split(" (\N{MULTIPLICATION SIGN})")[0]: (x, y, label) for x, y, label in places}
    assert len(shown) == len(rows)
    for row in rows.to_dict("records"):
        fraction = f"{100 * row['fraction']:g} %."
        start = keys.get(row["selector"]) or f"{names[row['selector']]} {fraction}"
        (found,) = [place for text, place in shown.items() if text.startswith(start)]
        x, y, label = found
        assert x == pytest.approx(row[column], abs=0.01 * rows[column].max())
        assert y == pytest.approx(row["relative_test_error"], abs=0.03)
        assert f": {wording.ratio(row[column])}" in label
        assert wording.points(row["relative_test_error"]) in label


@pytest.mark.parametrize("name", PANELS)
def test_points_lie_where_the_table_says(page, table, name):
    assert_points(page, of(table, name), name, "speedup")


@pytest.mark.parametrize("name", PANELS)
def test_faster_is_to_the_right_and_worse_is_above(page, table, name):
    rows = of(table, name)
    boxes = [node.bounding_box() for node in page.query_selector_all(f"#{name} {POINT}")]
    texts = labels(page, name)
    fast = texts.index(next(text for text in texts if text.startswith("AUTOMATA 5 %")))
    assert rows.query("selector == 'gradmatch' and fraction == 0.05")["speedup"].item() > 1
    assert boxes[fast]["x"] > boxes[0]["x"]  # the first is FULL
    assert boxes[fast]["y"] < boxes[0]["y"]


@pytest.mark.parametrize("column", ["energy_ratio", "co2_time_ratio"])
def test_other_quantity_moves_the_points(page, table, column):
    choose(page, "quantity", column, checked=True)
    for name in PANELS:
        rows = of(table, name)
        assert_points(page, rows[rows[column].notna()], name, column)


def test_points_without_the_quantity_are_counted(page):
    choose(page, "quantity", "energy_ratio", checked=True)
    caption = page.locator("#panel-trec6-random-hyperband figcaption").inner_text()
    assert "points without this ratio: 1" in caption


@pytest.mark.parametrize(
    ("name", "value", "gone"),
    [
        ("selector", "gradmatch", lambda label: label.startswith("AUTOMATA ")),
        ("selector", "full-again", lambda label: label.startswith("FULL (repeat)")),
        ("fraction", "0.05", lambda label: " 5 %." in label),
    ],
)
def test_unchecked_box_removes_its_points_and_no_others(page, name, value, gone):
    before = {panel: labels(page, panel) for panel in PANELS}
    choose(page, name, value, checked=False)
    for panel, old in before.items():
        assert labels(page, panel) == [label for label in old if not gone(label)]
    choose(page, name, value, checked=True)
    assert {panel: labels(page, panel) for panel in PANELS} == before


def test_full_stays_when_all_is_unchecked(page):
    for box in page.locator("#controls [type=checkbox]").all():
        box.uncheck()
    page.wait_for_timeout(300)
    assert [len(labels(page, panel)) for panel in PANELS] == [1, 1, 1]


def test_filters_work_by_keyboard(page):
    before = labels(page, "panel-dna-tpe-hyperband")
    page.locator("#controls [value=random]").focus()
    page.keyboard.press("Space")
    page.locator("#panel-dna-tpe-hyperband").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert len(labels(page, "panel-dna-tpe-hyperband")) == len(before) - 2


def assert_tip(page, table, runs):
    tip = page.locator("#tip")
    text = tip.inner_text()
    row = of(table, "panel-dna-tpe-hyperband").query("selector == 'gradmatch'").iloc[0]
    mine = runs[runs["record"].isin(row["records"].split()) & (runs["selector"] == "gradmatch")]
    assert text.startswith("AUTOMATA, 5 % of the training data")
    assert wording.ratio(row["speedup"]) in text
    assert wording.ratio(row["ceiling"]) in text
    assert wording.percent(row["test_accuracy"]) in text
    assert "0, 1, 2" in text
    for run in mine.to_dict("records"):
        assert run["best_configuration"] in text  # as text: nothing in it is run
        assert wording.seconds(run["tuning_seconds"]) in text
        assert wording.seconds(run["final_seconds"]) in text
    assert page.title() == "AUTOMATA: test"


def automata(page):
    start = "AUTOMATA 5 %"
    return page.locator(f"#panel-dna-tpe-hyperband {POINT}[aria-label^='{start}']")


def test_pointer_shows_what_is_behind_a_point(page, table, runs):
    automata(page).hover()
    assert_tip(page, table, runs)
    page.mouse.move(2, 2)
    page.locator("#tables-heading").hover()
    assert page.locator("#tip").is_hidden()


def test_touch_shows_what_is_behind_a_point(open_page, table, runs):
    page = open_page(390, has_touch=True, is_mobile=True)
    draw_all(page)
    automata(page).tap()
    assert_tip(page, table, runs)
    box = page.locator("#tip").bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
    place = automata(page).bounding_box()
    assert not box["y"] < place["y"] < box["y"] + box["height"]  # the point stays in sight
    page.locator("#dataset-dna-heading").tap()
    assert page.locator("#tip").is_hidden()


def test_keyboard_goes_from_point_to_point(page, table, runs):
    page.locator(f"#panel-dna-tpe-hyperband {POINT}[tabindex='0']").focus()
    for _ in labels(page, "panel-dna-tpe-hyperband"):
        if page.locator("#tip").inner_text().startswith("AUTOMATA, 5 %"):
            break
        page.keyboard.press("ArrowRight")
    assert_tip(page, table, runs)
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


@pytest.mark.parametrize("width", [390, 1280])
def test_body_does_not_scroll_sideways(open_page, width):
    page = open_page(width)
    draw_all(page)
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1280, 2)])
def test_panels_fill_the_width(open_page, width, columns):
    page = open_page(width)
    shown = page.locator("#dataset-dna .panels").evaluate(
        "node => getComputedStyle(node).gridTemplateColumns.split(' ').length"
    )
    assert shown == columns


def test_panels_are_drawn_when_they_come_into_sight(open_page):
    page = open_page()
    assert page.locator(".panel[data-drawn]").count() < len(PANELS)


def test_printing_draws_all_panels(open_page):
    page = open_page()
    page.pdf()
    page.wait_for_function("document.querySelectorAll('.panel[data-drawn]').length === 3")


def test_untuned_is_drawn_where_it_was_run(page):
    label = page.locator("#panel-dna-tpe-hyperband .untuned_marks line").get_attribute("aria-label")
    assert label.startswith("untuned: ")
    assert label.endswith("3 draws")


def test_page_without_scripts_shows_all_but_panels(open_page):
    page = open_page(java_script_enabled=False)
    for section in ("summary", "claims", "figures", "tables"):
        assert page.locator(f"#{section}").is_visible()
    assert page.locator("noscript").is_visible()
    assert not page.locator("#controls").is_visible()
    page.locator("#dataset-dna .numbers > summary").click()
    assert page.locator("#dataset-dna .numbers table").is_visible()
    page.locator("#claim-fast summary").click()
    assert page.locator("#claim-fast .paths").is_visible()
    assert page.locator("img").first.is_visible()


def test_verdicts_are_words(page):
    shown = page.locator("#claims .badge").all_inner_texts()
    assert shown == ["reproduced", "not reproduced", "not run"]


def test_data_of_the_page_is_whole(page):
    text = page.locator("#data").text_content()
    assert set(json.loads(text)["panels"]) == set(PANELS)
