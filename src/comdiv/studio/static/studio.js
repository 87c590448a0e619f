/* What the pages do beside htmx: keys, drafts, retries, errors. Everything is declared in attributes:
   data-key        the key that clicks a link or button, focuses a field, or toggles a fieldset's two choices
   data-fills      a button that sets every choice of its form
   data-draft      a form whose fields survive a reload until they are sent
   data-retry      a form that is sent again when the server does not answer
   data-submit     a text area in which Ctrl+Enter sends its form
   data-focus      where the focus goes when new content arrives */
"use strict";
(() => {
  const root = document.documentElement;
  const toast = document.getElementById("toast");
  const shortcuts = document.getElementById("shortcuts");
  const sending = new Set();
  let hiding = 0;

  const say = (text, lasting) => {
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(hiding);
    if (!lasting) hiding = setTimeout(() => { toast.hidden = true; }, 6000);
  };

  /* --- what this browser remembers --- */
  const stored = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      if (value === null) localStorage.removeItem(key); else localStorage.setItem(key, value);
    } catch { /* a browser that keeps nothing still works */ }
    return null;
  };

  shortcuts.checked = stored("comdiv:shortcuts") !== "off";
  shortcuts.addEventListener("change", () => stored("comdiv:shortcuts", shortcuts.checked ? null : "off"));

  const draftKey = (form) => `comdiv:draft:${form.dataset.draft}`;
  const fields = (form) => [...form.elements].filter((field) => field.name && field.type !== "hidden" && field.type !== "submit");

  const keepDraft = (form) => {
    const values = {};
    for (const field of fields(form)) {
      if (field.type !== "radio") values[field.name] = field.value;
      else if (field.checked) values[field.name] = field.value;
    }
    stored(draftKey(form), JSON.stringify(values));
  };

  const restoreDraft = (form) => {
    const kept = stored(draftKey(form));
    if (!kept) return;
    let values = {};
    try { values = JSON.parse(kept); } catch { return; }
    for (const field of fields(form)) {
      if (!(field.name in values)) continue;
      if (field.type === "radio") field.checked = field.value === values[field.name];
      else field.value = values[field.name];
    }
    form.dispatchEvent(new Event("restored"));
  };

  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form && form.dataset.draft) keepDraft(form);
  });
  document.addEventListener("change", (event) => {
    if (event.target.hasAttribute("data-submit-on-change")) event.target.form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    const element = event.target.closest("[data-fills], [data-discards-draft]");
    if (!element) return;
    const form = element.closest("form");
    if (element.dataset.fills) {
      for (const field of form.querySelectorAll("input[type=radio]")) field.checked = field.value === element.dataset.fills;
    }
    if (element.hasAttribute("data-discards-draft")) stored(draftKey(form), null);
    else keepDraft(form);
  });

  /* --- keys --- */
  const typing = (element) => element.matches("textarea, select, input:not([type=radio], [type=checkbox])");

  const toggle = (fieldset) => {
    const [good, bad] = fieldset.querySelectorAll("input[type=radio]");
    const next = good.checked ? bad : good;
    next.checked = true;
    next.dispatchEvent(new Event("input", { bubbles: true }));
  };

  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && at.hasAttribute("data-submit")) {
      event.preventDefault();
      const button = document.querySelector(`button[form="${at.form.id}"]`);
      if (!button || !button.disabled) at.form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !shortcuts.checked) return;
    if (typing(at) && event.key !== "Escape") return;
    if (event.key === "Enter" && at.matches("a, button, input, summary")) return;
    if (event.key.startsWith("Arrow") && at.matches("input")) return;
    const element = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!element || element.disabled || sending.size) return;
    event.preventDefault();
    if (element.matches("fieldset")) toggle(element);
    else if (element.matches("input")) element.focus();
    else element.click();
  });

  /* --- sending, failing, arriving --- */
  const submitters = new WeakMap();
  document.addEventListener("submit", (event) => submitters.set(event.target, event.submitter), true);

  /* What was sent is named in the detail: the form itself may be gone from the page when its answer has come. */
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt.matches("form, a")) sending.add(event.detail.xhr);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    sending.delete(event.detail.xhr);
    const form = event.detail.elt;
    if (event.detail.successful) {
      toast.hidden = true;
      if (form.matches("form[data-draft]")) stored(draftKey(form), null);
    }
  });
  document.addEventListener("htmx:responseError", (event) => say(event.detail.xhr.responseText || "That did not work."));
  document.addEventListener("htmx:sendError", (event) => {
    const form = event.detail.elt;
    if (!form.matches("form[data-retry]")) { if (form.matches("form, a")) say("The server does not answer."); return; }
    say("The server does not answer. Nothing is lost: this is sent again until it does.", true);
    setTimeout(() => { if (form.isConnected) form.requestSubmit(submitters.get(form) ?? undefined); }, 1000);
  });

  const arrive = (element) => {
    for (const form of element.querySelectorAll("form[data-draft]")) restoreDraft(form);
  };
  document.addEventListener("htmx:load", (event) => {
    if (event.target !== document.body) return;
    arrive(document);
    root.classList.add("ready"); // htmx and this script listen from here on
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "item") return;
    arrive(event.target);
    const focused = event.target.querySelector("textarea[data-focus]") ?? event.target.querySelector("[data-focus]");
    if (focused) focused.focus({ preventScroll: focused.tagName === "H1" });
    if (focused && focused.tagName === "H1") scrollTo(0, 0);
  });

  const filters = document.querySelector(".filters");
  if (filters && matchMedia("(max-width: 52rem)").matches) filters.open = false;
})();
