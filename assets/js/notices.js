// Closes the note of a run that has ended, here at once and on the server for good.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-close]");
  if (!button) return;
  button.disabled = true;
  const answer = await fetch(new URL(button.dataset.close, document.baseURI), { method: "POST" });
  if (!answer.ok) button.disabled = false;
  else if (button.closest(".notices").querySelectorAll(".notice").length > 1) {
    button.closest(".notice").remove();
  } else button.closest(".notices").remove();
});
