// SPDX-License-Identifier: Apache-2.0
// Shows v1/openapi.json and sends requests.  What comes from a server is only
// ever put into the page as text.
'use strict';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const KEY = 'token';
let doc;

// el('p.dim', 'text', child, ...), el('input', {type: 'text'}, ...)
function el(what, ...rest) {
  const [tag, ...classes] = what.split('.');
  const e = document.createElement(tag);
  e.classList.add(...classes.filter(Boolean));
  for (const r of rest.flat()) {
    if (r === null || r === undefined) continue;
    if (r instanceof Node || typeof r === 'string') e.append(r);
    else for (const [k, v] of Object.entries(r))
      if (typeof v === 'function') e.addEventListener(k, v);
      else if (v !== false && v !== undefined) e.setAttribute(k, v === true ? '' : v);
  }
  return e;
}

const $ = (id) => document.getElementById(id);
const pretty = (j) => JSON.stringify(j, null, 2);

// Follows a $ref of the document.
function resolve(o) {
  while (o && o.$ref)
    o = o.$ref.slice(2).split('/').reduce(
      (at, k) => at[k.replace(/~1/g, '/').replace(/~0/g, '~')], doc);
  return o || {};
}

// The token: kept for this tab, also taken from #token=.
function setToken(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  $('token').value = value || '';
  $('token-state').textContent = value ? 'kept for this tab' : '';
}

function initToken() {
  const m = /^#token=([^&]+)/.exec(location.hash);
  if (m) history.replaceState(null, '', location.pathname + location.search);
  setToken(m ? decodeURIComponent(m[1]) : sessionStorage.getItem(KEY));
  $('token').addEventListener('input', (e) => setToken(e.target.value.trim()));
  $('auth').addEventListener('submit', (e) => e.preventDefault());
}

// "string or null, utf-8 | base64, 1 – 100, default 3"
function kind(s) {
  if (s.$ref) return s.$ref.split('/').pop();
  if (s.oneOf) return s.oneOf.map(kind).join(' or ');
  const out = [];
  let type = [].concat(s.type || 'any').join(' or ');
  if (s.items) type = 'list of ' + kind(s.items);
  if (s.additionalProperties && s.additionalProperties !== true && !s.properties)
    type = 'map to ' + kind(s.additionalProperties);
  if (s.format === 'binary') type = 'bytes';
  out.push(type);
  if (s.enum) out.push(s.enum.map(String).join(' | '));
  if (s.minimum !== undefined && s.maximum !== undefined)
    out.push(`${s.minimum} – ${s.maximum}`);
  else if (s.minimum !== undefined) out.push(`from ${s.minimum}`);
  if (s.default !== undefined) out.push('default ' + JSON.stringify(s.default));
  return out.join(', ');
}

const isOther = (text) => /^(Another name for|The bytes of .* as base64)/.test(text || '');

// What is taken says where, and marks what must be given; what is given marks
// what may be absent.
function table(rows, given) {
  const heads = given ? ['Name', 'Type', 'Meaning'] : ['Name', 'In', 'Type', 'Meaning'];
  const mark = (r) => given
    ? !r.must && el('span.dim', { title: 'not always there' }, ' ?')
    : r.must && el('span.must', { title: 'required' }, ' *');
  return el('table', el('thead', el('tr', heads.map((t) => el('th', t)))),
    el('tbody', rows.map((r) => el(isOther(r.text) ? 'tr.other' : 'tr',
      el('td.name', r.name, mark(r) || null),
      given ? null : el('td.kind', r.where), el('td.kind', r.kind), el('td', r.text || '')))));
}

// The fields that an alias may stand for count as required, too.
function required(schema) {
  const names = new Set(schema.required);
  for (const a of schema.allOf || []) names.add(a.anyOf[0].required[0]);
  return names;
}

function fieldRows(schema, where) {
  const must = required(schema);
  return Object.entries(schema.properties || {}).map(([name, s]) => ({
    name, where, kind: kind(s), must: must.has(name),
    text: s.description || resolve(s).description,
  }));
}

function inputTable(op) {
  const rows = (op.parameters || []).map((p) => ({
    name: p.name, where: p.in, kind: kind(p.schema), must: p.required, text: p.description,
  }));
  for (const [type, media] of Object.entries((op.requestBody || {}).content || {})) {
    if (media.schema.properties)
      rows.push(...fieldRows(media.schema, type === 'application/json' ? 'body' : 'form'));
    else rows.push({ name: 'body', where: type, kind: 'bytes', must: true,
      text: media.schema.description });
  }
  return rows.length ? table(rows) : el('p.dim', 'It takes nothing.');
}

// A schema and those that it refers to, each once.
function schemaTables(schema, seen = new Set()) {
  const out = [], later = [];
  const name = schema.$ref && schema.$ref.split('/').pop();
  const s = resolve(schema);
  if (name && seen.has(name)) return out;
  if (name) seen.add(name);
  if (s.properties) {
    out.push(el('h4', name ? `${name}: ${s.description || ''}` : ''),
      table(fieldRows(s), true));
    for (const p of Object.values(s.properties))
      for (const r of [p, p.items, p.additionalProperties, ...(p.oneOf || [])])
        if (r && r.$ref) later.push(r);
  }
  if (s.examples) out.push(el('pre', pretty(s.examples[0])));
  return out.concat(later.flatMap((r) => schemaTables(r, seen)));
}

function responses(op) {
  const box = el('div.responses');
  const codes = Object.keys(op.responses).sort();
  for (const code of codes) {
    const r = resolve(op.responses[code]);
    const types = Object.entries(r.content || {});
    const error = types.some(([t]) => t === 'application/problem+json');
    const parts = [];
    for (const [name, h] of Object.entries(r.headers || {}))
      parts.push(el('p', el('code', name), ' – ' + h.description));
    for (const [type, media] of error ? [] : types) {
      parts.push(el('h4', type));
      for (const [event, text] of Object.entries(media['x-events'] || {}))
        parts.push(el('p', el('code', 'event: ' + event), ' – ' + text,
          el('span.dim', ' · ' + kind(media.schema.$defs[event]))));
      const seen = new Set();
      for (const s of media['x-events'] ? Object.values(media.schema.$defs) : [media.schema])
        parts.push(...schemaTables(s, seen));
    }
    const head = [el(code < '400' ? 'span.code2' : 'span.code4', code), ' ', r.description];
    box.append(parts.length ? el('details', { open: code < '300' && codes.length < 9 },
      el('summary', head), parts) : el('div', head));
  }
  return box;
}

// What the form of an operation holds, as a request.
function Request(path, method, op) {
  const inputs = [];
  const form = el('div.try');
  const content = (op.requestBody || {}).content || {};
  let body, file, note = () => {};

  function add(label, input) {
    input.id = `${op.operationId}-${label}`;
    input.addEventListener('input', () => note());
    form.append(el('div.row', el('label', { for: input.id }, label), input));
    return input;
  }
  function choice(p) {
    const words = p.schema.enum || (p.schema.type === 'boolean' ? ['true', 'false'] : null);
    if (!words) return el('input', { value: p.example ?? '', placeholder: p.schema.default ?? '' });
    return el('select', el('option', { value: '' }, ''),
      words.map((w) => el('option', { value: w, selected: p.example === w }, w)));
  }
  for (const p of op.parameters || [])
    if (!isOther(p.description)) inputs.push({ p, input: add(p.name, choice(p)) });
  if (content['application/json']) {
    body = el('textarea', { spellcheck: 'false', 'aria-label': 'Body' });
    body.value = pretty(content['application/json'].example || {});
    body.id = op.operationId + '-body';
    body.addEventListener('input', () => note());
    form.append(body);
  }
  const form_data = content['multipart/form-data'];
  if (form_data || content['application/octet-stream'])
    file = add('file', el('input', { type: 'file', multiple: !!form_data }));

  function target() {
    const query = new URLSearchParams();
    let where = path;
    for (const { p, input } of inputs) {
      if (p.in === 'path')
        where = where.replace(`{${p.name}}`, encodeURIComponent(input.value) || `{${p.name}}`);
      else if (p.in === 'query' && input.value !== '') query.set(p.name, input.value);
    }
    const q = query.toString();
    return where.slice(1) + (q ? '?' + q : '');
  }
  function headers() {
    const h = {};
    for (const { p, input } of inputs)
      if (p.in === 'header' && input.value !== '') h[p.name] = input.value;
    if (body) h['Content-Type'] = 'application/json';
    return h;
  }
  const quote = (s) => `'${s.replace(/'/g, `'\\''`)}'`;
  function curl() {
    const words = ['curl'];
    if (method !== 'get' && !(method === 'post' && (body || file)) && method !== 'put')
      words.push('-X ' + method.toUpperCase());
    if ((op.security || doc.security).length)
      words.push('-H "Authorization: Bearer $TOKEN"');
    for (const [k, v] of Object.entries(headers())) words.push('-H ' + quote(`${k}: ${v}`));
    if (body) words.push('-d ' + quote(compact(body.value)));
    if (file) words.push(form_data ? '-F file=@FILE' : '-T FILE');
    words.push(quote(new URL(target(), document.baseURI).href));
    return words.join(' \\\n  ');
  }
  function options() {
    const h = headers();
    const token = sessionStorage.getItem(KEY);
    if (token) h.Authorization = 'Bearer ' + token;
    let data = body ? body.value : undefined;
    if (file && form_data) {
      data = new FormData();
      for (const f of file.files) data.append('file', f);
    } else if (file) data = file.files[0] || '';
    return { method: method.toUpperCase(), headers: h, body: data, cache: 'no-store' };
  }
  return { form, target, curl, options, onChange: (fn) => { note = fn; } };
}

function compact(text) {
  try { return JSON.stringify(JSON.parse(text)); } catch { return text; }
}

// One event at a time out of a text/event-stream.
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const e = { event: 'message', data: [] };
      for (const line of text.slice(0, end).split('\n')) {
        const m = /^(event|data): ?(.*)$/.exec(line);
        if (m && m[1] === 'data') e.data.push(m[2]);
        else if (m) e.event = m[2];
      }
      if (e.data.length) yield { event: e.event, data: e.data.join('\n') };
    }
  }
}

async function showBody(box, answer) {
  const type = (answer.headers.get('content-type') || '').split(';')[0];
  if (type === 'text/event-stream') {
    for await (const e of events(answer.body))
      box.append(el('div.event', el('strong', e.event), el('code', e.data)));
    return;
  }
  if (/json$/.test(type)) {
    const text = await answer.text();
    try { box.append(el('pre', pretty(JSON.parse(text)))); } catch { box.append(el('pre', text)); }
    return;
  }
  if (/^text\//.test(type)) {
    const pre = el('pre');
    box.append(pre);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let r; !(r = await reader.read()).done;) pre.append(r.value);
    return;
  }
  const blob = await answer.blob();
  if (!blob.size) return;
  const url = URL.createObjectURL(blob);
  if (/^image\/(png|jpeg|webp|gif)$/.test(type)) box.append(el('img', { src: url, alt: 'The answer' }));
  box.append(el('p', el('a', { href: url, download: 'answer' }, `Save ${blob.size} bytes`)));
}

function tryBox(path, method, op) {
  if (op.responses['101'])
    return el('p.dim', 'A WebSocket: this page cannot try it.');
  const req = Request(path, method, op);
  const command = el('pre');
  const answer = el('div.answer', { 'aria-live': 'polite' });
  const go = el('button.go', { type: 'button' }, 'Send');
  const stop = el('button', { type: 'button', hidden: true }, 'Stop');
  const update = () => { command.textContent = req.curl(); };
  let abort;

  go.addEventListener('click', async () => {
    abort = new AbortController();
    answer.replaceChildren(el('p.dim', 'Waiting …'));
    go.disabled = true;
    stop.hidden = false;
    const start = performance.now();
    try {
      const r = await fetch(req.target(), { ...req.options(), signal: abort.signal });
      const ms = Math.round(performance.now() - start);
      answer.replaceChildren(
        el('p', el(r.ok ? 'span.status.good' : 'span.status.bad', `${r.status} ${r.statusText}`),
          el('span.dim', `${ms} ms`)),
        el('details', el('summary.dim', 'Headers'),
          el('pre', [...r.headers].map(([k, v]) => `${k}: ${v}`).join('\n'))));
      if (r.status === 401)
        answer.append(el('p.bad', 'Give the token, at the top of the page.'));
      await showBody(answer, r);
    } catch (e) {
      answer.append(el('p.bad', e.name === 'AbortError' ? 'Stopped.' : String(e)));
    }
    go.disabled = false;
    stop.hidden = true;
  });
  stop.addEventListener('click', () => abort.abort());
  req.onChange(update);
  update();
  req.form.append(el('div.acts', go, stop));
  return el('div', req.form, answer, el('h3', 'The same with curl'),
    el('div.copy', command, el('button', {
      type: 'button',
      click: (e) => copy(e.target, command.textContent),
    }, 'Copy')));
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Mark it and copy';
  }
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
}

function card(o) {
  const { path, method, op } = o;
  const open = op.security && !op.security.length && doc.security.length;
  const d = el('details.op', { id: op.operationId }, el('summary',
    el(`span.method.${method}`, method.toUpperCase()), el('span.path', path),
    el('span.what', op.summary), open ? el('span.tag', 'public') : null));
  d.addEventListener('toggle', () => {
    if (!d.open || d.children.length > 1) return;
    d.append(el('div.body',
      op.description !== op.summary + '.' ? el('p', op.description) : null,
      o.aliases.length ? el('p.dim', 'Also: ', o.aliases.flatMap((a, i) =>
        [i ? ', ' : null, el('code', a)])) : null,
      el('h3', 'Takes'), inputTable(op),
      el('h3', 'Try it'), tryBox(path, method, op),
      el('h3', 'Answers'), responses(op)));
  });
  o.card = d;
  o.link = el('a', { href: '#' + op.operationId },
    el(`span.method.${method}`, method === 'delete' ? 'DEL' : method.toUpperCase()),
    el('span.path', { title: path }, path.replace(/^\/v1/, '')));
  o.words = [path, method, op.summary, op.description, ...o.aliases].join(' ').toLowerCase();
  return d;
}

function collect() {
  const ops = [], by = new Map();
  for (const [path, item] of Object.entries(doc.paths))
    for (const method of METHODS)
      if (item[method] && !item[method]['x-alias-of']) {
        const o = { path, method, op: item[method], aliases: [] };
        ops.push(o);
        by.set(method + path, o);
      }
  for (const [path, item] of Object.entries(doc.paths))
    for (const method of METHODS) {
      const of = item[method] && item[method]['x-alias-of'];
      if (of) by.get(method + of).aliases.push(path);
    }
  return ops;
}

function show() {
  const ops = collect();
  const groups = [];
  document.title = $('title').textContent = doc.info.title;
  $('version').textContent = doc.info.version;
  $('about').textContent = doc.info.description || '';
  for (const t of doc.tags) {
    const mine = ops.filter((o) => o.op.tags && o.op.tags[0] === t.name);
    if (!mine.length) continue;
    const section = el('section', el('h2', t.name), el('p', t.description || ''), mine.map(card));
    const index = el('div', el('h2', t.name), mine.map((o) => o.link));
    $('list').append(section);
    $('index').append(index);
    groups.push({ mine, section, index });
  }
  $('search').addEventListener('input', () => {
    const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    let any = false;
    for (const g of groups) {
      for (const o of g.mine)
        o.card.hidden = o.link.hidden = !words.every((w) => o.words.includes(w));
      g.section.hidden = g.index.hidden = g.mine.every((o) => o.card.hidden);
      any = any || !g.section.hidden;
    }
    $('none').hidden = any;
  });
}

function openHash() {
  const d = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!d || !d.classList.contains('op')) return;
  d.open = true;
  d.scrollIntoView();
}

async function main() {
  initToken();
  try {
    const r = await fetch('v1/openapi.json');
    if (!r.ok) throw new Error(`openapi.json: ${r.status} ${r.statusText}`);
    doc = await r.json();
    show();
    openHash();
  } catch (e) {
    $('trouble').textContent = String(e);
    $('trouble').hidden = false;
  }
}

addEventListener('hashchange', openHash);
addEventListener('keydown', (e) => {
  if (e.key !== '/' || /^(input|textarea|select)$/i.test(e.target.tagName)) return;
  e.preventDefault();
  $('search').focus();
});
main();
