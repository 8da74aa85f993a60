/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of the desktop: noVNC on the WebSocket /v1/vnc/ws.
 *
 *   /vnc/#token=T, /vnc/?ticket=T  as line.js has them
 *   /vnc/?ticket=T&view=1  to look at only: a ticket made for /v1/vnc/view,
 *                          where the server drops whatever would do more
 *   &resize=1              have the desktop as large as the window
 */
import RFB from "./core/rfb.js";
import { $, isSet, newTicket, onLogin, retry, setAddress, show,
	 socketUrl, takeTicket, worked } from "../terminal/line.js";

const viewOnly = isSet("view") || isSet("view_only");
const path = viewOnly ? "v1/vnc/view" : "v1/vnc/ws";

let rfb = null;

function keepAddress() {
	const names = {};

	if (viewOnly)
		names.view = "1";
	if ($("resize").checked)
		names.resize = "1";
	setAddress(names);
}

function showFacts() {
	const canvas = $("screen").querySelector("canvas");
	const facts = rfb && canvas ? [`${canvas.width}×${canvas.height}`] : [];

	if (viewOnly)
		facts.unshift("view only");
	$("facts").textContent = facts.join(" · ");
}

async function connect() {
	try {
		const pass = takeTicket() || await newTicket(path);

		if (pass)
			openScreen(pass);
	} catch (e) {
		tryAgain();
	}
}

function tryAgain() {
	retry("No connection", connect);
}

function openScreen(pass) {
	rfb = new RFB($("screen"), String(socketUrl(path, pass)),
		      { shared: true, wsProtocols: ["binary"] });
	rfb.viewOnly = viewOnly;
	rfb.background = "#12151d";
	setSizing();
	rfb.addEventListener("connect", () => {
		worked();
		show("open", "Connected");
		showFacts();
		rfb.focus();
	});
	rfb.addEventListener("disconnect", () => {
		rfb = null;
		showFacts();
		tryAgain();
	});
	rfb.addEventListener("desktopname", (e) => {
		document.title = `${e.detail.name} – Desktop`;
	});
	rfb.addEventListener("clipboard", (e) => {
		$("text").value = e.detail.text;
	});
}

function setSizing() {
	if (!rfb)
		return;
	rfb.scaleViewport = !$("resize").checked;
	rfb.resizeSession = $("resize").checked && !viewOnly;
}

$("resize").checked = isSet("resize") && !viewOnly;
for (const id of ["resizing", "clip", "keys"])
	$(id).hidden = viewOnly;
$("resize").onchange = () => {
	setSizing();
	keepAddress();
};
$("clip").onclick = () => {
	$("board").hidden = !$("board").hidden;
	if (!$("board").hidden)
		$("text").focus();
};
$("text").oninput = () => rfb && rfb.clipboardPasteFrom($("text").value);
$("keys").onclick = () => {
	if (rfb)
		rfb.sendCtrlAltDel();
};
$("full").onclick = () => {
	if (document.fullscreenElement)
		document.exitFullscreen();
	else
		document.documentElement.requestFullscreen();
};
/* The canvas has its size when the first picture is there. */
new MutationObserver(showFacts).observe($("screen"), {
	attributes: true, attributeFilter: ["width", "height"],
	childList: true, subtree: true,
});
/* For those who automate the page. */
$("screen").screen = () => rfb;
onLogin(connect);
keepAddress();
connect();
