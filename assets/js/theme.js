// The theme, before anything is drawn: what was chosen here, else what the system prefers.
(() => {
  const KEPT = "evalui.theme";
  const here = new URL(location.href);
  const asked = here.searchParams.get("__theme");
  if (asked) {
    localStorage.setItem(KEPT, asked);
    here.searchParams.delete("__theme");
    history.replaceState(history.state, "", here);
  }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

  function draw(theme) {
    document.documentElement.classList.toggle("dark", theme === "dark");
    document.documentElement.style.colorScheme = theme;
    // Gradio keeps the class of its own on the body.
    document.body?.classList.toggle("dark", theme === "dark");
    document.querySelector("gradio-app")?.setAttribute("theme_mode", theme);
  }

  draw(localStorage.getItem(KEPT) ?? system);
  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.("[data-theme]")) return;
    const theme = document.documentElement.classList.contains("dark") ? "light" : "dark";
    localStorage.setItem(KEPT, theme);
    draw(theme);
    document.dispatchEvent(new CustomEvent("theme"));
  });
})();
