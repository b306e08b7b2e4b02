"use strict";
// Shows one window of several: what is said of it, its picture and its answers. Runs after report.js.

const series = read("series");
const slider = byId("window");
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

// A column is the same in all windows, or a word of a few for each row (a digit each), or written out.
function column(one, number) {
  if (one.fixed) return one.fixed;
  if (one.each) return one.each[number];
  return [...one.codes[number]].map((digit) => one.words[DIGITS.indexOf(digit)]);
}

function rowsOf(number) {
  if (series.rows) return series.rows[number];
  const columns = series.columns.map((one) => column(one, number));
  return columns[0].map((_, i) => columns.map((values) => values[i]));
}

// What is said of each place that is on the map; a count is part of what is said where it is published.
function onTheMap(rows) {
  const { state, answered, count } = series.map;
  return series.map.row.map((i) => {
    const asked = answered < 0 || rows[i][answered] === "yes";
    const word = asked ? rows[i][state] : "not asked";
    return [word, asked && count >= 0 && rows[i][count] !== "–" ? word + ", noisy count " + rows[i][count] : word];
  });
}

function points(rows) {
  const { marks, east, north, text } = series.map;
  const said = onTheMap(rows);
  const smaller = byId("plot-map").clientWidth < 560 ? 0.7 : 1;
  return Object.entries(marks).flatMap(([state, marker]) => {
    const here = [...said.keys()].filter((i) => said[i][0] === state);
    if (!here.length) return [];
    return [{
      type: "scatter",
      mode: "markers",
      marker: { ...marker, size: marker.size * smaller },
      x: here.map((i) => east[i]),
      y: here.map((i) => north[i]),
      text: here.map((i) => text[i] + "<br>" + said[i][1]),
      hovertemplate: "%{text}<extra></extra>",
      name: state + " (" + here.length.toLocaleString("en") + ")",
    }];
  });
}

function squares(rows) {
  const { marks, cells, across, down, x, y, text } = series.map;
  const said = onTheMap(rows);
  const states = Object.keys(marks).filter((state) => said.some(([word]) => word === state));
  const [z, over] = [null, ""].map((empty) => Array.from({ length: down }, () => Array(across).fill(empty)));
  said.forEach(([word, whole], i) => {
    const [line, at] = [Math.floor(cells[i] / across), cells[i] % across];
    z[line][at] = states.indexOf(word);
    if (text) over[line][at] = text[i] + "<br>" + whole;
  });
  const steps = states.flatMap((state, i) => [0, 1].map((end) => [(i + end) / states.length, marks[state].color]));
  const heat = { type: "heatmap", x, y, z, zmin: -0.5, zmax: states.length - 0.5, colorscale: steps };
  const keys = states.map((state) => ({
    type: "scatter", x: [null], y: [null], mode: "markers", hoverinfo: "skip",
    marker: { symbol: "square", size: 11, color: marks[state].color },
    name: state + " (" + said.filter(([word]) => word === state).length.toLocaleString("en") + ")",
  }));
  const hover = text ? { text: over, hovertemplate: "%{text}<extra></extra>" } : { hoverinfo: "skip" };
  return [{ ...heat, ...hover, showscale: false, hoverongaps: false }, ...keys];
}

function picture(number, rows) {
  const map = byId("plot-map");
  if (map && series.map) Plotly.react(map, (series.map.cells ? squares : points)(rows), map.layout);
  const plot = byId("plot-answers");
  if (plot && series.figures) {
    const { data, layout } = series.figures[number];
    Plotly.react(plot, data, { ...layout, font: plot.layout.font });
  }
}

function show(number) {
  const rows = rowsOf(number);
  for (const [name, { texts, of }] of Object.entries(series.parts)) {
    byId("part-" + name).innerHTML = texts[of[number]]; // our own page, in which every name is escaped
  }
  byId("when").textContent = series.when[number];
  slider.setAttribute("aria-valuetext", series.when[number]);
  byId("earlier").disabled = number === 0;
  byId("later").disabled = number === series.when.length - 1;
  fill(rows);
  picture(number, rows);
}

// Only the last of many moves within a frame is drawn.
let asked = 0;
function move(to) {
  slider.value = to;
  if (!asked) requestAnimationFrame(() => { asked = 0; show(+slider.value); });
  asked = 1;
}

slider.addEventListener("input", () => move(slider.value));
byId("earlier").addEventListener("click", () => move(+slider.value - 1));
byId("later").addEventListener("click", () => move(+slider.value + 1));
byId("windows").addEventListener("submit", (event) => event.preventDefault());
show(0);
