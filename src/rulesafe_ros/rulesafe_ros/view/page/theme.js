// Light or dark theme: the system's setting, until the button selects another one.

const KEY = "rulesafe-theme";
const listeners = [];
const dark = matchMedia("(prefers-color-scheme: dark)");

export function applyTheme() {
  const wanted = localStorage.getItem(KEY) ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = wanted;
  for (const listener of listeners) listener();
}

export function onTheme(listener) {
  listeners.push(listener);
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

dark.addEventListener("change", applyTheme);
document.getElementById("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme;
  localStorage.setItem(KEY, now === "dark" ? "light" : "dark");
  applyTheme();
});
