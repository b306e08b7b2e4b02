"""What an hour of a household's electricity shows, before and after noise: Figure 4 of d-privacy, under both readings of ε.

The paper draws noise of rate ε on every reading. That is ε·d_1: it hides a change of one reading. To hide that all readings
of an hour moved, ε·d_∞, takes more noise. Writes meters.html, a page that works offline, and prints errors and prices.

The readings are those of one house near Paris (UCI Machine Learning Repository, doi 10.24432/C58K54, CC BY 4.0).
It needs what a plain install lacks: pip install "leeward[analysis,frames]".
"""

import numpy as np
from plotly.subplots import make_subplots

import leeward as lw
from leeward.local.series import Closeness, ReadingGrid, Schedule
from leeward.papers import household_power

house = household_power()
grid = ReadingGrid("W", lower="0 W", upper="12 kW", step="1 W")
clock = Schedule(start="2006-12-17", end="2007-01-11", every="1 min")
columns = {"time": "datetime", "value": "watts"}
choices = {
    "ε·d_1: noise on each reading": ("manhattan", 1, "independent"),
    "ε·d_∞ an hour: norm noise": ("maximum", 60, "norm"),
    "ε·d_∞ an hour: noise on each reading": ("maximum", 60, "independent"),
}
inside = house[house["datetime"].between("2006-12-17", "2007-01-11", inclusive="left")]
shown = inside["datetime"].between("2006-12-17 18:00", "2006-12-17 19:00", inclusive="left").to_numpy()
minute = np.arange(60)
day = inside["datetime"].dt.date.to_numpy()
daily = inside.groupby(day)["watts"].sum() / 60_000  # kWh

figure = make_subplots(
    rows=3,
    shared_xaxes=True,
    vertical_spacing=0.07,
    subplot_titles=("Before", "ε·d_1: noise of rate ε on each reading", "ε·d_∞: norm noise on the hour"),
)
true = inside["watts"].to_numpy()
line = {"x": minute, "y": true[shown], "mode": "lines", "line": {"color": "#777777"}, "name": "true readings"}
for row in (1, 2, 3):
    figure.add_scatter(**line, row=row, col=1, showlegend=row == 1)

print(f"{'at ε for each 10 W':38} {'error':>8} {'said':>8} {'like it':>7}  {'d_1':>5} {'d_∞ an hour':>11} {'a day':>9}")
for epsilon, colour, symbol in (("0.1", "#0072b2", "circle"), ("0.5", "#d55e00", "diamond")):
    for name, (between, window, noise) in choices.items():
        close = Closeness(between, epsilon=epsilon, unit="10 W", window=window)
        series = lw.Series(close, grid, clock, noise=noise, missing="keep")  # two gaps of three minutes
        noisy = series.perturb(house, **columns)["watts"].to_numpy()
        hour = 60 // window * series.price.window
        off = (inside.assign(watts=noisy).groupby(day)["watts"].sum() / 60_000 - daily).abs().mean()
        alike = np.corrcoef(noisy[shown], true[shown])[0, 1]
        print(
            f"ε={epsilon} {name:33} {np.abs(noisy - true).mean():6,.0f} W {series.mechanism.typical_error():6,.0f} W"
            f" {alike:7.2f}  {float(series.price.readings):5.3g} {float(hour):11.3g} {off:5.2f} kWh"
        )
        if (between, noise) != ("maximum", "independent"):
            figure.add_scatter(
                x=minute,
                y=noisy[shown],
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": 7},
                name=f"ε = {epsilon} for each 10 W",
                legendgroup=epsilon,
                showlegend=between == "manhattan",
                row=2 if between == "manhattan" else 3,
                col=1,
            )

print("\nA day's total, published by itself instead of added up from noisy readings:")
for between in ("manhattan", "maximum"):
    totals = lw.Totals(lw.Series(Closeness(between, epsilon="0.5", unit="10 W"), grid, clock, missing="keep"))
    print(
        f"{between:10} off by {float(totals.expected_error()) / 1000:.4f} kWh; all readings of a day moving by 10 W cost"
        f" ε = {float(totals.price.window):g}"
    )
print(f"A day has {daily.mean():.1f} kWh on average.")

figure.update_layout(
    template="plotly_white",
    height=900,
    title="One hour of a house's electricity, a reading a minute (17 December 2006, 18:00)",
    legend={"orientation": "h", "y": -0.08},
    margin={"l": 70, "r": 30, "t": 90, "b": 70},
)
figure.update_yaxes(title_text="W")
figure.update_xaxes(title_text="minute", row=3, col=1)
figure.write_html("meters.html", include_plotlyjs=True)
print("Written: meters.html")
