// Plots of measured and commanded joint positions of arm and hand over the last minute.

import { uPlot } from "./vendor.js";
import { colour } from "./theme.js";

const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8a8f00"];
const WINDOW = 60; // s
const AHEAD = 5; // s, the length of a chunk
const MAX_ROWS = 1200;
const MIN_INTERVAL = 100; // ms between redraws

const GROUPS = [
  { id: "arm", first: 0, count: 7 },
  { id: "hand", first: 7, count: 6 },
];

export class Plots {
  #rows = [];
  #future = null;
  #now = 0;
  #names = [];
  #charts = [];
  #timer = 0;

  setup(names) {
    if (names.join() === this.#names.join()) return;
    this.#names = names;
    this.#build();
  }

  theme() {
    if (this.#names.length) this.#build();
  }

  history(rows) {
    this.#rows = [...rows];
    this.#scheduleDraw();
  }

  sample(row) {
    const last = this.#rows.at(-1);
    if (last && row[0] <= last[0]) return;
    this.#rows.push(row);
    if (this.#rows.length > MAX_ROWS) this.#rows.shift();
    this.#scheduleDraw();
  }

  chunk(chunk) {
    this.#future = chunk;
    this.#scheduleDraw();
  }

  time(time) {
    this.#now = time;
  }

  #scheduleDraw() {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#draw();
    }, MIN_INTERVAL);
  }

  #build() {
    for (const { chart, observer } of this.#charts) {
      observer.disconnect();
      chart.destroy();
    }
    this.#charts = GROUPS.map((group) => this.#makeChart(group));
    this.#draw();
  }

  #makeChart(group) {
    const container = document.getElementById(group.id);
    const names = this.#names.slice(group.first, group.first + group.count);
    const axis = {
      stroke: colour("quiet"),
      grid: { stroke: colour("line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui",
    };
    const lines = (dash) =>
      names.map((name, i) => ({
        label: name,
        stroke: COLOURS[i],
        width: dash ? 1.25 : 2,
        dash,
        points: { show: false },
        spanGaps: false,
      }));
    const size = () => ({
      width: Math.max(container.clientWidth, 50),
      height: Math.max(container.clientHeight, 50),
    });
    const chart = new uPlot(
      {
        ...size(),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, range: () => this.#range() } },
        axes: [{ ...axis, size: 26, values: (_, at) => at.map((t) => `${t} s`) }, { ...axis, size: 42 }],
        series: [{}, ...lines(undefined), ...lines([4, 4])],
      },
      this.#data(group),
      container,
    );
    const observer = new ResizeObserver(() => chart.setSize(size()));
    observer.observe(container);
    return { group, chart, observer, values: this.#makeLegend(group, names, chart) };
  }

  #makeLegend(group, names, chart) {
    const values = [];
    const buttons = names.map((name, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.style.setProperty("--colour", COLOURS[i]);
      const value = document.createElement("output");
      values.push(value);
      button.append(name, value);
      button.addEventListener("click", () => {
        const show = button.classList.toggle("off") === false;
        chart.setSeries(1 + i, { show });
        chart.setSeries(1 + group.count + i, { show });
      });
      return button;
    });
    document.getElementById(`${group.id}-legend`).replaceChildren(...buttons);
    return values;
  }

  #range() {
    const newest = Math.max(this.#rows.at(-1)?.[0] ?? 0, 10);
    return [Math.max(0, newest - WINDOW), newest + AHEAD];
  }

  // Data of a group: time, measured positions (null in the future), targets.
  #data({ first, count }) {
    const [low] = this.#range();
    const rows = this.#rows.filter((row) => row[0] >= low);
    const newest = rows.at(-1)?.[0] ?? -Infinity;
    const ahead = [];
    this.#future?.times.forEach((time, i) => {
      if (time > newest) ahead.push([time, this.#future.rows[i]]);
    });
    const total = this.#names.length;
    const column = (at) => rows.map((row) => row[at]);
    const nothing = ahead.map(() => null);
    const group = [...Array(count).keys()].map((i) => first + i);
    return [
      [...column(0), ...ahead.map(([time]) => time)],
      ...group.map((joint) => [...column(1 + joint), ...nothing]),
      ...group.map((joint) => [...column(1 + total + joint), ...ahead.map(([, row]) => row[joint])]),
    ];
  }

  #draw() {
    const last = this.#rows.at(-1);
    for (const { group, chart, values } of this.#charts) {
      chart.setData(this.#data(group));
      values.forEach((output, i) => {
        output.textContent = last ? last[1 + group.first + i].toFixed(2) : "";
      });
    }
  }
}
