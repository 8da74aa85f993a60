/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a terminal: xterm.js on the WebSocket /v1/terminal/ws.
 *
 *   /terminal/#token=T, /terminal/?ticket=T  as line.js has them
 *   ?id=ID&view=1      a terminal that is open already, to look at only
 *   ?command&cwd&user  for a new one
 */
import { $, asked, call, isSet, newTicket, onLogin, retry, setAddress, show,
	 socketUrl, takeTicket, worked } from "./line.js";

const ACK_EVERY = 32 * 1024; /* bytes; the server's window is 256 KiB */
const PASTE_PIECE = 16 * 1024;
const PATH = "v1/terminal/ws";
const viewOnly = isSet("view");

const theme = {
	background: "#12151d", foreground: "#d5dbe8",
	cursor: "#7fd1a8", cursorAccent: "#12151d",
	selection: "rgba(120, 150, 220, 0.35)",
	black: "#232936", red: "#e8757f", green: "#8ccf7e",
	yellow: "#e5c07b", blue: "#6ea8fe", magenta: "#c792ea",
	cyan: "#6fd3d9", white: "#d5dbe8",
	brightBlack: "#5d677e", brightRed: "#ff8f97",
	brightGreen: "#a6e398", brightYellow: "#f5d491",
	brightBlue: "#93c0ff", brightMagenta: "#ddb3f8",
	brightCyan: "#94e6ea", brightWhite: "#ffffff",
};
const term = new Terminal.Terminal({
	cursorBlink: true,
	disableStdin: viewOnly,
	fontFamily: '"JetBrains Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace',
	fontSize: 14,
	lineHeight: 1.15,
	scrollback: 10000,
	theme,
});

let id = asked.get("id");
let socket = null;
let known = false;	/* the offset is that of this terminal */
let offset = 0;		/* of the next byte of output */
let acked = 0;
let replayUntil = 0;	/* what answers old output is not sent */
let decoder = new TextDecoder();
let ended = false;
const encoder = new TextEncoder();

function keepAddress() {
	const names = {};

	if (id)
		names.id = id;
	if (viewOnly)
		names.view = "1";
	setAddress(names);
}

function showFacts() {
	const facts = [`${term.cols}×${term.rows}`, id];

	if (viewOnly)
		facts.unshift("view only");
	$("facts").textContent = known ? facts.join(" · ") : "";
}

async function isGone() {
	if (!id)
		return false;
	const reply = await call("GET", "v1/terminals/" +
				 encodeURIComponent(id));

	return reply.status === 404;
}

async function connect() {
	let pass = takeTicket();

	try {
		if (!pass) {
			pass = await newTicket(PATH);
			if (!pass)
				return;
			if (await isGone()) {
				finish(`Terminal ${id} is gone`, "failed");
				return;
			}
		}
	} catch (e) {
		tryAgain();
		return;
	}
	openSocket(pass);
}

function openSocket(pass) {
	const url = socketUrl(PATH, pass);
	const query = url.searchParams;

	if (id)
		query.set("id", id);
	else
		for (const name of ["command", "cwd", "user"])
			if (asked.get(name))
				query.set(name, asked.get(name));
	if (known)
		query.set("offset", offset);
	if (viewOnly)
		query.set("view", "1");
	else
		for (const [name, n] of Object.entries(fitting()))
			query.set(name, n);
	socket = new WebSocket(url);
	socket.binaryType = "arraybuffer";
	socket.onmessage = (e) => typeof e.data === "string"
		? onText(JSON.parse(e.data)) : onBytes(e.data);
	socket.onclose = onClose;
}

function onClose() {
	socket = null;
	if (!ended)
		tryAgain();
}

function tryAgain() {
	retry("Connection lost", connect);
}

function finish(text, state) {
	ended = true;
	show(state, text, viewOnly ? "" : "New terminal", startAnew);
}

function startAnew() {
	id = null;
	known = ended = false;
	worked();
	keepAddress();
	term.reset();
	term.focus();
	show("connecting", "Connecting…");
	connect();
}

function onHello(m) {
	if (!known || m.offset !== offset) {
		term.reset();
		decoder = new TextDecoder();
		replayUntil = m.end || 0;
	}
	known = true;
	id = m.id;
	offset = acked = m.offset;
	worked();
	send({ type: "ack", offset });
	keepAddress();
	if (viewOnly)
		term.resize(m.cols, m.rows);
	else
		fit();
	showFacts();
	show("open", m.skipped ? "Connected; some output was skipped"
			       : "Connected");
}

function onText(m) {
	if (m.type === "hello") {
		onHello(m);
	} else if (m.type === "resize") {
		term.resize(m.cols, m.rows);
		showFacts();
	} else if (m.type === "exit") {
		finish(m.signal ? `Ended by ${m.signal}`
				: `Ended with exit code ${m.exit_code}`,
		       "ended");
	} else if (m.type === "error") {
		$("status").textContent = m.detail;
	}
}

function onBytes(data) {
	offset += data.byteLength;
	term.write(decoder.decode(data, { stream: true }));
	setTimeout(acknowledge, 0);
}

/* Once the terminal has worked through what it was given. */
function acknowledge() {
	if (term._core.writeBuffer.length) {
		setTimeout(acknowledge, 0);
	} else if (offset - acked >= ACK_EVERY) {
		acked = offset;
		send({ type: "ack", offset });
	}
}

function send(message) {
	if (socket && socket.readyState === WebSocket.OPEN)
		socket.send(message instanceof Uint8Array
			? message : JSON.stringify(message));
}

/* How many columns and rows the window has room for. */
function fitting() {
	const cell = term._core.renderer.dimensions;
	const style = getComputedStyle($("screen"));
	const width = $("screen").clientWidth -
		parseFloat(style.paddingLeft) -
		parseFloat(style.paddingRight) -
		term._core.viewport.scrollBarWidth;
	const height = $("screen").clientHeight -
		parseFloat(style.paddingTop) -
		parseFloat(style.paddingBottom);

	if (!cell.actualCellWidth || !cell.actualCellHeight)
		return { cols: term.cols, rows: term.rows };
	return {
		cols: Math.max(2, Math.min(1000,
			Math.floor(width / cell.actualCellWidth))),
		rows: Math.max(1, Math.min(1000,
			Math.floor(height / cell.actualCellHeight))),
	};
}

function fit() {
	const size = fitting();

	if (viewOnly)
		return;
	if (size.cols !== term.cols || size.rows !== term.rows)
		term.resize(size.cols, size.rows);
	send({ type: "resize", ...size });
	showFacts();
}

function onKey(e) {
	if (e.type !== "keydown" || !e.ctrlKey || !e.shiftKey)
		return true;
	if (e.code === "KeyC" && term.hasSelection()) {
		document.execCommand("copy");
		e.preventDefault();
		return false;
	}
	return e.code !== "KeyV"; /* the browser pastes */
}

function onData(text) {
	const bytes = encoder.encode(text);

	if (viewOnly || offset < replayUntil)
		return;
	for (let i = 0; i < bytes.length; i += PASTE_PIECE)
		send(bytes.subarray(i, i + PASTE_PIECE));
}

term.open($("screen"));
/* For those who automate the page. */
$("screen").terminal = term;
$("screen").dropConnection = () => socket && socket.close(4000);
term.attachCustomKeyEventHandler(onKey);
term.on("data", onData);
term.on("title", (title) => {
	document.title = title ? `${title} – Terminal` : "Terminal";
});
addEventListener("resize", fit);
onLogin(() => {
	term.focus();
	connect();
});
keepAddress();
term.focus();
connect();
