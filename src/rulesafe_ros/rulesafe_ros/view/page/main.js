// The page's WebSocket connection; passes each section to the module that shows it.

import { showCameras, showImage } from "./cameras.js";
import { connectControls } from "./controls.js";
import { Lock, Memory } from "./panels.js";
import { Plots } from "./plots.js";
import { makeScene } from "./scene.js";
import { State } from "./state.js";
import { applyTheme, onTheme } from "./theme.js";

const RECONNECT_DELAY = 1000; // ms until a reconnection attempt

applyTheme();
const scene = makeScene(document.getElementById("scene"));
const plots = new Plots();
const lock = new Lock();
const memory = new Memory();
const state = new State();
const controls = connectControls(state);
onTheme(() => {
  scene.theme();
  plots.theme();
});

const show = {
  setup: (value) => {
    showCameras(value.cameras);
    controls.setup(value);
    plots.setup(value.joints);
  },
  graph: (value) => state.set("graph", value),
  paused: (value) => state.set("paused", value),
  bridge: (value) => state.set("bridge", value),
  status: (value) => {
    state.set("status", value);
    lock.status(value);
    scene.status(value);
  },
  instruction: (value) => lock.instruction(value),
  notices: (value) => lock.notices(value),
  teleoperation: (value) => lock.teleoperation(value),
  robot: (value) => scene.robot(value),
  safe: (value) => scene.safe(value),
  joints: (value) => {
    scene.joints(value.positions);
    state.set("time", value.time);
    plots.time(value.time);
  },
  history: (value) => value && plots.history(value.rows),
  sample: (value) => value && plots.sample(value),
  chunk: (value) => plots.chunk(value),
  tokens: (value) => memory.tokens(value),
};

function receive(event) {
  if (typeof event.data === "string") {
    const { name, value } = JSON.parse(event.data);
    show[name]?.(value);
    return;
  }
  const start = 1 + new Uint8Array(event.data, 0, 1)[0]; // after the length of the name, and it
  const name = new TextDecoder().decode(new Uint8Array(event.data, 1, start - 1));
  const data = event.data.slice(start);
  if (name === "points") scene.points(new Float32Array(data));
  else showImage(name, data);
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/live`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => state.set("connected", true);
  socket.onmessage = receive;
  socket.onclose = () => {
    state.set("connected", false);
    setTimeout(connect, RECONNECT_DELAY);
  };
}

connect();
