"use strict";
// Draws the figures carried in the page when they come into view. Asks nothing of the network.

const config = { responsive: true, displaylogo: false, displayModeBar: false, showTips: false };

function draw(plot) {
  const figure = JSON.parse(document.getElementById("figure-" + plot.dataset.figure).textContent);
  figure.layout.dragmode = false;
  Plotly.newPlot(plot, figure.data, figure.layout, config);
}

for (const plot of document.querySelectorAll(".plot")) draw(plot);
