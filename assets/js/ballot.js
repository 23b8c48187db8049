// The ballot: a key or button votes, the next pair is shown at once, the server's answer confirms it.
'use strict';

(() => {
  const UNREAD_MS = 200; // twice the same press would be a vote on a pair that nobody has read
  const PATIENCE_MS = 8000; // then the vote is not stored, and its pair comes back
  const TYPED = 'input, textarea, select, [contenteditable=true]';

  evalui.ballot = (element, trigger, watch, name) => {
    let since = performance.now(); // when the pair in hand was first seen
    let seen = ''; // its token
    let sequence = Math.floor(performance.now()); // of what was sent last; the answer to it says it
    let pending = 0; // a timer while the server has not answered
    let later = ''; // a key pressed meanwhile
    let focused = ''; // the key of the button that had the focus, which the answer draws anew
    const box = () => element.querySelector('.ballot');
    const button = key => element.querySelector(`[data-key="${CSS.escape(key)}"]`);
    const look = pair => {
      if (seen !== pair?.dataset.pair) since = performance.now();
      seen = pair?.dataset.pair;
    };
    const settle = () => {
      clearTimeout(pending);
      [pending, later] = [0, ''];
      box()?.classList.remove('ahead');
    };
    const shown = () => {
      if (pending && box().dataset.answer !== String(sequence)) return;
      const now = element.querySelector('.pair.now');
      const key = now?.dataset.pair === seen ? later : ''; // meant for the pair that was in view
      look(now);
      settle();
      const note = element.querySelector('textarea'); // Gradio keeps it where it was
      if (note) note.value = note.defaultValue;
      if (focused && document.activeElement === document.body) button(focused)?.focus();
      if (key) button(key)?.click();
    };
    element.addEventListener('click', ({target}) => {
      const pressed = target.closest('button[data-do]');
      if (!pressed) return;
      const {key = '', ...data} = pressed.dataset;
      const isUnread = key && performance.now() - since < UNREAD_MS;
      if (box().classList.contains('ahead') && !isUnread) later = key;
      if (pending || isUnread) return;
      focused = document.activeElement === pressed ? key : '';
      sequence += 1;
      pending = setTimeout(settle, PATIENCE_MS);
      const comment = element.querySelector('textarea')?.value ?? '';
      const spent = ((performance.now() - since) / 1000).toFixed(1);
      trigger(name, {...data, comment, spent, sequence: String(sequence)});
      const following = element.querySelector('.pair.next');
      if (data.do !== 'vote' || !following) return;
      box().classList.add('ahead');
      look(following);
      if (box().getBoundingClientRect().top < 0) box().scrollIntoView();
    });
    const onKey = event => {
      if (!element.isConnected) return document.removeEventListener('keydown', onKey);
      if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest?.(TYPED)) return;
      const meant = button(event.key.toLowerCase());
      if (!meant?.checkVisibility()) return;
      event.preventDefault();
      meant.click();
    };
    document.addEventListener('keydown', onKey);
    watch('value', shown);
    shown();
  };

  // Who votes where nobody has an account; each drawing of the page is sent it.
  evalui.keepVoter = typed => {
    const path = new URL('..', document.baseURI).pathname;
    const name = encodeURIComponent(typed.trim());
    document.cookie = `evalui-voter=${name}; path=${path}; max-age=31536000; samesite=lax`;
    return typed;
  };
})();
