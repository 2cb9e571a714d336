// Draws the figures of a report, copies them, and makes its table of trials sortable. The data is in the
// JSON element `report`; what it holds is described where it is made, in crates/core/report/src/.
"use strict";
(() => {
  const COLORS = 8;
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "cross", "star", "wye"];
  const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
  const color = (i) => `var(--c${i % COLORS})`;
  const symbol = (i) => SYMBOLS[i % SYMBOLS.length];
  const dash = (i) => DASHES[Math.floor(i / COLORS) % DASHES.length];

  // Figures for people: three digits, as the tables have them.
  const figure = (value) => {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
    const shown = digits < 0 ? Math.round(value) : Number(value.toPrecision(3));
    return shown.toLocaleString("en-US", { minimumFractionDigits: Math.max(0, Math.min(digits, 12)), maximumFractionDigits: 12 });
  };
  const tick = (value) => {
    const size = Math.abs(value);
    if (size >= 1e4) return d3.format("~s")(value).replace("G", "B");
    return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 12 });
  };
  const seconds = (value) => {
    const [scale, unit] = value >= 1 ? [1, "s"] : value >= 1e-3 ? [1e3, "ms"] : value >= 1e-6 ? [1e6, "us"] : [1e9, "ns"];
    return `${figure(value * scale)} ${unit}`;
  };
  const secondsTick = (value) => (value === 0 ? "0" : seconds(value).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, ""));

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // A key: the mark of each series as it is drawn.
  const legend = (label, names, mark) => {
    const box = element("div", label ? `${label}: ` : "", { class: "legend" });
    names.forEach((name, i) => {
      const item = element("span", "");
      item.append(mark(i), element("span", name));
      box.append(item);
    });
    return box;
  };
  const lineKey = (i) => {
    const svg = d3.create("svg").attr("width", 30).attr("height", 12).attr("aria-hidden", "true");
    svg.append("line").attr("x1", 0).attr("x2", 30).attr("y1", 6).attr("y2", 6)
      .attr("stroke", color(i)).attr("stroke-width", 2).attr("stroke-dasharray", dash(i));
    const shapes = { circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle, diamond: d3.symbolDiamond,
      cross: d3.symbolCross, star: d3.symbolStar, wye: d3.symbolWye };
    svg.append("path").attr("transform", "translate(15,6)").attr("d", d3.symbol(shapes[symbol(i)], 45)()).attr("fill", color(i));
    return svg.node();
  };
  const boxKey = (fill) => {
    const svg = d3.create("svg").attr("width", 12).attr("height", 12).attr("aria-hidden", "true");
    svg.append("rect").attr("width", 12).attr("height", 12).attr("fill", fill);
    return svg.node();
  };

  // Panels side by side where there is room, all of one size; those without anything to show are left out.
  const panels = (root, titles, used, draw) => {
    const shown = d3.range(titles.length).filter((panel) => used.has(panel));
    const room = root.clientWidth || 640;
    const most = Math.max(1, Math.min(shown.length, Math.floor(room / 300)));
    // As many in each row, where that is possible.
    const columns = Math.ceil(shown.length / Math.ceil(shown.length / most));
    const width = Math.min(1100, Math.floor((room - (columns - 1) * 24) / columns));
    const box = element("div", "", { class: "panels", style: `grid-template-columns: repeat(${columns}, minmax(0, 1fr))` });
    shown.forEach((panel) => {
      const cell = element("div", "");
      if (titles[panel]) cell.append(element("p", titles[panel], { class: "title" }));
      for (const svg of [draw(panel, width)].flat()) cell.append(svg);
      box.append(cell);
    });
    root.append(box);
  };

  // Names differ at their ends, so that what is too long is cut in the middle.
  const shortened = (label, room) => {
    const half = Math.floor((room / 6.6 - 2) / 2);
    return label.length > 2 * half + 1 ? `${label.slice(0, half)}…${label.slice(-half)}` : label;
  };
  const COMMON = { marginLeft: 56, marginRight: 16, marginTop: 24, marginBottom: 42, style: { background: "none", fontSize: "12px" } };
  const grid = (axis = {}) => Plot.gridY({ stroke: "var(--rule)", strokeOpacity: 1, ...axis });
  const tip = (data, options) => Plot.tip(data, Plot.pointer({ fill: "var(--page)", stroke: "var(--quiet)", ...options }));

  // The axis of the main factor: its levels, where numbers are at their place.
  const xAxis = (x) => {
    const ordinal = x.scale === "point";
    const at = (level) => (ordinal ? x.levels[level] : x.numbers[level]);
    const name = new Map(x.levels.map((label, level) => [at(level), label]));
    const scale = ordinal
      ? { type: "point", domain: x.levels, padding: 0.5 }
      : { type: x.scale, domain: d3.extent(x.numbers), inset: 24 };
    return { at, scale: { ...scale, label: x.label, labelAnchor: "center", labelArrow: "none", ticks: ordinal ? undefined : x.numbers, tickFormat: (v) => name.get(v) ?? "" } };
  };

  const drawResponse = (root, spec) => {
    const x = xAxis(spec.x);
    const means = spec.means.map(([panel, series, level, y, low, high, title]) => ({ panel, series, x: x.at(level), order: level, y, low, high, title }));
    const points = spec.points.map(([panel, series, level, y, title]) => ({ panel, series, x: x.at(level), y, title }));
    const values = [...means.flatMap((m) => [m.y, m.low ?? m.y, m.high ?? m.y]), ...points.map((p) => p.y)];
    const domain = [Math.min(0, d3.min(means, (m) => m.y), d3.min(points, (p) => p.y)), d3.max(values)];
    const used = d3.sort(new Set(means.map((m) => m.series)));
    if (spec.seriesLabel) root.append(legend(spec.seriesLabel, used.map((i) => spec.series[i]), (i) => lineKey(used[i])));
    panels(root, spec.panels, new Set(means.map((m) => m.panel)), (panel, width) => {
      // Series stand a little beside each other, so that intervals do not cover one another.
      const shift = (i) => (i - (spec.series.length - 1) / 2) * Math.min(5, 40 / spec.series.length);
      const marks = spec.series.flatMap((_, i) => {
        const own = (all) => all.filter((m) => m.panel === panel && m.series === i);
        const dx = shift(i);
        const line = d3.sort(own(means), (m) => m.order);
        return [
          Plot.dot(own(points), { x: "x", y: "y", dx: dx + 6, r: 2.2, fill: color(i), fillOpacity: 0.65 }),
          // Categories have no order, so nothing lies between them.
          ...(spec.x.scale === "point" ? [] : [Plot.line(line, { x: "x", y: "y", dx, stroke: color(i), strokeWidth: 1.8, strokeDasharray: dash(i) })]),
          Plot.ruleX(line.filter((m) => m.low !== null), { x: "x", y1: (m) => Math.max(m.low, domain[0]), y2: "high", dx, stroke: color(i), strokeWidth: 1.5 }),
          Plot.dot(line, { x: "x", y: "y", dx, symbol: symbol(i), fill: color(i), r: 4 }),
        ];
      });
      const hover = [...means, ...points].filter((m) => m.panel === panel);
      return Plot.plot({
        ...COMMON, width, height: Math.min(360, Math.max(200, width * 0.55)),
        x: x.scale, y: { domain, nice: true, label: spec.y, tickFormat: tick, labelAnchor: "top" },
        marks: [grid(), Plot.ruleY([domain[0]], { stroke: "var(--quiet)" }), ...marks, tip(hover, { x: "x", y: "y", title: "title" })],
      });
    });
  };

  const PART_COLORS = { "CPU": "var(--c2)", "data-read": "var(--c5)", "data-write": "var(--c0)", "log": "var(--c1)", "lock": "var(--c3)",
    "latch": "var(--c4)", "checkpoint": "var(--c6)", "run queue": "var(--part-signal)" };
  const partColor = (part) => PART_COLORS[part] ?? `var(--part-${part}, var(--part-other))`;

  const drawProfile = (root, spec) => {
    const scale = { type: "band", domain: spec.x.levels, label: spec.x.label, labelAnchor: "center", labelArrow: "none", padding: 0.25 };
    const all = spec.bars.flatMap(([panel, level, total, values]) =>
      values.map((value, i) => ({ panel, x: spec.x.levels[level], part: spec.parts[i], value, share: (100 * value) / total, total })));
    const extent = (key) => {
      const sums = d3.rollups(all, (rows) => [d3.sum(rows, (r) => Math.min(0, r[key])), d3.sum(rows, (r) => Math.max(0, r[key]))], (r) => r.panel, (r) => r.x);
      const [low, high] = d3.extent(sums.flatMap(([, bars]) => bars.flatMap(([, ends]) => ends)));
      // What is below zero only by rounding needs no room.
      return [low < -0.005 * high ? low : 0, high];
    };
    root.append(legend("", spec.parts, (i) => boxKey(partColor(spec.parts[i]))));
    const one = (panel, width, key, label, domain) => {
      const bar = { x: "x", y: key, fill: (r) => partColor(r.part), order: spec.parts, insetTop: 0.5, z: "part" };
      const data = all.filter((r) => r.panel === panel);
      const title = (r) => `${spec.x.label} = ${r.x}\n${r.part}: ${figure(r.share)} %, ${seconds(r.value)} of ${seconds(r.total)}`;
      return Plot.plot({
        ...COMMON, width, height: 230, x: scale, y: { domain, nice: key === "value", label, tickFormat: tick, labelAnchor: "top" },
        marks: [grid(), Plot.barY(data, Plot.stackY({ ...bar })), Plot.ruleY([0], { stroke: "var(--quiet)" }),
          Plot.tip(data, Plot.pointer(Plot.stackY({ ...bar, fill: "var(--page)", stroke: "var(--quiet)", title, order: spec.parts })))],
      });
    };
    const [shares, totals] = [extent("share"), extent("value")];
    panels(root, spec.panels, new Set(all.map((r) => r.panel)), (panel, width) => [
      one(panel, width, "share", "% of session time", [Math.min(0, shares[0]), Math.max(100, shares[1])]),
      one(panel, width, "value", `session time (${spec.unit})`, totals),
    ]);
  };

  const drawWaterfall = (root, spec) => {
    const width = Math.min(1100, root.clientWidth || 640);
    const steps = spec.steps.map((step, i) => ({ ...step, i, low: Math.min(step.from, step.to), high: Math.max(step.from, step.to) }));
    const fill = (s) => (s.kind === "total" ? "var(--quiet)" : s.to < s.from ? "var(--c2)" : "var(--c1)");
    const longest = d3.max(steps, (s) => s.label.length);
    const left = Math.min(width * 0.38, 18 + 7 * longest);
    const joins = steps.slice(0, -1).map((s, i) => ({ at: s.to, i, next: i + 1 }));
    root.append(Plot.plot({
      ...COMMON, width, marginLeft: left, marginRight: 90, marginTop: 8, height: 54 + 27 * steps.length,
      x: { label: spec.label, labelAnchor: "center", labelArrow: "none", tickFormat: tick, zero: true, nice: true, ticks: Math.max(2, width / 160) },
      y: { type: "band", domain: steps.map((s) => s.i), label: null, padding: 0.3,
        tickFormat: (i) => shortened(steps[i].label, left), tickSize: 0 },
      marks: [
        Plot.gridX({ stroke: "var(--rule)", strokeOpacity: 1 }),
        Plot.ruleX([0], { stroke: "var(--quiet)" }),
        Plot.barX(steps, { x1: "low", x2: "high", y: "i", fill, fillOpacity: (s) => (s.doubt ? 0.4 : 1) }),
        Plot.tickX(joins, { x: "at", y: "next", stroke: "var(--quiet)", strokeWidth: 1 }),
        Plot.text(steps, { x: "high", y: "i", text: "figure", textAnchor: "start", dx: 6, fill: "currentColor" }),
        Plot.tip(steps, Plot.pointerY({ x: "high", y: "i", fill: "var(--page)", stroke: "var(--quiet)",
          title: (s) => [s.label, `${s.figure} ${s.interval}`.trim(), s.share && `${s.share} of the change`, s.doubt].filter(Boolean).join("\n") })),
      ],
    }));
  };

  // The session time of two sides, each as one bar of its parts.
  const drawSides = (root, spec) => {
    const width = Math.min(1100, root.clientWidth || 400);
    const left = Math.min(width * 0.4, 18 + 7 * d3.max(spec.sides, (side) => side.name.length));
    const rows = spec.sides.flatMap(({ name, values, total }, i) =>
      values.map((value, part) => ({ i, name, value, total, part: spec.parts[part] })));
    const bar = { x: "value", y: "i", z: "part", order: spec.parts };
    root.append(legend("", spec.changes, (i) => boxKey(partColor(spec.parts[i]))));
    root.append(Plot.plot({
      ...COMMON, width, marginLeft: left, marginRight: 64, marginTop: 4, height: 48 + 34 * spec.sides.length,
      x: { label: spec.label, labelAnchor: "center", labelArrow: "none", tickFormat: tick, zero: true, nice: true, ticks: Math.max(2, width / 160) },
      y: { type: "band", domain: d3.range(spec.sides.length), label: null, padding: 0.3, tickSize: 0, tickFormat: (i) => shortened(spec.sides[i].name, left) },
      marks: [
        Plot.gridX({ stroke: "var(--rule)", strokeOpacity: 1 }),
        Plot.barX(rows, Plot.stackX({ ...bar, fill: (r) => partColor(r.part), insetRight: 0.5 })),
        Plot.ruleX([0], { stroke: "var(--quiet)" }),
        Plot.text(spec.sides, { x: ({ values }) => d3.sum(values, (v) => Math.max(0, v)), y: (_, i) => i, text: "total", textAnchor: "start", dx: 6, fill: "currentColor" }),
        Plot.tip(rows, Plot.pointer(Plot.stackX({ ...bar, fill: "var(--page)", stroke: "var(--quiet)", title: (r) => `${r.name}\n${r.part}: ${figure(r.value)} of ${r.total}` }))),
      ],
    }));
  };

  const percentile = (slower) => (slower <= 1 ? "0 %" : slower === 2 ? "50 %" : `${Number((100 - 100 / slower).toPrecision(12))} %`);
  const drawLatency = (root, spec) => {
    const rows = spec.lines.flatMap(([panel, series, points]) => points.map(([x, y]) => ({ panel, series, x, y })));
    const used = [...new Set(spec.lines.map(([, series]) => series))];
    if (spec.seriesLabel && used.length > 1) {
      root.append(legend(spec.seriesLabel, used.map((i) => spec.series[i]), (i) => lineKey(used[i])));
    }
    const [xs, ys] = [d3.extent(rows, (r) => r.x), d3.extent(rows, (r) => r.y)];
    // Round shares first, others where they do not touch a neighbour.
    const ticks = (width) => {
      const at = (v) => (Math.log(v) / Math.log(xs[1])) * (width - 80);
      const wanted = [1, ...d3.range(1, 9).map((n) => 10 ** n), 2, 4, 20].filter((v) => v <= xs[1] * 1.01);
      return wanted.reduce((kept, v) => (kept.every((other) => Math.abs(at(v) - at(other)) > 44) ? [...kept, v] : kept), []);
    };
    // Powers of ten, and what is between them where there are few.
    const span = ys[1] / ys[0];
    const steps = span < 8 ? [1, 1.5, 2, 3, 5, 7] : span < 100 ? [1, 2, 5] : [1];
    const levels = d3.range(-10, 5).flatMap((n) => steps.map((step) => step * 10 ** n)).filter((v) => v >= ys[0] * 0.9 && v <= ys[1] * 1.1);
    panels(root, spec.panels, new Set(rows.map((r) => r.panel)), (panel, width) => {
      const own = rows.filter((r) => r.panel === panel);
      const every = (i) => own.filter((r, n) => r.series === i && n % 6 === 0);
      const title = (r) => [spec.series[r.series] && `${spec.seriesLabel} = ${spec.series[r.series]}`,
        `${figure(100 - 100 / r.x)} % are at most ${seconds(r.y)}`].filter(Boolean).join("\n");
      return Plot.plot({
        ...COMMON, marginLeft: 64, width, height: Math.min(330, Math.max(230, width * 0.5)),
        x: { type: "log", domain: xs, label: "percentile", labelAnchor: "center", labelArrow: "none", ticks: ticks(width), tickFormat: percentile },
        y: { type: "log", domain: [ys[0] * 0.9, ys[1] * 1.1], label: "latency", labelAnchor: "top", ticks: levels, tickFormat: secondsTick },
        marks: [grid({ ticks: levels }), ...used.flatMap((i) => [
          Plot.line(own.filter((r) => r.series === i), { x: "x", y: "y", stroke: color(i), strokeWidth: 1.8, strokeDasharray: dash(i) }),
          Plot.dot(every(i), { x: "x", y: "y", fill: color(i), symbol: symbol(i), r: 3 }),
        ]), tip(own, { x: "x", y: "y", title })],
      });
    });
  };

  const drawSeries = (root, spec, state) => {
    const chosen = state.chosen ?? spec.first;
    if (spec.configurations.length > 1) {
      const label = element("label", "Configuration ", { class: "choice" });
      const select = element("select", "");
      spec.configurations.forEach((own, i) => select.append(element("option", own.label, { value: i })));
      select.value = chosen;
      select.addEventListener("change", () => { state.chosen = Number(select.value); state.redraw(); root.querySelector("select").focus(); });
      label.append(select);
      const line = element("div", "");
      line.append(label);
      root.append(line);
    }
    // All configurations share the axes.
    const ends = spec.configurations.flatMap((own) => own.trials.flatMap((t) => t.high ?? t.mean));
    const last = d3.max(spec.configurations, (own) => d3.max(own.trials, (t) => t.start + t.step * t.mean.length));
    const first = d3.min(spec.configurations, (own) => d3.min(own.trials, (t) => t.start));
    const trials = spec.configurations[chosen].trials;
    const rows = trials.flatMap((t, i) => t.mean.map((y, n) => ({
      i, y, x: t.start + t.step * (n + 0.5), low: t.low?.[n], high: t.high?.[n],
      title: `block ${t.block}, second ${figure(t.start + t.step * (n + 0.5))}\n${figure(y)} ${spec.unit}`,
    })));
    if (trials.length > 1) root.append(legend("block", trials.map((t) => String(t.block)), lineKey));
    const width = Math.min(1100, root.clientWidth || 640);
    root.append(Plot.plot({
      ...COMMON, width, height: 250,
      x: { domain: [Math.min(0, first), last], label: "seconds after the start of the measurement", labelAnchor: "center", labelArrow: "none", tickFormat: tick },
      y: { domain: [0, d3.max(ends)], nice: true, label: spec.unit, tickFormat: tick, labelAnchor: "top" },
      marks: [
        first < 0 ? Plot.rectX([0], { x1: first, x2: 0, fill: "var(--wash)" }) : null,
        first < 0 ? Plot.text([first], { x: first, frameAnchor: "top-left", dx: 4, dy: 2, text: ["warm-up"], textAnchor: "start", fill: "var(--quiet)" }) : null,
        grid(), Plot.ruleY([0], { stroke: "var(--quiet)" }),
        first < 0 ? Plot.ruleX([0], { stroke: "var(--quiet)", strokeDasharray: "3 3" }) : null,
        Plot.areaY(rows.filter((r) => r.low !== undefined), { x: "x", y1: "low", y2: "high", z: "i", fill: (r) => color(r.i), fillOpacity: 0.15 }),
        Plot.line(rows, { x: "x", y: "y", z: "i", stroke: (r) => color(r.i), strokeWidth: 1.4 }),
        rows.length <= 120 ? Plot.dot(rows, { x: "x", y: "y", r: 3, fill: (r) => color(r.i), symbol: (r) => symbol(r.i) }) : null,
        tip(rows, { x: "x", y: "y", title: "title" }),
      ],
      symbol: { type: "identity" },
    }));
  };

  // A chart of the report's text: labels, bars and figures in rows.
  const drawBars = (root, spec) => {
    const bars = spec.groups.flatMap((group) => group.bars.map((bar) => ({ ...bar, group: group.label })));
    const shown = bars.filter((bar) => Number.isFinite(bar.value));
    // Where nothing is below zero, intervals are cut there.
    if (!spec.diverging) for (const bar of shown) if (bar.interval) bar.interval = bar.interval.map((end) => Math.max(0, end));
    if (shown.length === 0) return;
    const width = Math.min(1100, root.clientWidth || 640);
    const left = Math.min(width * 0.4, 18 + 7 * d3.max(bars, (bar) => bar.label.length));
    const figureText = (bar) => (bar.note ? `${bar.figure}   ${bar.note}` : bar.figure);
    const right = Math.min(width * 0.45, 20 + 6.6 * d3.max(bars, (bar) => figureText(bar).length));
    const domain = [Math.min(0, d3.min(shown, (b) => b.interval?.[0] ?? b.value), d3.min(shown, (b) => b.value)), Math.max(0, d3.max(shown, (b) => b.interval?.[1] ?? b.value))];
    spec.groups.forEach((group, number) => {
      const groupBars = shown.filter((bar) => bar.group === group.label).map((bar, i) => ({ ...bar, i }));
      if (groupBars.length === 0) return;
      if (group.label) root.append(element("p", group.label, { class: "title" }));
      const end = (bar) => Math.max(0, bar.value, bar.interval?.[1] ?? 0);
      const lastOne = number === spec.groups.length - 1;
      root.append(Plot.plot({
        ...COMMON, width, marginLeft: left, marginRight: right, marginTop: 4, marginBottom: lastOne ? 40 : 4, height: (lastOne ? 48 : 10) + 22 * groupBars.length,
        x: { domain, label: lastOne ? spec.unit : null, axis: lastOne ? "bottom" : null, labelAnchor: "center", labelArrow: "none", tickFormat: tick },
        y: { type: "band", domain: groupBars.map((bar) => bar.i), label: null, padding: 0.25, tickSize: 0,
          tickFormat: (i) => shortened(groupBars[i].label, left) },
        marks: [
          Plot.barX(groupBars, { x1: 0, x2: "value", y: "i", fill: "var(--c0)" }),
          Plot.ruleY(groupBars.filter((b) => b.interval), { x1: (b) => b.interval[0], x2: (b) => b.interval[1], y: "i", stroke: "currentColor", strokeWidth: 1.2 }),
          Plot.ruleX([0], { stroke: "var(--quiet)" }),
          Plot.text(groupBars, { x: end, y: "i", text: figureText, textAnchor: "start", dx: 6, fill: "currentColor" }),
          Plot.tip(groupBars, Plot.pointerY({ x: end, y: "i", fill: "var(--page)", stroke: "var(--quiet)", title: (b) => [b.label, `${b.figure} ${spec.unit}`, b.note].filter(Boolean).join("\n") })),
        ],
      }));
    });
  };

  // Measured throughput, what a model says of it, and a law of scalability.
  const drawModel = (root, spec) => {
    const held = new Set(spec.heldOut);
    const measured = spec.measured.map(([x, y, low, high, title]) => ({ x, y, low: low ?? y, high: high ?? y, title }));
    const predicted = spec.predicted.map(([x, y, low, high]) => ({ x, y, low, high }));
    const law = spec.law.map(([x, y]) => ({ x, y }));
    const width = Math.min(760, root.clientWidth || 640);
    const most = d3.max([...measured.map((m) => m.high), ...predicted.map((p) => p.y), ...law.map((l) => l.y)]) * 1.1;
    const xs = d3.extent([...measured, ...law], (d) => d.x);
    const peak = spec.peak !== null && spec.peak >= xs[0] && spec.peak <= xs[1] ? [spec.peak] : [];
    root.append(Plot.plot({
      ...COMMON, width, height: Math.min(340, Math.max(230, width * 0.5)),
      x: { type: xs[0] > 0 ? "log" : "linear", domain: xs, inset: 16, label: spec.x, labelAnchor: "center", labelArrow: "none", ticks: measured.map((m) => m.x), tickFormat: tick },
      y: { domain: [0, most], nice: true, label: spec.y, tickFormat: tick, labelAnchor: "top", clamp: true },
      marks: [grid(), Plot.ruleY([0], { stroke: "var(--quiet)" }),
        Plot.areaY(predicted, { x: "x", y1: "low", y2: "high", fill: "var(--c0)", fillOpacity: 0.15 }),
        Plot.line(predicted, { x: "x", y: "y", stroke: "var(--c0)", strokeWidth: 1.8 }),
        Plot.line(law, { x: "x", y: "y", stroke: "var(--c1)", strokeWidth: 1.4, strokeDasharray: "5 4" }),
        Plot.ruleX(peak, { stroke: "var(--c1)", strokeDasharray: "2 3" }),
        Plot.ruleX(measured, { x: "x", y1: "low", y2: "high", stroke: "currentColor" }),
        Plot.dot(measured, { x: "x", y: "y", r: 4, stroke: "currentColor", fill: (m) => (held.has(m.x) ? "var(--page)" : "currentColor") }),
        tip(measured, { x: "x", y: "y", title: "title" })],
    }));
  };

  // Sizes of effects against half-normal quantiles.
  const drawHalfNormal = (root, spec) => {
    const points = spec.points.map(([x, y, label, out]) => ({ x, y, label, out }));
    const width = Math.min(760, root.clientWidth || 640);
    const most = d3.max(points, (p) => p.x) * 1.08;
    const line = spec.slope === null ? [] : [{ x: 0, y: 0 }, { x: most, y: most * spec.slope }];
    root.append(Plot.plot({
      ...COMMON, width, height: Math.min(360, Math.max(230, width * 0.5)),
      x: { domain: [0, most], label: spec.x, labelAnchor: "center", labelArrow: "none", tickFormat: tick },
      y: { domain: [0, d3.max(points, (p) => p.y) * 1.08], label: spec.y, tickFormat: tick, labelAnchor: "top", clamp: true },
      marks: [grid(), Plot.ruleY([0], { stroke: "var(--quiet)" }),
        Plot.line(line, { x: "x", y: "y", stroke: "var(--quiet)", strokeDasharray: "5 4" }),
        Plot.dot(points, { x: "x", y: "y", r: 4, fill: (p) => (p.out ? "var(--c1)" : "var(--c0)") }),
        Plot.text(points.filter((p) => p.out), { x: "x", y: "y", text: "label", textAnchor: "end", dx: -8, fill: "currentColor" }),
        tip(points, { x: "x", y: "y", title: (p) => `${p.label}\n${figure(p.y)}` })],
    }));
  };

  // The middles of cells are the points of the surface, the first row at the low end of y.
  const drawContour = (root, spec) => {
    const width = Math.min(760, root.clientWidth || 640);
    const axis = (side) => ({ type: side.log ? "log" : "linear", domain: side.ends, label: side.label, tickFormat: tick, ticks: 6, inset: 8 });
    const [[x1, x2], [y1, y2]] = [spec.x.ends, spec.y.ends];
    const cells = { width: spec.cells, height: spec.cells, x1, x2, y1, y2, smooth: true };
    const points = spec.points.map(([x, y, title]) => ({ x, y, title }));
    const region = spec.region === null ? [] : [Plot.contour(spec.region, { ...cells, thresholds: [0.05], stroke: "var(--c1)", strokeWidth: 2, strokeDasharray: "6 4" })];
    const stationary = spec.stationary === null ? [] : [Plot.dot([spec.stationary], { symbol: "times", r: 7, stroke: "var(--c1)", strokeWidth: 3 })];
    root.append(Plot.plot({
      ...COMMON, width, height: Math.min(480, Math.max(280, width * 0.65)), marginLeft: 64,
      x: { ...axis(spec.x), labelAnchor: "center", labelArrow: "none" }, y: { ...axis(spec.y), labelAnchor: "top" },
      // A continuous legend would be an image, which a page without a network may not load.
      color: { type: "quantize", n: 9, scheme: "cividis", legend: true, label: spec.label, tickFormat: tick },
      marks: [Plot.contour(spec.values, { ...cells, thresholds: 9, fill: Plot.identity, stroke: "black", strokeOpacity: 0.35 }),
        ...region, Plot.dot(points, { x: "x", y: "y", r: 4, fill: "white", stroke: "black" }), ...stationary,
        tip(points, { x: "x", y: "y", title: "title" })],
    }));
  };

  // A map of cells [x, y, value, text, title]: a value is the number of a colour, or on a scale.
  const drawCells = (root, spec) => {
    const width = Math.min(760, root.clientWidth || 640);
    const cells = spec.cells.map(([x, y, value, text, title]) => ({ x, y, value, text, title }));
    const axis = (side) => ({ type: "band", domain: d3.range(side.ticks.length), label: side.label, labelArrow: "none", padding: 0.03 });
    const every = (side, most) => Math.ceil(side.ticks.length / most);
    const x = { ...axis(spec.x), labelAnchor: "center", tickFormat: (i) => (i % every(spec.x, width / 70) ? "" : spec.x.ticks[i]) };
    const y = { ...axis(spec.y), reverse: true, labelAnchor: "top", tickFormat: (i) => spec.y.ticks[i] };
    const fill = spec.is_scale ? { fill: "value" } : { fill: (cell) => color(cell.value), fillOpacity: 0.45 };
    root.append(Plot.plot({
      ...COMMON, width, marginLeft: 72, height: Math.min(480, 70 + 26 * spec.y.ticks.length), x, y,
      color: { type: "linear", scheme: "oranges", domain: [1, Math.max(2, d3.max(cells, (cell) => cell.value))] },
      marks: [Plot.cell(cells, { x: "x", y: "y", ...fill }), Plot.text(cells, { x: "x", y: "y", text: "text", fill: spec.is_scale ? "black" : "currentColor" }),
        tip(cells, { x: "x", y: "y", title: "title" })],
    }));
  };

  const DRAW = { cells: drawCells, contour: drawContour, halfNormal: drawHalfNormal, model: drawModel, response: drawResponse, profile: drawProfile, sides: drawSides, waterfall: drawWaterfall, latency: drawLatency, series: drawSeries, bars: drawBars };

  // A figure as one SVG that needs no style sheet: its drawings, and the text around them where it is.
  const asSvg = (root) => {
    const [frame, style] = [root.getBoundingClientRect(), getComputedStyle(root)];
    const svg = d3.create("svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("width", Math.ceil(frame.width)).attr("height", Math.ceil(frame.height))
      .attr("font-family", style.fontFamily).attr("color", style.color);
    svg.append("rect").attr("width", "100%").attr("height", "100%").attr("fill", "var(--page)");
    for (const drawing of root.querySelectorAll("svg")) {
      const place = drawing.getBoundingClientRect();
      const copy = d3.select(drawing.cloneNode(true)).attr("x", place.left - frame.left).attr("y", place.top - frame.top)
        .attr("width", place.width).attr("height", place.height).attr("overflow", "visible");
      svg.append(() => copy.node());
    }
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (parent.closest("svg, option")) continue;
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const [place, font] = [range.getBoundingClientRect(), getComputedStyle(parent)];
      svg.append("text").attr("x", place.left - frame.left).attr("y", place.bottom - frame.top - 0.28 * place.height)
        .attr("font-size", font.fontSize).attr("font-weight", font.fontWeight).attr("fill", font.color).text(texts.currentNode.data);
    }
    // The names of colours have no meaning elsewhere.
    let text = new XMLSerializer().serializeToString(svg.node());
    for (let before = ""; before !== text;) {
      before = text;
      text = text.replace(/var\((--[\w-]+)(?:, *([^()]*))?\)/g, (_, name, other) => style.getPropertyValue(name).trim() || other || "none");
    }
    return text;
  };
  const asPng = async (root) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(asSvg(root))}`;
    await image.decode();
    const canvas = element("canvas", "", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  };
  const asTable = (root) => [...root.closest("figure").querySelectorAll("table tr")]
    .map((row) => [...row.cells].map((cell) => cell.textContent).join("\t")).join("\n");

  // Buttons that copy a figure; where there is no clipboard, as over HTTP from another machine, they save it.
  const KINDS = [["PNG", "image/png", "png", asPng], ["SVG", "text/plain", "svg", asSvg], ["table", "text/plain", "tsv", asTable]];
  const copies = (root) => {
    const box = element("div", "", { class: "copy" });
    for (const [name, type, ending, make] of KINDS) {
      const button = element("button", `Copy ${name}`, { type: "button" });
      const content = async () => new Blob([await make(root)], { type });
      const copy = async () => navigator.clipboard.write([new ClipboardItem({ [type]: content() })]);
      const save = async () => {
        const href = URL.createObjectURL(await content());
        element("a", "", { href, download: `${root.id}.${ending}` }).click();
        setTimeout(() => URL.revokeObjectURL(href), 1000);
      };
      button.addEventListener("click", async () => {
        const done = await copy().then(() => "Copied", () => save().then(() => "Saved", (error) => error.message));
        button.textContent = done;
        setTimeout(() => { button.textContent = `Copy ${name}`; }, 2000);
      });
      box.append(button);
    }
    return box;
  };

  const drawn = () => JSON.parse(document.getElementById("report").textContent).figures.map((spec, i) => {
    const root = document.getElementById(`figure-${i}`);
    const state = { width: 0 };
    state.redraw = () => {
      root.replaceChildren();
      DRAW[spec.kind](root, spec, state);
      // What they show is said by the label of the figure and the table below it.
      for (const svg of root.querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true");
      state.width = root.clientWidth;
    };
    state.redraw();
    root.after(copies(root));
    return { root, state };
  });
  // A figure is drawn anew when its width has changed, not when only its height has.
  let figures = [];
  const watcher = new ResizeObserver(() => {
    for (const { root, state } of figures) if (root.clientWidth && Math.abs(root.clientWidth - state.width) > 1) state.redraw();
  });
  const draw = () => {
    watcher.disconnect();
    figures = drawn();
    for (const { root } of figures) watcher.observe(root);
  };

  // The toggle: what the system says until it is pressed; nothing is stored.
  const toggle = document.getElementById("theme");
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { toggle.textContent = dark() ? "Light" : "Dark"; toggle.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
  toggle.hidden = false;
  toggle.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();

  // The table of trials: sorted by its headings, filtered by the fields above it.
  const prepareTrials = () => {
    const table = document.getElementById("trials");
    if (!table) return;
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const key = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    // Numbers by size, names as people order them, what is empty at the end either way.
    const compare = (a, b, sign) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    };
    heads.forEach((head, column) => {
      const button = element("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const keyed = rows.map((row) => [key(row, column), row]);
        keyed.sort(([a], [b]) => compare(a, b, sign));
        body.append(...keyed.map(([, row]) => row));
      });
    });

    const text = document.getElementById("filter-text");
    const selects = [...document.querySelectorAll(".filters select")];
    const count = document.getElementById("filter-count");
    const filter = () => {
      const wanted = text.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const level = selects.every((select) => select.value === "" || row.cells[select.dataset.column].textContent === select.value);
        row.hidden = !level || (wanted !== "" && ![...row.cells].some((cell) => cell.textContent.toLowerCase().includes(wanted)));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${rows.length} trials`;
    };
    document.querySelector(".filters").hidden = false;
    text.addEventListener("input", filter);
    selects.forEach((select) => select.addEventListener("change", filter));
    filter();
  };

  // A link to a section opens it, and so does printing.
  const open = (hash) => {
    const heading = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    const fold = heading && heading.closest("details");
    if (fold) fold.open = true;
  };
  document.addEventListener("click", (event) => open(event.target.closest?.("nav a")?.hash ?? ""));
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not(.data, [open])")];
    closed.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }));

  const show = () => { draw(); prepareTrials(); open(location.hash); };
  // A page that is served is brought up to date while a run goes on.
  document.addEventListener("steelbench:changed", show);
  show();
})();
