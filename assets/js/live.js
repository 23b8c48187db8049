// Follows a run: `evalui/ui/live.py` draws how far it is, and has it anew at a route.
'use strict';

evalui.live = (element, props) => {
  // For news the page is drawn anew after so many times what the last drawing took.
  const TIMES = 20, LEAST_MS = 3000, MOST_MS = 30000, LOST_MS = 5000;
  const read = html => Object.assign(document.createElement('template'), {innerHTML: html}).content.firstElementChild.dataset;
  let now = read(props.value); // `props.drawn` is what the page was drawn with
  let next = performance.now() + LEAST_MS, opened = -Infinity;
  let tag = '', failures = 0, timer = 0, isAsked = false;

  const again = () => {
    clearTimeout(timer);
    const {news, drawn} = props, moment = performance.now();
    const isDue = now.state !== drawn.state || (now[news] !== drawn[news] && moment > next);
    if (isDue && moment > opened + LOST_MS) {
      opened = moment;
      evalui.open();
    }
    const pause = now.pause || (isDue && LEAST_MS); // a drawing may get lost
    if (pause && !document.hidden) timer = setTimeout(look, pause);
  };
  const tell = () => {
    document.title = `${now.title} · ${props.title}`;
    for (const each of document.querySelectorAll('[data-far]')) each.textContent = now[each.dataset.far];
    element.querySelector('[data-lost]').hidden = failures < 2;
  };
  const look = async () => {
    if (isAsked || !element.isConnected) return;
    isAsked = true;
    const {address} = props;
    try {
      const answer = await fetch(new URL(address, document.baseURI), {headers: {'If-None-Match': tag}, cache: 'no-store'});
      const html = answer.ok ? await answer.text() : '';
      if (address !== props.address) return; // another run is shown by now
      failures = answer.ok || answer.status === 304 ? 0 : failures + 1;
      // The page says what became of the run.
      if (answer.status === 403 || answer.status === 404) now = {...now, state: 'gone'};
      if (html) [now, tag] = [read(html), answer.headers.get('ETag')];
      if (html && props.shown) props.value = html;
    } catch {
      failures += 1;
    } finally {
      isAsked = false;
      queueMicrotask(tell); // after its markup is there
      again();
    }
  };
  const seen = () => { if (!document.hidden && now.pause) look(); };
  let isFirst = true; // a drawing that brought much which is there by now
  const take = ({detail}) => {
    if (!element.isConnected) {
      document.removeEventListener('visibilitychange', seen);
      removeEventListener('drawn', take);
      return;
    }
    now = read(props.value);
    const took = isFirst ? 0 : detail.took;
    next = performance.now() + Math.min(Math.max(TIMES * took, LEAST_MS), MOST_MS);
    [opened, isFirst, tag] = [-Infinity, false, ''];
    tell();
    again();
  };
  document.addEventListener('visibilitychange', seen);
  addEventListener('drawn', take);
  tell();
  again();
};
