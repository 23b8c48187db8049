// A list beside what is read of it: keys, the search, and where both are scrolled to.
'use strict';

(() => {
  const narrow = matchMedia('(max-width: 900px)'); // where the two are pages of their own
  const all = marks => [...document.querySelectorAll(marks)];
  let read = '', left = 0; // what is shown, and where a narrow list was left

  // j and k lead to what is after and before the open line, "/" to the search. Several presses are
  // several steps: the address is ahead of what is drawn.
  const STEPS = {j: 1, k: -1};
  const TYPED = 'input:not([type=checkbox]), textarea, select, [contenteditable=true]';
  const beside = step => {
    const lines = all('.questions a');
    const at = lines.findIndex(line => line.search === location.search);
    if (lines[at] && lines[at + step]) return lines[at + step];
    const isOld = 'drawing' in document.body.dataset;
    return isOld ? null : document.querySelector(`[data-step="${step}"][href]`);
  };
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') leaveMenus(null);
    if (event.defaultPrevented || event.isComposing || event.target.closest?.(TYPED)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const link = STEPS[event.key] && beside(STEPS[event.key]);
    const search = event.key === '/' && document.querySelector('input[data-find]');
    if (link || search) event.preventDefault();
    if (link) link.click();
    if (search) search.select();
  });

  // A menu of links closes where a visitor goes on.
  const leaveMenus = target => {
    for (const menu of all('.menu[open]')) menu.open = menu.contains(target);
  };
  document.addEventListener('click', ({target}) => {
    leaveMenus(target);
    if (target.closest('.questions a')) left = scrollY;
  });

  // Each letter is another address, over which Back leads.
  document.addEventListener('input', ({target}) => {
    if (!target.matches('input[data-find]')) return;
    const query = new URLSearchParams(target.dataset.find);
    if (target.value) query.set('find', target.value);
    evalui.go(`?${query}`, 'replaceState');
  });

  // Both end with the window. What is read begins at its top, and its line is in sight.
  const fit = () => {
    const panes = document.querySelector('.panes');
    panes?.style.setProperty('--above', `${Math.round(panes.getBoundingClientRect().top + scrollY)}px`);
  };
  const show = () => {
    const reader = document.querySelector('[data-read]'), search = document.querySelector('input[data-find]');
    const find = new URLSearchParams(location.search).get('find') ?? '';
    if (search && search.value !== find) search.value = find;
    if (!reader) return;
    fit();
    const isAlone = narrow.matches && reader.matches('.alone');
    const now = `${isAlone} ${reader.dataset.read}`;
    if (now === read) return;
    read = now;
    reader.scrollTo(0, 0);
    if (narrow.matches) scrollTo(0, isAlone ? 0 : left);
    else document.querySelector('.questions a[aria-current]')?.scrollIntoView({block: 'nearest'});
  };
  addEventListener('drawn', () => requestAnimationFrame(show));
  addEventListener('resize', fit);
})();
