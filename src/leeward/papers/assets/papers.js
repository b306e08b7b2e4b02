"use strict";
// Draws the figures carried in the page when they come into view. Asks nothing of the network.

const config = { responsive: true, displaylogo: false, displayModeBar: false, showTips: false };

function draw(plot) {
  const figure = JSON.parse(document.getElementById("figure-" + plot.dataset.figure).textContent);
  figure.layout.dragmode = false;
  if (plot.clientWidth < 560) figure.layout.font.size = 10;
  Plotly.newPlot(plot, figure.data, figure.layout, config);
}

for (const plot of document.querySelectorAll(".plot")) draw(plot);
