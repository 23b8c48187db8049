// Places to drop files and folders on (`[data-drop]`): what is sent becomes an upload of the person.
'use strict';

window.evalui.dropZones = (() => {
  const sending = new Map(); // by the id of a zone's field: what it says of the files on their way

  const walk = entry => new Promise(done => {
    if (entry.isFile) {
      // Of two files with one name the folder tells which is which.
      const placed = file => Object.assign(file, {place: entry.fullPath.slice(1)});
      entry.file(file => done([placed(file)]), () => done([]));
      return;
    }
    // A reader hands out at most 100 entries a time.
    const reader = entry.createReader();
    const found = [];
    const more = () => reader.readEntries(async some => {
      if (some.length) {
        found.push(...some);
        more();
      } else done((await Promise.all(found.map(walk))).flat());
    }, () => done([]));
    more();
  });
  const dropped = async transfer => {
    const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) return [...transfer.files];
    return (await Promise.all(entries.map(walk))).flat();
  };
  const make = (name, content = {}) => Object.assign(document.createElement(name), content);
  const show = () => {
    for (const [id, parts] of sending) {
      const status = document.getElementById(id)?.closest('.drop').querySelector('[data-status]');
      if (status && status.firstChild !== parts[0]) status.replaceChildren(...parts);
    }
  };
  const say = (id, ...parts) => {
    sending.set(id, parts);
    show();
  };

  const send = (zone, files, sent) => {
    if (!files.length) return;
    const {id} = zone.querySelector('[type=file]');
    const {drop, sending: word, reading, cancel, lost} = zone.dataset;
    const language = `?lang=${document.documentElement.lang.slice(0, 2)}`;
    const body = new FormData();
    for (const file of files) body.append('files', file, file.place ?? file.name);
    const request = new XMLHttpRequest();
    request.responseType = 'json';
    request.open('POST', `../upload${language}`);
    const text = make('span', {textContent: word});
    const bar = make('div', {className: 'bar', role: 'progressbar', ariaLabel: word});
    const part = bar.appendChild(make('b'));
    const stop = make('button', {type: 'button', className: 'link', textContent: cancel});
    stop.addEventListener('click', () => request.abort());
    const fail = why => say(id, make('span', {className: 'bad', role: 'alert', textContent: why}));
    request.upload.addEventListener('progress', event => {
      if (!event.lengthComputable) return;
      const percent = Math.round(100 * event.loaded / event.total);
      part.style.width = `${percent}%`;
      text.textContent = `${word} ${percent} %`;
    });
    request.upload.addEventListener('load', () => {
      text.textContent = reading;
      bar.remove();
    });
    // The server says how many rows it has read, until the page shows them.
    const follow = async place => {
      if (sending.get(id)?.[0] !== text) return;
      const answer = await fetch(place).then(each => each.json()).catch(() => null);
      if (!answer?.status) return;
      text.textContent = answer.status;
      setTimeout(follow, 1000, place);
    };
    request.addEventListener('load', () => {
      stop.remove();
      if (request.status === 401) location.reload();
      else if (request.status !== 200) fail(request.response?.error ?? lost);
      else {
        say(id, text);
        sent(drop, request.response.upload, () => { if (sending.get(id)?.[0] === text) say(id, ''); });
        setTimeout(follow, 1000, `../upload/${request.response.upload}${language}`);
      }
    });
    request.addEventListener('error', () => fail(lost));
    request.addEventListener('abort', () => say(id, ''));
    say(id, text, bar, stop);
    request.send(body);
  };

  // `sent(what, upload, done)` is told of each upload; the page calls `done` when it shows it.
  const attach = (element, sent) => {
    element.addEventListener('change', ({target}) => {
      if (target.type !== 'file') return;
      send(target.closest('.drop'), [...target.files], sent);
      target.value = '';
    });
    for (const kind of ['dragover', 'dragleave', 'drop']) {
      element.addEventListener(kind, event => {
        const zone = event.target.closest('.drop');
        if (!zone) return;
        event.preventDefault();
        zone.classList.toggle('over', kind === 'dragover');
        if (kind === 'drop') dropped(event.dataTransfer).then(files => send(zone, files, sent));
      });
    }
  };
  return {attach, show};
})();
