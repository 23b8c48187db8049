// What every page has: its address, links within it, what is unfolded, buttons of markup.
// Components of Gradio's call `evalui` from their `js_on_load`.
'use strict';

window.evalui = (() => {
  const REPLACED = 409, GONE = 410, SIGNED_OUT = 401;
  let place = null; // of the page that is shown
  let asked = 0; // when the page last asked to be drawn
  let isNew = false; // whether its address is another one than what is drawn

  // The line that says that what was pressed takes longer; what a page does by itself is quiet.
  const SLOW_MS = 400, SOON_MS = 500, LATE_MS = 1000;
  let pressed = -Infinity, working = 0, slow = 0;
  let unsent = null; // the button that was pressed, until its event is sent
  for (const kind of ['click', 'input', 'keydown']) {
    document.addEventListener(kind, ({target}) => {
      pressed = performance.now();
      unsent = kind === 'click' ? target.closest?.('button') : null;
    }, true);
  }
  const tell = isBusy => {
    document.body.toggleAttribute('data-busy', isBusy);
    const line = document.querySelector('.bar .busy');
    if (line) line.textContent = isBusy ? line.dataset.word : '';
  };
  const send = window.fetch;
  window.fetch = async (...sent) => {
    const isEvent = /\/gradio_api\/(run|queue\/join)/.test(sent[0]);
    const isTold = isEvent && performance.now() - pressed < SOON_MS;
    const mine = isTold ? unsent : null;
    if (isEvent) unsent = null;
    if (isTold && !working++) slow = setTimeout(tell, SLOW_MS, true);
    try {
      const answer = await send(...sent);
      if (isEvent && !answer.ok) delete document.body.dataset.drawing; // it does not come
      if (answer.status === REPLACED) { // what was pressed belongs to an earlier drawing
        if (mine) addEventListener('drawn', () => { if (mine.isConnected) mine.click(); }, {once: true});
        open();
      }
      // A session that the server has forgotten, or that has ended: the page loads itself anew.
      if (answer.status === GONE || answer.status === SIGNED_OUT) location.reload();
      return answer;
    } catch (error) {
      if (isEvent) delete document.body.dataset.drawing;
      throw error;
    } finally {
      if (isTold && !--working) {
        clearTimeout(slow);
        tell(false);
      }
    }
  };

  const here = () => location.search || '?';
  const pageName = () => location.pathname.split('/').pop();
  // The bar of other pages leads back to the files of a new evaluation.
  const keep = () => {
    if (pageName() === 'evaluate') sessionStorage.setItem('evalui.evaluate', location.search);
  };
  const LOST_MS = 20000;
  let late = 0;
  const open = () => {
    keep();
    asked = performance.now();
    document.body.dataset.drawing = '';
    clearTimeout(late);
    late = setTimeout(open, LOST_MS); // a drawing that never comes is asked for again
    const form = sessionStorage.getItem(`evalui.form.${pageName()}`); // see form.js
    if (place) place.trigger('submit', form ? {form} : {});
  };
  const go = (address, how = 'pushState') => {
    const subject = () => ['run', 'sub'].map(name => new URLSearchParams(location.search).get(name)).join();
    const before = subject(), from = here();
    history[how](null, '', new URL(address, location)); // not from the base of the page
    isNew = here() !== from;
    if (subject() !== before && !location.hash) scrollTo(0, 0);
    if (subject() !== before) document.getElementById('first')?.remove();
    if (location.hash) reveal();
    open();
  };
  document.addEventListener('click', event => {
    const link = event.target.closest('a[href]');
    if (!place || !link || event.defaultPrevented || event.button || link.target || link.download) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.origin !== location.origin || link.pathname !== location.pathname) return;
    if (link.hash && link.search === location.search) return; // the browser finds it
    event.preventDefault();
    go(link.href);
  });
  addEventListener('popstate', open);
  // The bar was made with the page: its address is another one by now, and runs came and went.
  const renew = live => {
    const count = document.querySelector('#tab-runs-link i');
    if (count) count.textContent = live || '';
    for (const link of document.querySelectorAll('.bar .languages a')) {
      const chosen = new URLSearchParams(link.search), query = new URLSearchParams(location.search);
      for (const name of ['lang', 'tab']) if (chosen.has(name)) query.set(name, chosen.get(name));
      link.search = query;
    }
  };

  // The component of the address. A value that begins with "?" is another address of the page,
  // with "=?" one over which Back leads; any other value is another page.
  const makePlace = (element, props, trigger, watch) => {
    place = {trigger, title: props.title};
    const root = document.documentElement;
    document.title = props.title;
    // Gradio writes the browser's own language there when it starts.
    const speak = () => { if (root.lang !== props.language) root.lang = props.language; };
    new MutationObserver(speak).observe(root, {attributeFilter: ['lang']});
    speak();
    watch('value', () => {
      const to = props.value;
      if (!to) return;
      if (to.startsWith('=?')) go(to.slice(1), 'replaceState');
      else if (!to.startsWith('?')) location.assign(to);
      else if (to !== here()) go(to);
      else if (!isNew) open(); // Gradio 6.31 tells of a choice twice
      props.value = ''; // the same again is a change
    });
    open();
  };

  // The last component of each drawing. What stands within columns comes some frames later: all is
  // there when nothing more comes.
  const QUIET = 2; // frames
  let drawings = 0;
  const makeDrawn = (props, watch) => {
    const settle = () => {
      const drawing = ++drawings, drawn = performance.now();
      let quiet = 0;
      const watching = new MutationObserver(() => { quiet = 0; });
      watching.observe(document.body, {subtree: true, childList: true});
      const step = () => {
        const first = document.getElementById('first'), page = document.querySelector('main .page');
        const isWhole = quiet++ >= QUIET && (!first || page?.offsetHeight >= first.offsetHeight);
        if (drawing === drawings && !isWhole && performance.now() < drawn + LATE_MS) return requestAnimationFrame(step);
        watching.disconnect();
        if (drawing === drawings) done(drawn - asked);
      };
      step();
    };
    const done = took => {
      document.getElementById('first')?.remove();
      document.title = place.title;
      look();
      delete document.body.dataset.drawing;
      clearTimeout(late);
      isNew = false;
      renew(props.live);
      document.body.dataset.ready = '';
      if (location.hash) reveal();
      dispatchEvent(new CustomEvent('drawn', {detail: {took}}));
    };
    watch('value', settle);
    settle();
  };

  // What is unfolded, and has an id, is unfolded again wherever it stands in views of its run.
  const KEPT = 'evalui.folds', MOST = 100;
  const run = () => new URLSearchParams(location.search).get('run') ?? '';
  const folds = () => JSON.parse(localStorage.getItem(KEPT) ?? '[]');
  const named = fold => `${run()} ${fold.id}`;
  const line = fold => fold.querySelector(':scope > :is(button.label-wrap, summary)');
  const isOpen = fold => fold.open ?? line(fold).classList.contains('open');
  const turn = fold => { if (fold.tagName === 'DETAILS') fold.open = !fold.open; else line(fold).click(); };
  const turned = new Map(); // by name: whether a visitor or an address has it open
  const remember = (fold, isNow) => {
    turned.set(named(fold), isNow);
    const kept = folds().filter(each => each !== named(fold));
    if (isNow) kept.push(named(fold));
    localStorage.setItem(KEPT, JSON.stringify(kept.slice(-MOST)));
  };
  // Name and finding of a section stand beside each other; its label is one text, for readers.
  const split = fold => {
    const label = line(fold).querySelector('span');
    const [name, finding = ''] = label.textContent.split('\u2003');
    if (label.dataset.name !== name) label.dataset.name = name;
    if (label.dataset.finding !== finding) label.dataset.finding = finding;
    line(fold).setAttribute('aria-expanded', isOpen(fold));
  };
  // Gradio 6.31 names the search field of a table by its title alone, which readers may leave out,
  // and lets no keyboard reach the menu of a head, by which a table is sorted.
  const reachTables = () => {
    for (const field of document.querySelectorAll('.search-input[title]:not([aria-label])')) {
      field.setAttribute('aria-label', field.title);
    }
    for (const button of document.querySelectorAll('th .cell-menu-button[tabindex="-1"]')) button.tabIndex = 0;
    if (document.activeElement.matches('.cell-menu-button')) {
      document.querySelector('.cell-menu [role=menuitem]')?.focus();
    }
  };
  const look = () => {
    const title = document.querySelector('[data-page-title]')?.dataset.pageTitle;
    if (title && document.title !== title) document.title = title;
    reachTables();
    const kept = folds();
    for (const fold of document.querySelectorAll('.fold, details[id]')) {
      if (!line(fold)) continue;
      if (fold.tagName !== 'DETAILS') split(fold);
      if (!fold.id) continue;
      if (!turned.has(named(fold)) && kept.includes(named(fold))) turned.set(named(fold), true);
      const wanted = turned.get(named(fold));
      if (wanted !== undefined && wanted !== isOpen(fold)) turn(fold);
    }
  };
  let isDue = false;
  let isSought = false; // whether what the end of the address names is not drawn yet
  const lookSoon = () => {
    if (!isDue) requestAnimationFrame(() => { isDue = false; look(); if (isSought) reveal(); });
    isDue = true;
  };
  const changes = {subtree: true, childList: true, characterData: true, attributeFilter: ['class']};
  addEventListener('DOMContentLoaded', () => {
    const bar = document.querySelector('.bar');
    // The link to a new evaluation leads to the files that were dropped there.
    const kept = sessionStorage.getItem('evalui.evaluate');
    const evaluate = bar?.querySelector('[data-kept]');
    if (evaluate && kept) evaluate.search = kept;
    // On a phone the places scroll sideways, and the open one may be out of sight.
    const current = bar?.querySelector('.tabs [aria-current]');
    if (current) {
      const {offsetLeft: left, offsetWidth: width, parentElement: places} = current;
      places.scrollLeft = Math.max(0, left + width - places.clientWidth + 16);
    }
    new MutationObserver(lookSoon).observe(document.body, changes);
    look();
  });
  // Before the browser or Gradio turns it over.
  document.addEventListener('click', event => {
    const fold = event.target.closest('.fold > button.label-wrap, details[id] > summary')?.parentElement;
    if (fold?.id && event.isTrusted) remember(fold, !isOpen(fold));
  }, true);
  // The end of an address unfolds its section.
  const reveal = () => {
    let at = location.hash.slice(1);
    try { at = decodeURIComponent(at); } catch { /* somebody wrote half a character */ }
    const section = document.getElementById(at);
    isSought = !section;
    if (!section) return;
    const around = each => each?.closest('.fold[id], details[id]');
    for (let fold = around(section); fold; fold = around(fold.parentElement)) {
      if (!isOpen(fold)) remember(fold, true);
    }
    look();
    requestAnimationFrame(() => section.scrollIntoView());
  };
  addEventListener('hashchange', reveal);

  // Buttons of markup with `data-do`: the event `act` of their component has all their data. "ask"
  // shows the question of its row, whose answers are buttons, too; "keep" takes it away.
  const makeActs = (element, trigger, watch, name) => {
    const key = node => node.closest('[data-key]')?.dataset.key ?? '';
    let questioned = '', focused = '';
    const ask = () => {
      for (const row of element.querySelectorAll('[data-key]')) {
        const question = row.querySelector('[data-question]');
        if (!question) continue;
        question.hidden = row.dataset.key !== questioned;
        question.previousElementSibling.hidden = !question.hidden;
      }
    };
    element.addEventListener('click', event => {
      const button = event.target.closest('button[data-do]');
      if (!button) return;
      questioned = button.dataset.do === 'ask' ? key(button) : '';
      ask();
      if (questioned) button.closest('[data-key]').querySelector('[data-question] button').focus();
      else if (button.dataset.do !== 'keep') trigger(name, {...button.dataset});
    });
    // What had the focus has it again when it is drawn anew.
    element.addEventListener('focusin', ({target}) => {
      const control = target.dataset.do
        ? `[data-do="${target.dataset.do}"]` : `[href=${JSON.stringify(target.getAttribute('href') ?? '')}]`;
      focused = `[data-key="${CSS.escape(key(target))}"] ${control}`;
    });
    element.addEventListener('focusout', ({target}) => { if (target.isConnected) focused = ''; });
    watch('value', () => {
      ask();
      if (focused && document.activeElement === document.body) element.querySelector(focused)?.focus();
    });
  };

  return {open, go, look, name: pageName, place: makePlace, drawn: makeDrawn, acts: makeActs};
})();
