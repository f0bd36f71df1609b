// Buttons. If the page is available on the network, their commands contain the token.

const KEY = "rulesafe-token";
const RESULT_DURATION = 6000; // ms
const OTHER = "custom ..."; // a rule other than the twenty of the benchmark

const element = (id) => document.getElementById(id);
let hide = 0;

function showResult(text, done) {
  const output = element("answer");
  output.textContent = text;
  output.classList.toggle("bad", !done);
  output.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => (output.hidden = true), RESULT_DURATION);
}

function readToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname); // removes the token from the address bar
}

async function askToken() {
  const dialog = element("token-dialog");
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "ok") return false;
  sessionStorage.setItem(KEY, element("token").value);
  element("token").value = "";
  return true;
}

async function command(path, body) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.status === 401 && (await askToken())) {
      await command(path, body);
      return;
    }
    const { done, message } = await response.json();
    showResult(message, done);
  } catch (error) {
    showResult(`command not sent: ${error.message}`, false);
  }
}

async function runButton(button, action) {
  button.dataset.busy = "yes";
  button.disabled = true;
  try {
    await action();
  } finally {
    delete button.dataset.busy;
    button.disabled = false;
  }
}

export function connectControls(state) {
  readToken();
  const [reset, pause] = [element("reset"), element("pause")];
  let paused = false;
  let shownEpisode = null; // the episode of the last update of the form

  element("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    const body = {
      rule: element(element("rule").value === OTHER ? "other" : "rule").value.trim(),
      safe: element("safe").value,
      seed: element("seed").valueAsNumber,
    };
    runButton(reset, () => command("reset", body));
  });
  element("rule").addEventListener("change", () => {
    element("other").hidden = element("rule").value !== OTHER;
    if (!element("other").hidden) element("other").focus();
  });
  pause.addEventListener("click", () => {
    runButton(pause, () => command("pause", { paused: !paused }));
  });

  state.onChange(({ connected, graph, paused: now, status }) => {
    paused = Boolean(now);
    pause.textContent = paused ? "Resume" : "Pause";
    pause.setAttribute("aria-pressed", paused);
    if (!reset.dataset.busy) reset.disabled = !(connected && graph?.reset);
    if (!pause.dataset.busy) pause.disabled = !(connected && graph?.pause);
    if (status && status.episode !== shownEpisode) {
      shownEpisode = status.episode;
      fill(status);
    }
  });

  return {
    setup({ rules, safes }) {
      setOptions(element("rule"), [...rules.map(({ id }) => id), OTHER]);
      for (const { id, description } of rules) element("rule").namedItem(id).title = description;
      setOptions(element("safe"), safes);
    },
  };
}

function fill({ rule, safe, seed }) {
  choose(element("rule"), rule);
  element("other").hidden = true;
  choose(element("safe"), safe);
  element("seed").value = seed;
}

function option(value) {
  const made = new Option(value, value);
  made.id = value;
  return made;
}

function setOptions(list, values) {
  const chosen = list.value;
  list.replaceChildren(...values.map(option));
  if (chosen) choose(list, chosen);
}

function choose(list, value) {
  if (!list.namedItem(value)) list.add(option(value), 0);
  list.value = value;
}
