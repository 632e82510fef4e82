"""The protocol as an AsyncAPI 3 document, generated from the message types.

`python -m cellrace.schema asyncapi` prints it; `python -m cellrace.schema docs [PAGE]` prints the protocol page,
with the extra sections that a PAGE already holds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct

from cellrace.codec import JSON_SUBPROTOCOL, MSGPACK_SUBPROTOCOL
from cellrace.messages import (
    EXCHANGES,
    PROTOCOL_VERSION,
    ClientMessage,
    FactPush,
    Ghost,
    NewsPush,
    ServerMessage,
    Settings,
    SettingsRequest,
)
from cellrace.messages.answers import Error
from cellrace.messages.base import wire_name
from cellrace.protocol_page import protocol_page, read_sections

Schema = dict[str, Any]
"""A JSON Schema; its shape is JSON's own, so that nothing narrower can be said."""

_ASKED: tuple[type[Struct], ...] = (*get_args(ClientMessage), SettingsRequest, Ghost)


def asyncapi() -> bytes:
    """The AsyncAPI 3 document of the protocol, as JSON."""
    requests: tuple[type[Struct], ...] = get_args(ClientMessage)
    server: tuple[type[Struct], ...] = get_args(ServerMessage)
    everything = (*requests, *server)
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "cellrace",
            "version": f"{PROTOCOL_VERSION}.0.0",
            "description": "Race people and bots on identical FreeCell deals. Every message is one WebSocket frame: "
            f"a MessagePack map in `{MSGPACK_SUBPROTOCOL}`, a JSON object in `{JSON_SUBPROTOCOL}`.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "channels": {
            "ws": {
                "address": "/ws",
                "title": "The connection of a player",
                "messages": {m.__name__: {"$ref": f"#/components/messages/{m.__name__}"} for m in everything},
                "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
            }
        },
        "operations": {
            **{request.__name__: _request_operation(request) for request in EXCHANGES},
            "facts": _push_operation(get_args(FactPush), "Facts of a race, numbered without gaps."),
            "news": _push_operation(get_args(NewsPush), "News, each of which replaces what it says."),
        },
        "components": {
            "messages": {m.__name__: _message(m) for m in everything},
            "schemas": _schemas(everything),
        },
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2)


def _message(message: type[Struct]) -> Schema:
    return {
        "name": wire_name(message),
        "title": wire_name(message),
        "summary": message.__doc__,
        "payload": {"$ref": f"#/components/schemas/{message.__name__}"},
    }


def _in_channel(messages: Iterable[type[Struct]]) -> list[Schema]:
    return [{"$ref": f"#/channels/ws/messages/{message.__name__}"} for message in messages]


def _request_operation(request: type[ClientMessage]) -> Schema:
    return {
        "action": "receive",
        "channel": {"$ref": "#/channels/ws"},
        "summary": request.__doc__,
        "messages": _in_channel([request]),
        "reply": {
            "channel": {"$ref": "#/channels/ws"},
            "messages": _in_channel([*EXCHANGES[request].answers, Error]),
        },
    }


def _push_operation(pushes: Sequence[type[Struct]], summary: str) -> Schema:
    return {
        "action": "send",
        "channel": {"$ref": "#/channels/ws"},
        "summary": summary,
        "messages": _in_channel(pushes),
    }


def _schemas(messages: Iterable[type[Struct]]) -> dict[str, Schema]:
    """The JSON Schema of each type, as the wire has it: null stands for what is absent in requests, and never else."""
    _, schemas = msgspec.json.schema_components(messages, ref_template="#/components/schemas/{name}")
    asked = {request.__name__ for request in _ASKED}
    for name, schema in schemas.items():
        required = schema.get("required", ())
        for field, shape in schema.get("properties", {}).items():
            if name in asked:
                if field not in required:
                    schema["properties"][field] = _or_null(shape)
            elif "default" in shape:
                schema["properties"][field] = _never_null(shape)
    defaults = Settings()
    schemas["Settings"]["required"] = [field for field in Settings.__struct_fields__ if field != "deal"]
    for field, shape in schemas["SettingsRequest"]["properties"].items():
        shape["default"] = getattr(defaults, field)
    return schemas


def _or_null(shape: Schema) -> Schema:
    if shape.get("default", ...) is None:
        return shape
    default = {"default": shape["default"]} if "default" in shape else {}
    return {"anyOf": [{key: value for key, value in shape.items() if key != "default"}, {"type": "null"}], **default}


def _never_null(shape: Schema) -> Schema:
    outer = {key: value for key, value in shape.items() if key not in ("default", "anyOf")}
    options = [option for option in shape.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        return {**options[0], **outer}
    return outer | ({"anyOf": options} if options else {})


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m cellrace.schema", description=__doc__)
    parser.add_argument("what", choices=("docs", "asyncapi"))
    parser.add_argument("page", nargs="?", type=Path, help="a protocol page whose extra sections are kept")
    options = parser.parse_args(arguments)
    if options.what == "asyncapi":
        text = asyncapi().decode() + "\n"
    else:
        text = protocol_page(read_sections(options.page.read_text("utf-8")) if options.page else {})
    sys.stdout.buffer.write(text.encode())


if __name__ == "__main__":
    main()
