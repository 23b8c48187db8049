// The form of the Evaluate page: what is chosen and typed is kept in the tab, which gives it to each
// drawing (`place` in page.js), so nothing is lost with a session. Lists of Gradio's tell what they
// hold by `keep`, its text fields have their names in their ids; fields of our markup (`[name]`) are
// read where they stand.
'use strict';

window.evalui.form = (() => {
  const SOON_MS = 250;
  const place = () => `evalui.form.${evalui.name()}`;
  const isTick = field => field.type === 'checkbox' || field.type === 'radio';
  const changed = new Map(); // by name: at which change it was last changed, and its value if told
  let element = null, count = 0, isDue = false, soon = 0, focused = null;
  const waiting = []; // uploads that the next drawing shows

  const page = () => document.querySelector('.page.evaluate');
  const fields = () => [...page().querySelectorAll('.html-container [name]')].filter(field => !field.disabled);
  const data = () => element.querySelector('form').dataset;
  const drawn = () => Number(JSON.parse(data().form).version ?? 0);
  const read = (more = {}) => {
    const form = JSON.parse(data().form);
    for (const field of fields()) if (field.type === 'checkbox') form[field.name] = [];
    for (const field of fields()) {
      if (isTick(field) && !field.checked) continue;
      if (field.type !== 'checkbox') form[field.name] = field.value;
      else if (!form[field.name].includes(field.value)) form[field.name].push(field.value);
    }
    const later = drawn();
    for (const [name, {at, value}] of changed) if (value !== undefined && at > later) form[name] = value;
    Object.assign(form, more, {version: String(count)});
    for (const name in form) if (form[name] === null) delete form[name];
    return form;
  };
  const store = more => {
    const form = JSON.stringify(read(more));
    sessionStorage.setItem(place(), form);
    return form;
  };
  // One drawing at a time: what changes meanwhile is drawn after it.
  const draw = (more = {}) => {
    for (const [name, value] of Object.entries(more)) changed.set(name, {at: ++count, value});
    store();
    if ('drawing' in document.body.dataset) isDue = true;
    else evalui.open();
  };
  const keep = (name, value) => draw({[name]: value});
  const typed = target => target.closest('[id^="field."]');
  const type = ({id}, field) => {
    const name = id.slice('field.'.length), value = field.value, last = changed.get(name);
    if (last?.at > drawn() && last.value === value) return; // it was restored
    changed.set(name, {at: ++count, value, caret: field.selectionEnd});
    store();
  };
  const end = ({id, classList}) => {
    if (!classList.contains('quiet') && changed.get(id.slice('field.'.length))?.at > drawn()) draw();
  };
  // A drawing that was asked for before the last key was pressed takes nothing of the text away.
  const restore = () => {
    for (const [name, {at, value, caret}] of changed) {
      const field = at > drawn() && document.getElementById(`field.${name}`)?.querySelector('input, textarea');
      if (!field || field.value === value) continue;
      field.value = value;
      field.setSelectionRange(caret, caret);
      field.dispatchEvent(new Event('input', {bubbles: true}));
    }
  };

  const find = () => {
    const field = page().querySelector('[type=search]:not([name])');
    const words = field?.value.trim().toLowerCase() ?? '';
    for (const row of page().querySelectorAll('[data-row]')) {
      row.hidden = !row.dataset.row.includes(words);
      if (words && !row.hidden && row.closest('details')) row.closest('details').open = true;
    }
  };
  // Fields hold what the drawing says, but for what was changed since it was asked for.
  const settle = () => {
    const held = JSON.parse(sessionStorage.getItem(place()) ?? '{}'), version = drawn();
    count = Math.max(count, version);
    for (const field of fields()) {
      const isLater = changed.get(field.name)?.at > version && field.name in held;
      if (isTick(field)) {
        field.checked = isLater ? [held[field.name]].flat().includes(field.value) : field.defaultChecked;
      } else if (isLater) field.value = held[field.name];
      else if (field.tagName === 'SELECT') {
        for (const option of field.options) if (option.defaultSelected) option.selected = true;
      } else if (field.type !== 'file') field.value = field.defaultValue;
    }
    if (focused && !focused.field.isConnected && document.activeElement === document.body) {
      const same = fields().find(field => field.name === focused.name && (!isTick(field) || field.value === focused.value));
      same?.focus({preventScroll: true});
    }
    find();
    restore();
    evalui.dropZones.show();
    store();
  };

  const listen = (on, act) => {
    const note = target => { changed.set(target.name, {at: ++count}); };
    on.addEventListener('focusin', ({target}) => {
      focused = target.closest('.html-container') && target.name ? {field: target, name: target.name, value: target.value} : null;
    });
    on.addEventListener('beforeinput', restore, true);
    new MutationObserver(restore).observe(on, {subtree: true, childList: true, attributes: true, characterData: true});
    on.addEventListener('focusout', ({target}) => { if (typed(target)) end(typed(target)); });
    on.addEventListener('keydown', ({key, target}) => {
      if (key === 'Enter' && target.tagName === 'INPUT' && typed(target)) end(typed(target));
    });
    on.addEventListener('input', ({target}) => {
      if (typed(target)) type(typed(target), target);
      if (!target.closest('.html-container')) return;
      if (target.type === 'search' && !target.name) find();
      if (!target.name || isTick(target) || target.tagName === 'SELECT') return;
      note(target);
      store();
      clearTimeout(soon);
      if ('soon' in target.dataset) soon = setTimeout(draw, SOON_MS);
    });
    on.addEventListener('change', ({target}) => {
      if (!target.closest('.html-container') || !target.name) return;
      note(target);
      // A box that stands twice is one.
      for (const twin of fields()) {
        if (twin.type === 'checkbox' && twin.name === target.name && twin.value === target.value) twin.checked = target.checked;
      }
      if ('quiet' in target.dataset) store();
      else draw();
    });
    on.addEventListener('click', event => {
      const button = event.target.closest('.html-container button');
      if (!button) return;
      const {set, do: what, remove} = button.dataset;
      // The second click of a double click is no second press.
      if (what && event.detail < 2) act({...button.dataset, form: store(set && JSON.parse(set))});
      else if (remove) go(files().filter(each => each !== remove));
      else if (set && !what) draw(JSON.parse(set));
    });
    evalui.dropZones.attach(on, (drop, upload, done) => {
      waiting.push(done);
      if (drop === 'answered') draw({answered: upload});
      else go([...(drop === 'join' ? files() : []), upload]);
    });
  };
  const files = () => JSON.parse(data().files);
  const go = uploads => {
    store();
    const query = new URLSearchParams(location.search);
    query.delete('again');
    query.delete('uploads');
    evalui.go(`?${query}${query.size && uploads.length ? '&' : ''}${uploads.length ? `uploads=${uploads.join()}` : ''}`);
  };
  addEventListener('keydown', event => {
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || !element?.isConnected) return;
    if (CSS.supports('selector(:open)') && event.target.matches?.('select:open')) return;
    page().querySelector('[data-escape]')?.click();
  });
  addEventListener('drawn', () => {
    if (!element?.isConnected) return;
    settle();
    for (const done of waiting.splice(0)) done();
    if (isDue) evalui.open();
    isDue = false;
  });

  const attach = (made, trigger, name) => {
    element = made;
    listen(page(), sent => trigger(name, sent));
  };
  return {attach, keep, text: () => store()};
})();
