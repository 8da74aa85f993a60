/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pages of terminals and of the desktop share: the bar, the token, and
 * their line to the server beside whose routes they are served.
 *
 *   #token=T   the token stays in the browser; it buys a one-time ticket for
 *              each connection
 *   ?ticket=T  a ticket from someone who has the token; good once
 *
 * guestd serves them at /NAME/.  sandboxd does, too, below
 * /v1/sandboxes/ID: the routes beside them lead to that guestd, but tokens and
 * tickets are then sandboxd's own.
 */
const FIRST_WAIT = 500, MAX_WAIT = 10000; /* ms between attempts */
const base = new URL("../", location.href);
const behind = base.pathname.match(/^(.*)(\/v1\/sandboxes\/[^/]+)\/$/);
const tickets = behind ? new URL(behind[1] + "/v1/tickets", base)
		       : new URL("v1/tickets", base);
const prefix = behind ? decodeURIComponent(behind[2]) : "";

export const $ = (id) => document.getElementById(id);
export const asked = new URLSearchParams(location.search);
export const isSet = (name) =>
	["", "1", "true", "yes"].includes(asked.get(name));

let token = takeToken();
let ticket = asked.get("ticket");
let wait = FIRST_WAIT;
let timer = 0;

/* Out of the address, where it would be seen and copied. */
function takeToken() {
	const hash = new URLSearchParams(location.hash.slice(1));
	const given = hash.get("token");

	if (given)
		sessionStorage.setItem("token", given);
	return given || sessionStorage.getItem("token");
}

/* The address under which a reload finds all again. */
export function setAddress(names) {
	const query = String(new URLSearchParams(names));

	history.replaceState(null, "",
			     location.pathname + (query ? "?" + query : ""));
}

export function show(state, text, button, action) {
	$("bar").dataset.state = state;
	$("status").textContent = text;
	$("again").hidden = !button;
	$("again").textContent = button || "";
	$("again").onclick = action || null;
}

function askForToken(why) {
	show("failed", "Not connected");
	if (behind)
		$("login").querySelector("label").textContent =
			"sandboxd asks for its token";
	$("why").textContent = why || "";
	$("login").hidden = false;
	$("token").focus();
}

/* What to do once there is a token. */
export function onLogin(connect) {
	$("login").onsubmit = (e) => {
		e.preventDefault();
		token = $("token").value.trim();
		sessionStorage.setItem("token", token);
		$("token").value = "";
		$("login").hidden = true;
		show("connecting", "Connecting…");
		connect();
	};
}

function ask(method, url, body) {
	const headers = { "Content-Type": "application/json" };

	if (token)
		headers.Authorization = "Bearer " + token;
	return fetch(url, {
		method, headers, cache: "no-store",
		body: body && JSON.stringify(body),
	});
}

/* Ask guestd, for a path such as "v1/terminals". */
export function call(method, path, body) {
	return ask(method, new URL(path, base), body);
}

/* The ticket that the page came with; once, for it is good once. */
export function takeTicket() {
	const given = ticket;

	ticket = null;
	return given;
}

/* Browsers cannot send a token with a WebSocket, but a ticket.  null: the user
 * is asked for the token. */
export async function newTicket(path) {
	const reply = await ask("POST", tickets, { path: prefix + "/" + path });

	if (reply.status === 401) {
		const problem = await reply.json().catch(() => ({}));

		sessionStorage.removeItem("token");
		askForToken(token ? problem.detail : "");
		return null;
	}
	if (!reply.ok)
		throw new Error("no ticket");
	return (await reply.json()).ticket;
}

/* Of a WebSocket of guestd's, such as "v1/vnc/ws". */
export function socketUrl(path, pass) {
	const url = new URL(path, base);

	url.protocol = base.protocol === "https:" ? "wss:" : "ws:";
	url.searchParams.set("ticket", pass);
	return url;
}

/* Try again, later each time until it worked. */
export function retry(what, connect) {
	const seconds = Math.ceil(wait / 1000);
	const again = () => {
		clearTimeout(timer);
		connect();
	};

	show("connecting", `${what}, trying again in ${seconds} s`, "Now", again);
	timer = setTimeout(again, wait);
	wait = Math.min(2 * wait, MAX_WAIT);
}

export function worked() {
	wait = FIRST_WAIT;
}
