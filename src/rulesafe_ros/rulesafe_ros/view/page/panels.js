// Panels of the lock (instruction, plan, parts, diagnostics, teleoperation) and of the memory tokens.

const element = (id) => document.getElementById(id);

function makeElement(tag, className, text = "") {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

function eventText(event) {
  return `${event.endsWith("+") ? "open" : "close"} ${event.slice(0, -1)}`;
}

export class Lock {
  #plan = "";

  instruction(text) {
    element("instruction").textContent = text;
  }

  status(status) {
    this.#showPlan(status);
    this.#showParts(status);
  }

  #showPlan({ plan, done, success, remaining }) {
    const list = element("plan");
    const key = plan.join(" ");
    if (key !== this.#plan) {
      this.#plan = key;
      list.replaceChildren(...plan.map((event, i) => {
        const item = makeElement("li", "", eventText(event));
        item.dataset.number = i + 1;
        return item;
      }));
    }
    [...list.children].forEach((item, i) => {
      item.className = i < done || success ? "done" : i === done ? "next" : "";
    });
    const expected = plan.slice(done).join(" ");
    const differs = !success && remaining.length && remaining.join(" ") !== expected;
    const lost = !success && !remaining.length;
    element("remaining").textContent = lost
      ? "the door cannot be opened from this state"
      : differs ? `shortest plan from here: ${remaining.map(eventText).join(", ")}` : "";
  }

  #showParts({ parts, contacts }) {
    element("parts").replaceChildren(...parts.flatMap((part) => {
      const bar = makeElement("span", "bar");
      const fill = document.createElement("i");
      fill.style.width = `${Math.min(100, Math.max(0, (100 * part.position) / (Math.PI / 2)))}%`;
      bar.append(fill);
      const force = contacts[part.name] ?? 0;
      return [
        makeElement("span", "", part.name),
        bar,
        makeElement("span", part.open ? "open" : "", part.open ? "open" : "closed"),
        makeElement("span", part.locked ? "held" : "", part.locked ? "locked" : "unlocked"),
        makeElement("span", "force", force >= 0.5 ? `${force.toFixed(0)} N` : ""),
      ];
    }));
  }

  notices(found) {
    element("notices").replaceChildren(
      ...found.map(({ name, level, text }) => makeElement("li", level, `${name}: ${text}`)),
    );
  }

  teleoperation(found) {
    element("teleoperation").hidden = !found;
    element("teleoperation-status").textContent = found?.status ?? "";
    element("keys").textContent = found?.keys ?? "";
  }
}

export class Memory {
  tokens({ values, mask, colours, vocabulary, seconds }) {
    const squares = values.map((value, i) => {
      const square = makeElement("b", mask[i] ? "seen" : "unseen", mask[i] ? value : "");
      if (mask[i]) {
        square.style.background = colours[i];
        square.style.color = isLight(colours[i]) ? "#10151b" : "#ffffff";
      }
      return square;
    });
    element("tokens").replaceChildren(...squares);
    const valid = mask.filter(Boolean).length;
    element("memory-words").textContent =
      `${valid} of ${values.length} tokens, vocabulary ${vocabulary}, every ${seconds} s, ` +
      "newest on the right";
  }
}

function isLight(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 140;
}
