// The buttons. Where the page is exposed to the network, they carry the token.

const KEY = "rulesafe-token";
const ANSWER_STAYS = 6000; // ms
const OTHER = "another ..."; // a lock that is none of the twenty

const element = (id) => document.getElementById(id);
let hide = 0;

function answer(words, done) {
  const place = element("answer");
  place.textContent = words;
  place.classList.toggle("bad", !done);
  place.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => (place.hidden = true), ANSWER_STAYS);
}

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname); // not for the eyes of a room
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
    const { done, words } = await response.json();
    answer(words, done);
  } catch (error) {
    answer(`not sent: ${error.message}`, false);
  }
}

async function whilePressed(button, action) {
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
  takeToken();
  const [reset, pause] = [element("reset"), element("pause")];
  let paused = false;
  let known = null; // the episode that the form was last filled from

  element("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    const body = {
      rule: element(element("rule").value === OTHER ? "other" : "rule").value.trim(),
      safe: element("safe").value,
      seed: element("seed").valueAsNumber,
    };
    whilePressed(reset, () => command("reset", body));
  });
  element("rule").addEventListener("change", () => {
    element("other").hidden = element("rule").value !== OTHER;
    if (!element("other").hidden) element("other").focus();
  });
  pause.addEventListener("click", () => {
    whilePressed(pause, () => command("pause", { paused: !paused }));
  });

  state.onChange(({ connected, graph, paused: now, status }) => {
    paused = Boolean(now);
    pause.textContent = paused ? "Go on" : "Pause";
    pause.setAttribute("aria-pressed", paused);
    if (!reset.dataset.busy) reset.disabled = !(connected && graph?.reset);
    if (!pause.dataset.busy) pause.disabled = !(connected && graph?.pause);
    if (status && status.episode !== known) {
      known = status.episode;
      fill(status);
    }
  });

  return {
    setup({ rules, safes }) {
      offer(element("rule"), [...rules.map(({ id }) => id), OTHER]);
      for (const { id, words } of rules) element("rule").namedItem(id).title = words;
      offer(element("safe"), safes);
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

function offer(list, values) {
  const chosen = list.value;
  list.replaceChildren(...values.map(option));
  if (chosen) choose(list, chosen);
}

function choose(list, value) {
  if (!list.namedItem(value)) list.add(option(value), 0);
  list.value = value;
}
