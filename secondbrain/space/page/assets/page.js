// Comforts on top of a page that works without them: copying, verifying a receipt, walking the map.
"use strict";

const copied = async (text) => {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Plain HTTP from another machine has no clipboard interface.
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
};

const offerCopying = () => {
  for (const button of document.querySelectorAll("[data-copy], [data-copy-from]")) {
    const before = [...button.childNodes];
    button.hidden = false;
    button.addEventListener("click", async () => {
      const from = button.dataset.copyFrom;
      const text = from ? document.getElementById(from).textContent : button.dataset.copy;
      let said = "Copied";
      try {
        await copied(text);
      } catch {
        said = "Not copied";
      }
      button.replaceChildren(said);
      setTimeout(() => button.replaceChildren(...before), 1500);
    });
  }
};

const offerVerifying = () => {
  const button = document.getElementById("verify");
  if (!button) {
    return;
  }
  const verdict = document.getElementById("verdict");
  const show = (state, text) => {
    const name = document.createElement("strong");
    name.textContent = state;
    verdict.dataset.state = state;
    verdict.replaceChildren(name, ` ${text}`);
  };
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const answer = await fetch("/api/v1/receipts/verify", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: document.getElementById("receipt-json").textContent,
      });
      const said = await answer.json();
      const meaning = answer.ok && verdict.dataset[said.state.toLowerCase()];
      if (meaning) {
        const failed = said.findings.map((finding) => `${finding.check} ${finding.detail}`).join("; ");
        show(said.state, failed ? `${meaning} (${failed})` : meaning);
      } else {
        show("NOT CHECKED", said.title || `The service answered ${answer.status}.`);
      }
    } catch {
      show("NOT CHECKED", "The service did not answer.");
    } finally {
      button.disabled = false;
    }
  });
};

// The part of a mark's name that the other rows repeat: its source and short digest.
const repeated = /^(.*) · [^·]+ · [0-9a-f]{12}$/s;

const described = (mark) => {
  const list = document.createElement("dl");
  const rows = [
    ["Title", mark.querySelector("title").textContent.replace(repeated, "$1")],
    ["Source", mark.dataset.of],
    ["Node", mark.dataset.id],
    ["SHA-256", mark.dataset.sha],
  ];
  for (const [name, value] of rows) {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const detail = document.createElement("dd");
    term.textContent = name;
    detail.textContent = value;
    row.append(term, detail);
    list.append(row);
  }
  return list;
};

const number = (mark, name) => Number(mark.getAttribute(name));

// The mark above or below that stands nearest, the nearer line first.
const nearest = (marks, from, direction) => {
  const below = marks.filter((mark) => direction * (number(mark, "y") - number(from, "y")) > 0);
  const distance = (mark) =>
    1000 * Math.abs(number(mark, "y") - number(from, "y")) + Math.abs(number(mark, "x") - number(from, "x"));
  return below.reduce((best, mark) => (!best || distance(mark) < distance(best) ? mark : best), null);
};

const target = (marks, from, key) => {
  const at = marks.indexOf(from);
  switch (key) {
    case "ArrowRight":
      return marks[at + 1];
    case "ArrowLeft":
      return marks[at - 1];
    case "ArrowDown":
      return nearest(marks, from, 1);
    case "ArrowUp":
      return nearest(marks, from, -1);
    case "Home":
      return marks[0];
    case "End":
      return marks[marks.length - 1];
    default:
      return null;
  }
};

const walkTheMap = () => {
  const plate = document.getElementById("plate");
  const show = (mark) => plate.replaceChildren(described(mark));
  // Listeners stand on the section: a picture that listens for focus would itself become a tab stop.
  for (const shelf of document.querySelectorAll("[data-marks]")) {
    const marks = [...shelf.querySelectorAll("rect.mark")];
    const showMark = (event) => event.target.matches("rect.mark") && show(event.target);
    shelf.addEventListener("pointerover", showMark);
    shelf.addEventListener("focusin", showMark);
    shelf.addEventListener("click", (event) => event.target.closest("rect.mark")?.focus());
    shelf.addEventListener("keydown", (event) => {
      const next = target(marks, event.target, event.key);
      if (next) {
        event.preventDefault();
        event.target.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      }
    });
  }
};

offerCopying();
offerVerifying();
walkTheMap();
