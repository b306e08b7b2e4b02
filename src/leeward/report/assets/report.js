"use strict";
// Draws the figures carried in the page and makes the table of answers searchable. Asks nothing of the network.

const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);

// ---- figures

const touch = window.matchMedia("(pointer: coarse)").matches;

function draw(name) {
  const plot = byId("plot-" + name);
  if (!plot) return;
  const figure = read("figure-" + name);
  // On a touch screen a finger on the map must still scroll the page: zooming there is by the buttons.
  figure.layout.dragmode = touch || name !== "map" ? false : "pan";
  if (plot.clientWidth < 560) {
    figure.layout.font.size = 11;
    for (const { marker } of figure.data) if (name === "map" && marker) marker.size *= 0.7;
  }
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: name === "map",
    showTips: false,
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
    toImageButtonOptions: { filename: "leeward-" + name, scale: 2 },
  };
  plot.home = { "xaxis.range": [...figure.layout.xaxis.range], "yaxis.range": [...figure.layout.yaxis.range] };
  Plotly.newPlot(plot, figure.data, figure.layout, config).then(() => {
    if (name === "map") {
      rescale(plot);
      plot.on("plotly_relayout", () => rescale(plot));
    }
  });
}

// The scale bar is a round length, at most a quarter of what is in view.
function rescale(plot) {
  const [left, right] = plot._fullLayout.xaxis.range;
  const limit = (right - left) / 4;
  const power = 10 ** Math.floor(Math.log10(limit));
  const length = [5, 2, 1].find((digit) => digit * power <= limit * (1 + 1e-12)) * power;
  const start = left + 0.03 * (right - left);
  const shape = plot.layout.shapes[0];
  if (shape.x0 === start && shape.x1 === start + length) return;
  Plotly.relayout(plot, {
    "shapes[0].x0": start,
    "shapes[0].x1": start + length,
    "annotations[0].x": start + length / 2,
    "annotations[0].text": length >= 1 ? length + " km" : +(length * 1000).toPrecision(3) + " m",
  });
}

// Paper has its own width, and what is drawn in pixels does not follow by itself.
window.addEventListener("beforeprint", () => {
  for (const plot of document.querySelectorAll(".plot")) {
    plot.classList.add("printing");
    Plotly.relayout(plot, { ...plot.home, autosize: false, width: plot.clientWidth, height: plot.clientHeight });
  }
});
window.addEventListener("afterprint", () => {
  for (const plot of document.querySelectorAll(".plot")) {
    plot.classList.remove("printing");
    Plotly.relayout(plot, { ...plot.home, autosize: true, width: null, height: null });
  }
});

// ---- answers

const PAGE = 25;

function table() {
  let rows = [];
  let searched = [];
  const heads = [...byId("table").tHead.rows[0].cells];
  const said = heads.findIndex((cell) => "said" in cell.dataset);
  const { one, many, rest } = byId("tools").dataset;
  const body = byId("table").tBodies[0];
  let found = [];
  let page = 0;

  function cell(value, column) {
    const td = document.createElement("td");
    td.className = heads[column].className;
    if (column === said) {
      const mark = td.appendChild(document.createElement("span"));
      mark.className = "mark " + value;
      mark.setAttribute("aria-hidden", "true");
    }
    td.append(value);
    return td;
  }
  function show() {
    const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
    page = Math.min(Math.max(page, 0), last);
    body.replaceChildren(
      ...found.slice(page * PAGE, (page + 1) * PAGE).map((number) => {
        const tr = document.createElement("tr");
        tr.append(...rows[number].map(cell));
        return tr;
      }),
    );
    byId("found").textContent = found.length.toLocaleString("en") + " " + (found.length === 1 ? one : many) + (rest || "");
    byId("page").textContent = "page " + (page + 1).toLocaleString("en") + " of " + (last + 1).toLocaleString("en");
    byId("back").disabled = page === 0;
    byId("on").disabled = page === last;
  }
  function find() {
    const text = byId("find").value.trim().toLowerCase();
    const state = byId("state")?.value;
    found = [...rows.keys()].filter((i) => searched[i].includes(text) && (!state || rows[i][said] === state));
    page = 0;
    show();
  }
  // Other answers in place of those shown: what is searched for, and the page, stay.
  function fill(others) {
    const before = page;
    rows = others;
    searched = rows.map((row) => row.slice(0, said < 0 ? row.length : said).join(" ").toLowerCase());
    find();
    page = before;
    show();
    byId("pages").hidden = rows.length <= PAGE;
  }
  byId("find").addEventListener("input", find);
  byId("state")?.addEventListener("change", find);
  byId("tools").addEventListener("submit", (event) => event.preventDefault());
  byId("back").addEventListener("click", () => { page -= 1; show(); });
  byId("on").addEventListener("click", () => { page += 1; show(); });
  byId("tools").hidden = false;
  fill(read("rows"));
  return fill;
}

const fill = table();
for (const name of ["map", "curve", "answers"]) draw(name);
