"use strict";
// Draws the figures carried in the page. Asks nothing of the network.
for (const plot of document.querySelectorAll(".plot")) {
  const figure = JSON.parse(document.getElementById("figure-" + plot.dataset.figure).textContent);
  if (plot.clientWidth < 560) figure.layout.font.size = 11;
  Plotly.newPlot(plot, figure.data, figure.layout, { responsive: true, displaylogo: false, displayModeBar: false });
}
