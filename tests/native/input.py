# SPDX-License-Identifier: Apache-2.0
"""Input, as programs see it.  Usage: input.py PORT DIR"""
import base64
import io
import json
import os
import sys
import threading

from PIL import Image

from desktop import Desktop, Events, wait_until

port, folder = int(sys.argv[1]), sys.argv[2]
desk = Desktop(port, folder + "/run")


def post(path, body, status=200, method="POST"):
    got, _, data = desk.ask(
        method, "/v1/screen/" + path, body, {"Content-Type": "application/json"}
    )
    assert got == status, (path, body, got, data[:500])
    return json.loads(data) if data else None


def test_mouse():
    with Events(desk.env, 100, 100, 400, 300) as e:
        post("mouse", {"action": "move", "x": 150, "y": 160})
        e.until("move 150 160")
        r = post("mouse", {"x": 200, "y": 210})
        assert r["cursor"] == {"x": 200, "y": 210}, r
        lines = e.until("up 1 200 210")
        assert lines[-2] == "down 1 200 210 0", lines
        post("mouse", {"action": "double", "button": "right"})
        lines = e.until("up 3 200 210") + e.until("up 3 200 210")
        assert lines == ["down 3 200 210 0", "up 3 200 210"] * 2, lines
        post("mouse", {"action": "triple_click", "button": "middle"})
        for _ in range(3):
            e.until("up 2 200 210")
        post("mouse", {"action": "scroll", "direction": "up", "amount": 2})
        assert e.until("up 4 200 210")[0] == "down 4 200 210 0"
        e.until("up 4 200 210")
        post("mouse", {"action": "scroll", "dx": 1, "dy": -1})
        e.until("up 4 200 210")
        e.until("up 7 200 210")
        post("mouse", {"action": "scroll", "dx": -1, "dy": 1})
        e.until("up 5 200 210")
        e.until("up 6 200 210")
        post(
            "mouse",
            {"action": "drag", "path": [[110, 110], {"x": 120, "y": 130}, [140, 150]]},
        )
        lines = e.until("up 1 140 150")
        for line in ("down 1 110 110 0", "move 120 130", "move 140 150"):
            assert line in lines, (line, lines)
        post("mouse", {"action": "down", "x": 130, "y": 130})
        post("mouse", {"action": "move", "x": 180, "y": 190})
        post("mouse", {"action": "up"})
        assert "down 1 130 130 0" in e.until("up 1 180 190")
        post("mouse", {"modifiers": "ctrl+shift", "x": 150, "y": 150})
        lines = e.until("release Control_L 4")
        assert "down 1 150 150 5" in lines, lines
        for body in (
            {"x": 1024, "y": 1},
            {"x": -1, "y": 1},
            {"x": 1, "y": 768},
            {"action": "move"},
            {"action": "jump"},
            {"button": "top"},
            {"action": "drag", "path": [[1, 2]]},
            {"action": "scroll", "direction": "in"},
            {"x": "1", "y": 1},
            {"x": 1, "y": 1, "clicks": 0},
        ):
            post("mouse", body, 400)
        assert post("mouse", {"action": "position"})["cursor"] == {"x": 150, "y": 150}


def test_keys():
    with Events(desk.env, 100, 100, 400, 300) as e:
        post("keyboard", {"key": "ctrl+shift+t"})
        lines = e.until("release Control_L 4")
        assert lines == [
            "press Control_L 0",
            "press Shift_L 4",
            "press T 5",
            "release T 5",
            "release Shift_L 5",
            "release Control_L 4",
        ], lines
        for name, sym in (
            ("Return", "Return 0"),
            ("enter", "Return 0"),
            ("Page_Down", "Next 0"),
            ("F5", "F5 0"),
            ("super", "Super_L 64"),
            ("esc", "Escape 0"),
            ("XF86Back", "XF86Back 0"),
            ("Greek_alpha", "Greek_alpha 0"),
        ):
            post("keyboard", {"action": "press", "key": name})
            assert e.until("release " + sym)[0].startswith("press"), name
        post("keyboard", {"action": "hold", "keys": ["a"], "duration": 0.2})
        assert e.until("release a 0")[0] == "press a 0"
        post("keyboard", {"action": "down", "key": "shift"})
        e.until("press Shift_L 0")
        post("keyboard", {"text": "ab"})
        lines = e.until("press Shift_L 0")
        assert [x for x in lines if x.startswith("press")] == [
            "press a 0",
            "press b 0",
            "press Shift_L 0",
        ], lines
        post("keyboard", {"action": "up", "key": "shift"})
        e.until("release Shift_L 1")
        got = post("keyboard", {"key": "Retrun"}, 400)
        assert "return" in json.dumps(got), got
        for body in (
            {"key": "ctrl+"},
            {"key": ""},
            {"action": "type"},
            {"text": "\x01"},
            {"action": "hold", "key": "a", "duration": 1000},
            {"key": "a", "repeat": 101},
            {"text": "a", "method": "magic"},
        ):
            post("keyboard", body, 400)


def test_clipboard():
    big = "x\u00e9\u4e2d" * 200000
    for text in ("h\u00e9llo \U0001f600\n", big):
        post("clipboard", {"text": text}, 204, "PUT")
        assert desk.xclip("-o").decode() == text
        assert desk.get_json("/v1/screen/clipboard")["text"] == text
        # It returns before the server knows that the selection is its.
        desk.xclip(data=text[::-1].encode())
        wait_until(
            lambda: desk.get_json("/v1/screen/clipboard")["text"] == text[::-1]
        )
    out = io.BytesIO()
    Image.effect_noise((300, 300), 90).save(out, "PNG")
    png = out.getvalue()
    post("clipboard", {"data": base64.b64encode(png).decode()}, 204, "PUT")
    assert desk.xclip("-o", "-t", "image/png") == png
    got = desk.get_json("/v1/screen/clipboard?media_type=image/png")
    assert base64.b64decode(got["data"]) == png
    post("clipboard", {"text": "a"}, 204, "PUT")
    desk.get_json("/v1/screen/clipboard?media_type=image/png", 404)
    for body in ({}, {"data": "AAAA"}, {"data": "?"}, {"text": 1}):
        post("clipboard", body, 400, "PUT")


def act(**body):
    return post("action", body)


def picture(r):
    shot = r["screenshot"]
    return Image.open(io.BytesIO(base64.b64decode(shot["data"])))


def test_actions():
    with Events(desk.env, 100, 100, 400, 300) as e:
        r = act(action="left_click", coordinate=[200, 210], text="ctrl")
        assert "down 1 200 210 4" in e.until("release Control_L 4")
        assert picture(r).size == (1024, 768)
        r = act(action="mouse_move", coordinate=[100, 100],
                display_width=512, display_height=384)
        e.until("move 201 201")
        assert r["cursor"] == {"x": 100, "y": 100}, r["cursor"]
        assert picture(r).size == (512, 384)
        r = act(action="cursor_position", display_width=512, display_height=384,
                screenshot=False)
        assert r["output"] == "X=100,Y=100" and r["screenshot"] is None
        act(action="left_click_drag", start_coordinate=[110, 110], coordinate=[150, 160])
        assert "down 1 110 110 0" in e.until("up 1 150 160")
        act(action="scroll", coordinate=[120, 120], scroll_direction="down", scroll_amount=1)
        e.until("up 5 120 120")
        act(action="left_mouse_down")
        act(action="left_mouse_up")
        e.until("up 1 120 120")
        act(action="triple_click", coordinate=[130, 130], screenshot=False)
        for _ in range(3):
            e.until("up 1 130 130")
        act(action="right_click", screenshot=False)
        act(action="middle_click", screenshot=False)
        e.until("up 2 130 130")
        act(action="key", text="ctrl+a Delete", repeat=2, delay=0)
        assert e.until("release Delete 0").count("press a 4") == 2
        e.until("release Delete 0")
        act(action="hold_key", text="b", duration=0.1)
        e.until("release b 0")
        act(action="type", text="Hi")
        assert "press H 1" in e.until("release i 0")
        act(action="wait", duration=0.1)
        act(action="screenshot", format="jpeg")
        act(action="scroll", coordinate=[125, 126], scroll_direction="right",
            scroll_amount=2, text="shift", screenshot=False)
        lines = e.until("release Shift_L 1")
        assert lines.count("down 7 125 126 1") == 2, lines
        for button, number in (("wheel", 2), ("back", 8), ("forward", 9)):
            act(type="click", x=140, y=141, button=button, screenshot=False)
            lines = e.until(f"up {number} 140 141")
            assert lines[-2] == f"down {number} 140 141 0", lines
        act(type="scroll", x=140, y=142, scroll_x=200, scroll_y=0,
            screenshot=False)
        lines = e.until("up 7 140 142") + e.until("up 7 140 142")
        assert len([x for x in lines if x.startswith("down")]) == 2, lines
        act(type="scroll", x=140, y=142, scroll_x=-100, scroll_y=100,
            screenshot=False)
        assert "up 5 140 142" in e.until("up 6 140 142")
        act(action={"type": "keypress", "keys": ["CTRL", "C"]})
        assert "press c 4" in e.until("release Control_L 4")
        act(actions=[
            {"type": "move", "x": 150, "y": 151},
            {"type": "scroll", "x": 150, "y": 151, "scroll_x": 0, "scroll_y": -100},
            {"type": "double_click", "x": 160, "y": 161, "button": "left"},
            {"type": "drag", "path": [{"x": 170, "y": 171}, {"x": 180, "y": 181}]},
            {"type": "type", "text": "k"},
            {"type": "wait", "ms": 10},
            {"type": "screenshot"},
        ])
        lines = e.until("release k 0")
        assert lines.count("up 1 160 161") == 2 and "up 4 150 151" in lines, lines
    for body in (
        {"action": "left_click", "coordinate": [1024, 1]},
        {"action": "left_click", "coordinate": [1]},
        {"action": "fly"},
        {"type": "click"},
        {"actions": [{"type": "click", "x": 1, "y": 2}, {"type": "jump"}]},
        {"action": "zoom", "region": [5, 5, 5, 9]},
        {"action": "zoom", "region": [0, 0, 2000, 9]},
        {"action": "wait", "duration": 301},
        {"action": "key", "text": "nokey"},
        {"action": "screenshot", "display_width": 5},
        {},
    ):
        post("action", body, 400)


def test_believed():
    """What is seen at a place of the picture is there, in whatever shape."""
    with desk.draw("blue", 700, 650, 60, 60):
        for width, height in ((512, 512), (640, 700), (1500, 900), (1024, 768)):
            size = {"display_width": width, "display_height": height}
            seen = picture(act(action="screenshot", show_cursor=False, **size))
            assert seen.size == (width, height), seen.size
            blue = [
                (x, y)
                for y in range(height)
                for x in range(width)
                if seen.getpixel((x, y)) == (0x20, 0x40, 0xC0)
            ]
            for x, y in (blue[0], blue[-1], blue[len(blue) // 2]):
                act(action="mouse_move", coordinate=[x, y], screenshot=False, **size)
                at = desk.get_json("/v1/screen/info")["cursor"]
                assert 700 <= at["x"] < 760 and 650 <= at["y"] < 710, (size, x, y, at)
    for width, height in ((16383, 16383), (16384, 1)):
        post("action", {"action": "left_click", "display_width": width,
                        "display_height": height}, 400)


def test_zoom():
    """It is seen by its pixels, and by what comes after it no more."""
    zoom = {"action": "zoom", "region": [100, 60, 300, 160]}
    click = {"action": "left_click", "coordinate": [20, 20]}
    with desk.draw("noise", 0, 0, desk.width, desk.height):

        def pixels(**body):
            return picture(act(show_cursor=False, **body)).convert("RGB")

        whole = pixels(action="screenshot")
        part = whole.crop((100, 60, 300, 160))
        assert len(set(part.getdata())) > 1000, "not the noise"
        for body in (zoom, {"actions": [click, zoom]}):
            got = pixels(**body)
            assert got.size == (200, 100), (body, got.size)
            assert got.tobytes() == part.tobytes(), body
        # Where the model believes in fewer pixels, there are as many in it.
        got = pixels(action="zoom", region=[50, 30, 150, 80],
                     display_width=512, display_height=384)
        assert got.tobytes() == part.tobytes(), got.size
        for last in (click, {"type": "screenshot"}):
            got = pixels(actions=[zoom, last])
            assert got.tobytes() == whole.tobytes(), (last, got.size)


def test_lenient():
    """Real calls carry more fields than are needed, and nulls."""
    with Events(desk.env, 100, 100, 400, 300) as e:
        act(action="left_click", coordinate=[200, 210], text=None, key=None,
            region=None, scroll_amount=None, repeat=None, display_width=None,
            display_height=None, format=None, quality=None, delay=None,
            screenshot=False, reasoning="it is blue", cache_control={"a": [1]})
        e.until("up 1 200 210")
        act(type="computer_call", id="cu_1", call_id="call_1", status="completed",
            pending_safety_checks=[], output_index=0,
            action={"type": "click", "x": 201, "y": 211, "button": "left",
                    "keys": None, "new": True})
        e.until("up 1 201 211")
        act(type="tool_use", id="toolu_1", name="computer", caller={"type": "direct"},
            input={"action": "key", "text": "x", "repeat": None, "why": "so"})
        e.until("release x 0")
    for body, word in (
        ({"action": "fly", "extra": 1}, "fly"),
        ({"type": "computer_call", "action": {"type": "swim"}}, "swim"),
        ({"action": "left_click", "coordinate": "1,2"}, "coordinate"),
        ({"action": "left_click", "text": 5}, "text"),
        ({"action": "key", "text": "a", "repeat": "2"}, "repeat"),
        ({"action": "mouse_move", "coordinate": None}, "coordinate"),
        ({"type": "click", "x": 1, "y": 2, "keys": "CTRL"}, "keys"),
        ({"action": None, "type": None}, "action"),
        ({"action": "screenshot", "format": 5}, "format"),
    ):
        assert word in post("action", body, 400)["detail"], body


def test_leave():
    """Who leaves takes his keys with him, and others are not kept waiting."""
    with Events(desk.env, 100, 100, 400, 300) as e:
        hold = {"action": "hold", "key": "z", "duration": 100}
        c = desk.begin("POST", "/v1/screen/keyboard", hold)
        e.until("press z 0")
        done = threading.Event()
        t = threading.Thread(target=lambda: (post("keyboard", {"key": "y"}), done.set()))
        t.start()
        desk.get_json("/v1/screen/info")
        assert not done.is_set()
        c.close()
        e.until("release z 0")
        e.until("release y 0")
        t.join()


names = [n for n in sorted(globals()) if n.startswith("test_")]
for name in os.environ.get("ONLY", "").split() or names:
    globals()[name]()
    print("ok", name, flush=True)
