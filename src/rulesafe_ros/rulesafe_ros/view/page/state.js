// State of the graph, and the facts beside it in the header.

export class State {
  #facts = { connected: false };
  #listeners = [];

  set(name, value) {
    this.#facts[name] = value;
    this.#draw();
    for (const listener of this.#listeners) listener(this.#facts);
  }

  onChange(listener) {
    this.#listeners.push(listener);
  }

  #summary() {
    const { connected, graph, paused, status } = this.#facts;
    if (!connected) return ["offline", "no connection to rulesafe view"];
    if (!graph) return ["offline", "connecting"]; // the section `graph` follows
    if (!graph.alive) return ["silent", "no robot or simulation"];
    if (paused) return ["paused", "paused"];
    if (status?.success) return ["opened", "door open"];
    if (status?.waiting) return ["waiting", "waiting for actions"];
    return ["running", "running"];
  }

  #draw() {
    const [state, text] = this.#summary();
    const pill = document.getElementById("state");
    if (pill.dataset.state !== state) {
      pill.dataset.state = state;
      pill.textContent = text;
    }
    document.getElementById("idle").hidden = state !== "silent";
    const { status, time, bridge } = this.#facts;
    const put = (name, text) => {
      document.getElementById(`fact-${name}`).textContent = text;
    };
    put("rule", status?.rule ?? "–");
    put("safe", status?.safe ?? "–");
    put("seed", status?.seed ?? "–");
    put("time", time === undefined ? "–" : `${time.toFixed(1)} s`);
    const robot = document.getElementById("bridge");
    robot.hidden = !bridge;
    if (bridge) {
      robot.textContent = `bridge ${bridge.state}${bridge.dry_run ? ", dry run" : ""}`;
      robot.title = bridge.reason;
    }
  }
}
