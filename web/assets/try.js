// The form of a version, filled in: objects follow as you type. Without this script the form is sent by its button.
(() => {
  const form = document.getElementById("try");
  const parts = ["wrong", "objects", "same"];
  const say = document.getElementById("say");
  let turn = 0, timer = 0, shown = "";

  const fields = () => form.querySelectorAll("[name^='p/'], #namespace, #seed");

  // Takes what the server says of every field without touching what is being typed.
  const adopt = (page, status) => {
    for (const id of parts) {
      const now = document.getElementById(id), next = page.getElementById(id);
      // The last objects that could be made stay while something is wrong.
      if (!now || !next || (status === 422 && id === "objects" && now.querySelector("pre"))) continue;
      const tab = now.querySelector("input[name=as]:checked")?.value;
      now.replaceWith(document.adoptNode(next));
      if (tab) next.querySelector(`input[name=as][value=${tab}]`).checked = true;
    }
    for (const field of fields()) {
      const next = page.getElementById(field.id);
      const hint = document.getElementById(`h-${field.id}`), other = page.getElementById(`h-${field.id}`);
      if (hint && other) hint.replaceWith(document.adoptNode(other));
      if (next?.getAttribute("aria-invalid")) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
    const count = document.querySelector("#result [role=status]"), next = page.querySelector("#result [role=status]");
    if (count && next) count.textContent = next.textContent;
    else if (next) document.querySelector("#result .sec-head").append(document.adoptNode(next));
  };

  const ask = async () => {
    const mine = ++turn;
    const body = new URLSearchParams(new FormData(form)).toString();
    if (body === shown) return;
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { "Content-Type": "application/x-www-form-urlencoded" } });
      const text = await answer.text();
      // A later answer may have come before.
      if (mine !== turn || !answer.headers.get("Content-Type")?.startsWith("text/html")) return;
      shown = body;
      adopt(new DOMParser().parseFromString(text, "text/html"), answer.status);
    } catch { if (say) say.textContent = "The server does not answer"; }
  };

  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 250); });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.name === "download") return;
    event.preventDefault();
    clearTimeout(timer);
    shown = "";
    ask().then(() => document.querySelector("#wrong a, #objects pre")?.focus());
  });
})();
