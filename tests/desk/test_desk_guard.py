"""Who gets a page of the desk: attacks by other pages, other browsers and other programs on the machine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.desk.conftest import AUTHORITY, ORIGIN, Seat

from leeward.desk._app import pages
from leeward.desk._guard import HEADERS, MOST, Guard

PRIVATE = "secret-0"
"""What only rows of the table hold."""
LOOK = "/look?file=visits.csv"
BEGIN = {"file": "visits.csv"}


def test_the_browser_that_was_let_in_sees_rows_and_may_send_forms(seat: Seat) -> None:
    answer = seat.get(LOOK)
    assert answer.status_code == 200
    assert PRIVATE in answer.text
    assert seat.post("/drafts", BEGIN).status_code == 303


def test_the_token_works_once(outside: Seat) -> None:
    address = f"/enter?token={outside.entrance.token}"
    entered = outside.get(address)
    assert entered.status_code == 303
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert outside.entrance.token not in entered.headers["location"] + cookie
    assert outside.another().get(address).status_code == 403
    assert outside.get(LOOK).status_code == 200, "who was let in stays"


@pytest.mark.parametrize("token", ["", "a", "é", "%00"])
def test_another_token_lets_nobody_in_and_does_not_close_the_door(outside: Seat, token: str) -> None:
    assert outside.get(f"/enter?token={token}").status_code == 403
    assert outside.enter().get(LOOK).status_code == 200


@pytest.mark.parametrize("path", ["/", LOOK, "/assets/desk.css", "/nothing", "/history"])
def test_a_second_browser_gets_nothing(seat: Seat, path: str) -> None:
    answer = seat.another().get(path)
    assert answer.status_code == 403
    assert PRIVATE not in answer.text
    assert "visits.csv" not in answer.text


def test_a_cookie_of_another_port_lets_nobody_in(outside: Seat) -> None:
    """The ports of a host share their cookies: one that another page set is not ours, and beside ours none counts."""
    mine = f"leeward-desk-8400={outside.entrance.cookie}"
    assert outside.get("/", cookie=mine).status_code == 200
    for cookie in (
        "leeward-desk-8400=chosen",
        f"leeward-desk-9999={outside.entrance.cookie}",
        f"{mine}; leeward-desk-8400=x",
    ):
        assert outside.get("/", cookie=cookie).status_code == 403, cookie


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8400",
        "evil.example",
        "localhost:8400",
        "127.0.0.1",
        "127.0.0.1:80",
        f"{AUTHORITY}.evil.example",
    ],
)
def test_a_name_that_was_pointed_at_this_machine_gets_nothing(seat: Seat, host: str) -> None:
    """DNS rebinding: the browser takes the page for one of the attacker's, and says so."""
    cookie = f"leeward-desk-8400={seat.entrance.cookie}"
    answer = seat.get(LOOK, host=host, cookie=cookie)
    assert answer.status_code == 400
    assert PRIVATE not in answer.text
    assert seat.post("/drafts", BEGIN, host=host, cookie=cookie).status_code == 400


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://localhost:8400",
        "http://127.0.0.1:9999",
        "https://127.0.0.1:8400",
        "null",
        f"{ORIGIN}.evil",
        "",
    ],
)
def test_a_form_of_another_page_does_nothing(seat: Seat, origin: str) -> None:
    """Also of a page on another port, with which the browser sends the cookie, and of one that knows the form's secret."""
    assert seat.post("/drafts", BEGIN, origin=origin).status_code == 403
    assert seat.desk.drafts.names() == []


@pytest.mark.parametrize("secret", ["", "wrong", "é"])
def test_a_form_without_the_secret_of_ours_does_nothing(seat: Seat, secret: str) -> None:
    assert seat.post("/drafts", {**BEGIN, "secret": secret}).status_code == 403
    assert seat.desk.drafts.names() == []


def test_every_form_is_behind_the_guard(seat: Seat) -> None:
    paths = [path for path, does in pages(seat.desk, "secret").openapi()["paths"].items() if "post" in does]
    assert "/drafts" in paths
    for path in paths:
        for headers in ({"origin": "https://evil.example"}, {"origin": ORIGIN}):
            answer = seat.browser.post(path.format(name="a", number=1), data={"secret": "wrong"}, headers=headers)
            assert answer.status_code == 403, path


@pytest.mark.parametrize("mode", ["no-cors", "cors", "same-origin", "navigate"])
def test_a_part_of_another_page_gets_nothing(seat: Seat, mode: str) -> None:
    """An image, a script or a frame of a page on another port: the cookie is sent with what it asks for."""
    fetched = {"sec-fetch-site": "same-site", "sec-fetch-mode": mode, "sec-fetch-dest": "iframe"}
    assert seat.get(LOOK, **fetched).status_code == 403
    assert seat.get(LOOK, **{**fetched, "sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_do_nothing(seat: Seat, method: str) -> None:
    answer = seat.browser.request(method, "/", headers={"origin": ORIGIN})
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_a_form_is_short_and_a_form(seat: Seat) -> None:
    assert seat.post("/drafts", {"file": "a" * MOST}).status_code == 413
    assert seat.post("/drafts", BEGIN, content_type="application/json").status_code == 415
    assert seat.post("/drafts", {str(i): "" for i in range(300)}).status_code == 400


@pytest.mark.parametrize("path", ["/", LOOK, "/assets/desk.css", "/nothing", "/enter?token=a"])
def test_every_answer_is_kept_framed_and_scripted_by_nobody(seat: Seat, path: str) -> None:
    answer = seat.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = dict(part.strip().partition(" ")[::2] for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in HEADERS["Content-Security-Policy"]
    assert "server" not in answer.headers


def test_what_fails_unforeseen_shows_nothing_of_what_it_held(seat: Seat) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError(PRIVATE)

    def defect(_: str) -> None:
        raise ValueError(PRIVATE)

    for app, path in ((seat.app._app, "/look?file=visits.csv"), (broken, "/")):
        seat.app._app = app
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(seat.desk.files), "file", lambda _, name: defect(name))
            answer = seat.get(path)
        assert answer.status_code == 500
        assert "please report" in answer.text
        assert PRIVATE not in answer.text + "".join(seat.told)
        assert "ValueError" in seat.told[-1]


def test_nothing_is_told_to_a_collector_that_the_environment_names(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    quiet = pages(seat.desk, "secret")
    assert not quiet._native_telemetry.enabled()
    assert quiet._telemetry["auto_configure"] is False


def test_a_socket_is_not_opened(seat: Seat) -> None:
    assert isinstance(seat.app, Guard)
    asyncio.run(seat.app({"type": "websocket"}, None, None))  # type: ignore[arg-type]


def test_the_address_is_the_loopback_of_ipv4() -> None:
    from leeward._web._loopback import LOOPBACK

    assert AUTHORITY.startswith(LOOPBACK)


def test_only_what_plotly_draws_has_styles_of_its_own(seat: Seat) -> None:
    from tests.desk.walk import walked

    name = walked(seat)
    for step in ("visits", "places", "window", "promise", "check", "release"):
        assert "unsafe" not in seat.get(f"/drafts/{name}/{step}").headers["content-security-policy"]
    drawn = seat.get(f"/drafts/{name}/strength").headers["content-security-policy"]
    assert drawn == HEADERS["Content-Security-Policy"].replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")


def test_of_two_hosts_none_is_the_desk(seat: Seat) -> None:
    answer = seat.browser.get("/", headers=[("host", AUTHORITY), ("host", "evil.example")])
    assert (answer.status_code, "visits.csv" in answer.text) == (400, False)
