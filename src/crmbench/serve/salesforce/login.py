"""Logging in and out, by SOAP and by OAuth, and who one is."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.requests import Request
from starlette.responses import Response

from crmbench.salesforce.sobjects import ORGANIZATION_ID, SobjectError
from crmbench.seats.errors import NotAuthorized, Refused
from crmbench.serve.salesforce import xml
from crmbench.serve.salesforce.calls import Answer
from crmbench.serve.salesforce.http import address_of, response
from crmbench.serve.sessions import token_of

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
PARTNER = "urn:partner.soap.sforce.com"
MAX_LOGIN = 2**20
"""Bytes of a login."""


async def soap(request: Request) -> Response:
    """A SOAP call: ``login`` or ``logout``; there are no others here."""
    try:
        return await _called(request, await request.body())
    except SobjectError as error:
        return _fault(error.code, error.message)
    except Refused as error:
        return _fault("INVALID_LOGIN", error.message)


async def _called(request: Request, data: bytes) -> Response:
    if len(data) > MAX_LOGIN:
        raise SobjectError("INVALID_XML", "the body is too large")
    document = xml.parse(data)
    if xml.first(document, "logout") is not None:
        return _envelope(f'<logoutResponse xmlns="{PARTNER}"/>')
    login = xml.first(document, "login")
    if login is None:
        raise SobjectError("INVALID_OPERATION", "only login and logout are taken")
    return await _login(request, xml.text_at(login, "username"), xml.text_at(login, "password"))


async def _login(request: Request, username: str, password: str) -> Response:
    done = await request.app.state.sessions.login(username, password)
    user = _user(request, done.access_token)
    version = request.path_params.get("version", "59.0")
    address = address_of(request)
    server = f"{address}/services/Soap/u/{version}/{ORGANIZATION_ID[:15]}"
    result = {
        "metadataServerUrl": server.replace("/u/", "/m/"),
        "passwordExpired": "false",
        "sandbox": "true",
        "serverUrl": server,
        "sessionId": done.access_token,
        "userId": user["user_id"],
    }
    info = {
        "organizationId": ORGANIZATION_ID,
        "organizationName": "crmbench",
        "sessionSecondsValid": "7200",
        "userEmail": user["email"],
        "userFullName": user["name"],
        "userId": user["user_id"],
        "userName": user["preferred_username"],
    }
    return _envelope(
        f'<loginResponse xmlns="{PARTNER}"><result>{xml.elements(result)}'
        f"<userInfo>{xml.elements(info)}</userInfo></result></loginResponse>"
    )


def _envelope(body: str, status: int = 200) -> Response:
    text = (
        f'{xml.HEAD}<soapenv:Envelope xmlns:soapenv="{ENVELOPE}">'
        f"<soapenv:Body>{body}</soapenv:Body></soapenv:Envelope>"
    )
    return Response(text, status, headers={"Content-Type": "text/xml;charset=UTF-8"})


def _fault(code: str, message: str) -> Response:
    # Salesforce answers a refused login with 500, and its clients read the fault only then.
    told = xml.written(f"{code}: {message}")
    detail = (
        f'<sf:LoginFault xsi:type="sf:LoginFault"><sf:exceptionCode>{code}</sf:exceptionCode>'
        f"<sf:exceptionMessage>{xml.written(message)}</sf:exceptionMessage></sf:LoginFault>"
    )
    spaces = (
        'xmlns:sf="urn:fault.partner.soap.sforce.com" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    )
    return _envelope(
        f"<soapenv:Fault {spaces}><faultcode>sf:{code}</faultcode>"
        f"<faultstring>{told}</faultstring><detail>{detail}</detail></soapenv:Fault>",
        500,
    )


# --- OAuth ----------------------------------------------------------------------------------------


async def token(request: Request) -> Response:
    """``/services/oauth2/token``: password, client credentials, JWT and refresh."""
    form = await _form(request)
    try:
        username, password = _credentials(request, form)
        done = await request.app.state.sessions.login(username, password)
    except Refused as error:
        return _oauth_error("invalid_grant", f"authentication failure: {error.message}")
    except SobjectError as error:
        return _oauth_error(error.code, error.message)
    user = _user(request, done.access_token)["user_id"]
    address = address_of(request)
    body = {
        "access_token": done.access_token,
        "instance_url": address,
        "id": f"{address}/id/{ORGANIZATION_ID}/{user}",
        "token_type": "Bearer",
        "issued_at": "1767225600000",
        "signature": base64.b64encode(done.access_token[-24:].encode()).decode(),
        "scope": "api refresh_token",
    }
    if form.get("grant_type") in ("password", "refresh_token"):
        body["refresh_token"] = done.access_token
    return response(Answer(body))


def _credentials(request: Request, form: dict[str, str]) -> tuple[str, str]:
    """Name and password, as `Sessions.login` takes them.

    Raises:
        SobjectError: The grant is none that is taken.
    """
    grant = form.get("grant_type", "")
    if grant == "password":
        return form.get("username", ""), form.get("password", "")
    if grant == "client_credentials":
        name, secret = _basic(request)
        return name or form.get("client_id", ""), secret or form.get("client_secret", "")
    if grant == "refresh_token":
        return form.get("refresh_token", ""), form.get("refresh_token", "")
    if grant == "urn:ietf:params:oauth:grant-type:jwt-bearer":
        # Whose key signed it is not known here: on a server with a token it opens nothing.
        return _subject(form.get("assertion", "")), ""
    raise SobjectError("unsupported_grant_type", "grant type not supported")


def _basic(request: Request) -> tuple[str, str]:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        name, _, secret = base64.b64decode(value, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return name, secret


def _subject(assertion: str) -> str:
    parts = assertion.split(".")
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = orjson.loads(base64.urlsafe_b64decode(padded))
        return str(claims["sub"])
    except (IndexError, KeyError, TypeError, ValueError):
        raise SobjectError("invalid_grant", "invalid assertion") from None


async def _form(request: Request) -> dict[str, str]:
    """A form, of the body or of the address."""
    data = await request.body()
    given = dict(parse_qsl(request.url.query, keep_blank_values=True))
    if len(data) <= MAX_LOGIN:
        given |= dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))
    return given


def _oauth_error(code: str, message: str) -> Response:
    return response(Answer({"error": code, "error_description": message}, 400))


async def revoke(request: Request) -> Response:
    """``/services/oauth2/revoke``: taken; the org's token is everybody's and stays good."""
    await _form(request)
    return response(Answer({}))


# --- who one is -----------------------------------------------------------------------------------


def _user(request: Request, access_token: str) -> dict[str, str]:
    """The user in whose name a token works.

    Raises:
        Refused: It opens nothing.
    """
    sessions = request.app.state.sessions
    from crmbench.serve.session import Access

    org = Access(sessions.session_for(access_token), access_token, "userinfo").org
    found: dict[str, Any] = {}
    if org.user_id:
        query = f"SELECT Name, Email, Username FROM User WHERE Id = '{org.user_id}'"
        found = (org.rows(query) or [{}])[0]
    return {
        "user_id": org.user_id,
        "organization_id": ORGANIZATION_ID,
        "preferred_username": str(found.get("Username") or "admin@crmbench.example"),
        "name": str(found.get("Name") or "Administrator"),
        "email": str(found.get("Email") or "admin@crmbench.example"),
    }


async def userinfo(request: Request) -> Answer:
    """``/services/oauth2/userinfo``.

    Raises:
        NotAuthorized: The token opens nothing.
    """
    user = _user(request, _token(request))
    address = address_of(request)
    return Answer({**user, "sub": f"{address}/id/{ORGANIZATION_ID}/{user['user_id']}"})


async def identity(request: Request) -> Answer:
    """``/id/<organization>/<user>``.

    Raises:
        NotAuthorized: The token opens nothing.
    """
    user = _user(request, _token(request))
    address = address_of(request)
    data = f"{address}/services/data/v{{version}}"
    return Answer(
        {
            "id": f"{address}/id/{ORGANIZATION_ID}/{user['user_id']}",
            "asserted_user": True,
            "user_id": user["user_id"],
            "organization_id": ORGANIZATION_ID,
            "username": user["preferred_username"],
            "display_name": user["name"],
            "nick_name": user["name"],
            "email": user["email"],
            "active": True,
            "user_type": "STANDARD",
            "language": "en_US",
            "locale": "en_US",
            "utcOffset": 0,
            "urls": {
                "rest": f"{data}/",
                "sobjects": f"{data}/sobjects/",
                "search": f"{data}/search/",
                "query": f"{data}/query/",
                "recent": f"{data}/recent/",
            },
        }
    )


def _token(request: Request) -> str:
    shown = token_of(request) or request.query_params.get("oauth_token", "")
    if not shown and not request.app.state.sessions.is_open:
        raise NotAuthorized
    return shown
