// Brings a page up to date while a run goes on, and keeps the address in step with what is filtered and sorted.
"use strict";
(() => {
  const root = document.documentElement;
  const status = document.getElementById("state");
  const INTERVAL_MS = 2000;

  // Elements are found again by their section and their place in it.
  const sectionOf = (element) => element.closest("section")?.querySelector("h2")?.id ?? "";
  const all = (selector) => {
    const seen = new Map();
    return [...document.querySelectorAll(`#main :is(${selector})`)].map((element) => {
      const kind = `${sectionOf(element)} ${element.localName}`;
      const place = seen.get(kind) ?? 0;
      seen.set(kind, place + 1);
      return [`${kind} ${place}`, element];
    });
  };
  const CONTROLS = "a, button, input, select, summary, .scroll, pre";

  // The filters of the table of trials and its order are in the address.
  const filters = () => [...document.querySelectorAll("#filter-text, .filters select")];
  const parameter = (field) => (field.dataset.column ? `level-${field.dataset.column}` : "text");
  const remember = () => {
    const url = new URL(location.href);
    const set = (name, value) => (value ? url.searchParams.set(name, value) : url.searchParams.delete(name));
    for (const field of filters()) set(parameter(field), field.value);
    const head = document.querySelector("#trials th[aria-sort$='ending']");
    set("sort", head && `${head.textContent}:${head.getAttribute("aria-sort")}`);
    if (url.href !== location.href) history.replaceState(history.state, "", url);
  };
  const recall = () => {
    const asked = new URL(location.href).searchParams;
    for (const field of filters()) {
      const value = asked.get(parameter(field));
      if (value === null) continue;
      field.value = value;
      field.dispatchEvent(new Event(field.localName === "select" ? "change" : "input"));
    }
    const [, name, order] = asked.get("sort")?.match(/^(.*):(ascending|descending)$/s) ?? [];
    const head = [...document.querySelectorAll("#trials th")].find((th) => th.textContent === name);
    for (let i = 0; head && i < 2 && head.getAttribute("aria-sort") !== order; i++) head.querySelector("button").click();
  };
  for (const kind of ["input", "change", "click"]) {
    document.addEventListener(kind, (event) => { if (event.target.closest?.("#trials, .filters")) remember(); });
  }

  // What the reader has done to the page, and how to do it again.
  const observed = () => {
    const focused = document.activeElement;
    const [key] = all(CONTROLS).find(([, element]) => element === focused) ?? [];
    const caret = focused instanceof HTMLInputElement && focused.type === "search" ? focused.selectionStart : null;
    const visible = [...document.querySelectorAll("#main section")].find((section) => section.getBoundingClientRect().bottom > 0);
    return {
      open: new Map(all("details").map(([name, element]) => [name, element.open])),
      chosen: new Map(all("select").map(([name, element]) => [name, element.selectedOptions[0]?.textContent])),
      checked: new Set(all("input").filter(([, element]) => element.checked).map(([, element]) => element.name + element.value)),
      scrolled: new Map(all(".scroll, pre").map(([name, element]) => [name, [element.scrollLeft, element.scrollTop]])),
      anchor: visible && [sectionOf(visible), visible.getBoundingClientRect().top],
      at: [scrollX, scrollY], key, caret,
    };
  };
  const restore = (before) => {
    for (const [name, element] of all("details")) element.open = before.open.get(name) ?? element.open;
    for (const [name, element] of all("select")) {
      if (element.closest(".filters")) continue;
      const wanted = [...element.options].find((option) => option.textContent === before.chosen.get(name));
      if (!wanted || wanted.selected) continue;
      wanted.selected = true;
      element.dispatchEvent(new Event("change"));
    }
    for (const [, element] of all("input")) if (before.checked.has(element.name + element.value)) element.checked = true;
    recall();
    for (const [name, element] of all(".scroll, pre")) {
      const [left, top] = before.scrolled.get(name) ?? [0, 0];
      element.scrollTo({ left, top, behavior: "instant" });
    }
    const [, focused] = before.key ? all(CONTROLS).find(([name]) => name === before.key) ?? [] : [];
    if (focused) focused.focus({ preventScroll: true });
    else if (document.activeElement?.closest("#main")) document.activeElement.blur();
    if (focused && before.caret !== null) focused.setSelectionRange(before.caret, before.caret);
    // What is being read stays where it is, although what is above it has grown.
    const [id, top] = before.anchor ?? [];
    const section = id && document.getElementById(id)?.closest("section");
    scrollTo({ left: before.at[0], top: before.at[1], behavior: "instant" });
    if (section && before.at[1] > 0) scrollBy({ top: section.getBoundingClientRect().top - top, behavior: "instant" });
  };

  const say = (text) => {
    if (status.textContent === text) return;
    // A screen reader is told when a run begins or ends, not each number.
    const word = (said) => said.split(":")[0];
    status.setAttribute("aria-live", word(status.textContent) === word(text) ? "off" : "polite");
    status.textContent = text;
  };

  const update = async () => {
    const answer = await fetch(location.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) return say(page.querySelector("main p")?.textContent ?? "This page is not available now.");
    const before = observed();
    document.getElementById("report").textContent = page.getElementById("report").textContent;
    document.getElementById("main").replaceWith(page.getElementById("main"));
    document.title = page.title;
    document.dispatchEvent(new Event("steelbench:changed"));
    restore(before);
    say(page.getElementById("state").textContent);
    root.dataset.version = page.documentElement.dataset.version;
    root.dataset.updates = Number(root.dataset.updates ?? 0) + 1;
  };

  // A page that takes long to make is made less often: it takes time from what is being measured.
  let due;
  const look = async () => {
    clearTimeout(due);
    const began = performance.now();
    if (!document.hidden) {
      try {
        const answer = await fetch(root.dataset.live, { cache: "no-store" });
        const changed = answer.ok && (await answer.json()).version !== root.dataset.version;
        if (changed || !answer.ok) await update();
        else if (status.dataset.lost) say(status.dataset.lost);
        delete status.dataset.lost;
      } catch {
        status.dataset.lost ??= status.textContent || " ";
        say("not connected: steelbench serve has stopped");
      }
    }
    due = setTimeout(look, Math.max(INTERVAL_MS, 10 * (performance.now() - began)));
  };

  recall();
  if (!root.dataset.live) return;
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  due = setTimeout(look, INTERVAL_MS);
})();
