// Instruction, plan, parts, complaints; and the strip of memory tokens.

const element = (id) => document.getElementById(id);

function made(tag, className, text = "") {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

function inWords(event) {
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
        const item = made("li", "", inWords(event));
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
      ? "nothing opens the door from here"
      : differs ? `shortest way from here: ${remaining.map(inWords).join(", ")}` : "";
  }

  #showParts({ parts, contacts }) {
    element("parts").replaceChildren(...parts.flatMap((part) => {
      const bar = made("span", "bar");
      const fill = document.createElement("i");
      fill.style.width = `${Math.min(100, Math.max(0, (100 * part.position) / (Math.PI / 2)))}%`;
      bar.append(fill);
      const force = contacts[part.name] ?? 0;
      return [
        made("span", "", part.name),
        bar,
        made("span", part.open ? "open" : "", part.open ? "open" : "closed"),
        made("span", part.locked ? "held" : "", part.locked ? "held" : "free"),
        made("span", "force", force >= 0.5 ? `${force.toFixed(0)} N` : ""),
      ];
    }));
  }

  notices(found) {
    element("notices").replaceChildren(
      ...found.map(({ name, level, words }) => made("li", level, `${name}: ${words}`)),
    );
  }
}

export class Memory {
  tokens({ values, mask, colours, vocabulary, seconds }) {
    const squares = values.map((value, i) => {
      const square = made("b", mask[i] ? "seen" : "unseen", mask[i] ? value : "");
      if (mask[i]) {
        square.style.background = colours[i];
        square.style.color = isLight(colours[i]) ? "#10151b" : "#ffffff";
      }
      return square;
    });
    element("tokens").replaceChildren(...squares);
    const seen = mask.filter(Boolean).length;
    element("memory-words").textContent =
      `${seen} of ${values.length} tokens out of ${vocabulary}, ${seconds} s apart, ` +
      "the newest on the right";
  }
}

function isLight(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 140;
}
