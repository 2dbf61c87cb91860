// Draws the panels from the data in the page, filters their points, and shows what is behind one.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const controls = document.getElementById("controls");
  const tip = document.getElementById("tip");
  const PADDING = 0.07; // of the span of the points, on either side
  const POINT = ".points_marks path";
  const EMBED = { mode: "vega", renderer: "svg", actions: false, defaultStyle: false };
  const views = new Map(); // panel's id -> promise of its view
  const shown = new Map(); // panel's id -> its points, in the order of their nodes
  const stale = new Set(Object.keys(data.panels).filter((id) => data.panels[id].points.length));

  document.documentElement.classList.add("scripted");

  // What the reader chose.

  const checked = (name) =>
    new Set([...controls.querySelectorAll(`[name=${name}]:checked`)].map((box) => box.value));

  function choice() {
    return {
      selectors: checked("selector"),
      fractions: new Set([...checked("fraction")].map(Number)),
      quantity: [...checked("quantity")][0],
    };
  }

  function wanted(point, { selectors, fractions }) {
    if (point.selector === "full") return true;
    const sized = data.whole.includes(point.selector) || fractions.has(point.fraction);
    return sized && selectors.has(point.selector);
  }

  // A panel.

  function rows(panel, chosen) {
    return panel.points
      .filter((point) => wanted(point, chosen) && point.x[chosen.quantity].mean !== null)
      .map((point) => {
        const x = point.x[chosen.quantity];
        const look = data.selectors[point.selector];
        const name = [look.name, point.text].filter(Boolean).join(" ");
        const label = data.quantities[chosen.quantity].label;
        return {
          ...look,
          point,
          selector: point.selector,
          fraction: point.fraction,
          text: point.text,
          x: x.mean,
          xFrom: x.low,
          xTo: x.high,
          y: point.y.mean,
          yFrom: point.y.low,
          yTo: point.y.high,
          label: `${name}. ${label}: ${x.text}. Relative test error: ${point.y.text}.`,
        };
      });
  }

  function limits(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = PADDING * (high - low || 1);
    return [low - room, high + room];
  }

  function viewOf(id) {
    if (!views.has(id)) {
      const plot = document.querySelector(`#${CSS.escape(id)} .plot`);
      views.set(id, vegaEmbed(plot, data.spec, EMBED).then(({ view }) => view));
    }
    return views.get(id);
  }

  async function draw(id) {
    stale.delete(id);
    const view = await viewOf(id);
    const panel = data.panels[id];
    const chosen = choice();
    const points = rows(panel, chosen);
    const untuned = panel.untuned && panel.untuned.inside ? [panel.untuned] : [];
    const [left, xHigh] = limits([1, ...points.flatMap((row) => [row.x, row.xFrom, row.xTo])]);
    const xLow = Math.max(0, left); // ratios are positive
    const [yLow, yHigh] = limits([
      0,
      ...untuned.map((row) => row.y),
      ...points.flatMap((row) => [row.y, row.yFrom, row.yTo]),
    ]);
    const signals = { xLow, xHigh, yLow, yHigh, xTitle: data.quantities[chosen.quantity].label };
    for (const [name, value] of Object.entries(signals)) view.signal(name, value);
    view.data("points", points).data("untuned", untuned);
    view.description(`${panel.title}: ${points.length} points`);
    shown.set(id, points.map((row) => row.point));
    view.resize(); // labels of the axes may need more room than before
    await view.runAsync();
    focusable(id, chosen.quantity);
  }

  function focusable(id, quantity) {
    const figure = document.getElementById(id);
    // One stop for the tab key per panel; arrows go from point to point.
    figure.querySelectorAll(POINT).forEach((node, i) => node.setAttribute("tabindex", i ? -1 : 0));
    const without = data.panels[id].points.filter((point) => point.x[quantity].mean === null);
    figure.querySelector(".live").textContent = [
      quantity === "energy_ratio" ? `; energy: ${data.panels[id].energy}` : "",
      without.length ? `; points without this ratio: ${without.length}` : "",
    ].join("");
    figure.dataset.drawn = quantity;
  }

  // When to draw: as panels come into sight, all of them for printing, and anew after a choice.

  const sight = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) sight.add(entry.target.id);
        else sight.delete(entry.target.id);
        if (entry.isIntersecting && stale.has(entry.target.id)) draw(entry.target.id);
      }
    },
    { rootMargin: "400px" },
  );

  const drawAll = () => Promise.all([...stale].map(draw));

  function changed() {
    const { quantity } = choice();
    const { meaning } = data.quantities[quantity];
    const energy = [...new Set(Object.values(data.panels).map((panel) => panel.energy))];
    document.getElementById("meaning").textContent = meaning.replace("{energy}", energy.join("; "));
    for (const [id, panel] of Object.entries(data.panels)) if (panel.points.length) stale.add(id);
    hide();
    for (const id of sight) draw(id);
  }

  // What is behind a point.

  function element(name, content) {
    const made = document.createElement(name);
    made.append(...[content].flat());
    return made;
  }

  function behind(point) {
    const { name } = data.selectors[point.selector];
    const title = point.text ? `${name}, ${point.text} of the training data` : name;
    const facts = point.facts.flatMap(([key, text]) => [element("dt", key), element("dd", text)]);
    const line = (kind, cells) => element("tr", cells.map((cell) => element(kind, cell)));
    const seed = ([configuration, ...cells]) => {
      const wide = element("td", configuration);
      wide.colSpan = cells.length;
      return [line("td", cells), element("tr", wide)];
    };
    return [
      element("strong", title),
      element("dl", facts),
      element("table", [
        element("thead", line("th", data.seedColumns.slice(1))),
        element("tbody", point.seeds.flatMap(seed)),
      ]),
    ];
  }

  function show(node) {
    const panel = node.closest(".panel").id;
    const index = [...node.parentNode.children].indexOf(node);
    const point = shown.get(panel)[index];
    tip.replaceChildren(...behind(point));
    tip.hidden = false;
    const at = node.getBoundingClientRect();
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const right = document.documentElement.clientWidth - width - 8;
    tip.style.left = `${window.scrollX + Math.max(8, Math.min(at.right + 10, right))}px`;
    const [below, above] = [at.bottom + 10, at.top - height - 10];
    const bottom = window.innerHeight - height - 8;
    let top = below;
    if (below > bottom && above >= 8) top = above;
    else if (below > bottom && at.right + 10 <= right) top = Math.max(8, bottom); // beside it
    tip.style.top = `${window.scrollY + top}px`;
  }

  function hide() {
    tip.hidden = true;
  }

  const pointOf = (event) => event.target instanceof Element && event.target.closest(POINT);

  function walk(event) {
    const node = pointOf(event);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!node || !step) return;
    const nodes = [...node.parentNode.children];
    nodes[(nodes.indexOf(node) + step + nodes.length) % nodes.length].focus();
    event.preventDefault();
  }

  const main = document.querySelector("main");
  for (const kind of ["pointerover", "focusin", "click"]) {
    main.addEventListener(kind, (event) => {
      // A finger is at work until it is lifted: a click.
      if (kind === "pointerover" && event.pointerType === "touch") return;
      const node = pointOf(event);
      if (node) show(node);
      else if (kind !== "focusin") hide();
    });
  }
  main.addEventListener("focusout", hide);
  main.addEventListener("keydown", walk);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  window.addEventListener("beforeprint", drawAll);
  controls.addEventListener("change", changed);
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const id of stale) observer.observe(document.getElementById(id));
})();
