// The questions on which two differ: arrow keys lead from line to line, and the line that was
// pressed has the focus again when the list is drawn anew.
'use strict';

(() => {
  let pressed = '';
  document.addEventListener('click', ({target}) => {
    pressed = target.closest('.compare-list li')?.dataset.question ?? '';
  });
  document.addEventListener('keydown', event => {
    pressed = '';
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const lines = [...document.querySelectorAll('.compare-list li > a')];
    const at = lines.indexOf(document.activeElement);
    const next = at < 0 ? null : lines[at + step];
    if (!next) return;
    event.preventDefault();
    next.click();
  });
  const focus = () => {
    document.querySelector(`[data-question="${CSS.escape(pressed)}"] > a`)?.focus({preventScroll: true});
  };
  addEventListener('drawn', () => requestAnimationFrame(focus));
})();
