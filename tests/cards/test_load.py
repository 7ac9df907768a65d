"""A card that says too much, too little or the wrong kind of thing is refused, by file, type and key."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
import yaml

from trainyard.cards.card import Card, Free, Seconds, ServiceModel
from trainyard.cards.load import API_CALL, Cards, entries

REST = "taggable: true, stateful: false"


def written(folder: Path, text: str) -> Path:
    file = folder / "rockets.yaml"
    file.write_text(text)
    return file


def read(file: Path) -> list[Card]:
    return list(Cards(entries(file)).values())


def test_a_card_is_read_with_its_parts(tmp_path: Path) -> None:
    entry = f"""
      acme:index:Rocket:
        seconds: {{value: 90, source: the maker, date: 2026-11-22}}
        price: rockets.launch
        {REST.replace(", ", chr(10) + "        ")}
        model: {{calls: [acme.Launch], names: {{fuel: Fuel.Kind}}, undescribed: [wait]}}
        outputs: {{pads: [{{height: 3}}]}}
      acme:index:Pad: {{seconds: api_call, price: {{free: it stands there}}, {REST}}}
      acme:index:Crew: {{seconds: api_call, price: null, {REST}}}
    """
    rocket, pad, crew = read(written(tmp_path, entry))
    assert rocket == Card(
        type="acme:index:Rocket",
        seconds=Seconds(90.0, "the maker", datetime.date(2026, 11, 22)),
        price="rockets.launch",
        taggable=True,
        stateful=False,
        model=ServiceModel(("acme.Launch",), {"fuel": "Fuel.Kind"}, ("wait",)),
        outputs={"pads": [{"height": 3}]},
    )
    assert isinstance(rocket.seconds.value, float)
    assert (pad.price, pad.seconds, crew.price) == (Free("it stands there"), API_CALL, None)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (f"{{price: null, {REST}}}", "lacks seconds"),
        ("{seconds: api_call, price: null}", "lacks stateful, taggable"),
        (f"{{seconds: api_call, {REST}}}", "lacks price"),
        (f"{{seconds: {{value: 3, source: me}}, price: null, {REST}}}", "seconds: lacks date"),
        (f"{{seconds: {{value: 3, date: 2026-11-22}}, price: null, {REST}}}", "seconds: lacks source"),
        (f"{{seconds: 3, price: null, {REST}}}", "seconds: got 3; must be a mapping"),
        (f"{{seconds: {{value: 3, source: me, date: soon}}, price: null, {REST}}}", "date: got 'soon'; must be a date"),
        (f"{{seconds: api_call, price: {{free: 0}}, {REST}}}", "price: free: got 0; must be a text"),
        (f"{{seconds: api_call, price: {{}}, {REST}}}", "price: lacks free"),
        (f"{{seconds: api_call, price: 3, {REST}}}", "price: got 3; must be a text"),
        ("{seconds: api_call, price: null, taggable: 1, stateful: false}", "taggable: got 1; must be true or false"),
        (f"{{seconds: api_call, price: null, {REST}, statefull: true}}", "no key 'statefull'; did you mean stateful?"),
        (f"{{seconds: api_call, price: null, {REST}, x: 1}}", "no key 'x'; it may have seconds, price, "),
        (f"{{seconds: api_call, price: null, {REST}, type: x}}", "no key 'type'"),
        (
            f"{{seconds: api_call, price: null, {REST}, model: {{calls: a.B}}}}",
            "model: calls: got 'a.B'; must be a list",
        ),
        (f"{{seconds: api_call, price: null, {REST}, model: {{calls: [1]}}}}", "model: calls: got 1; must be a text"),
        (f"{{seconds: api_call, price: null, {REST}, model: a.B}}", "model: got 'a.B'; must be a mapping"),
        (f"{{seconds: api_call, price: null, {REST}, outputs: [a]}}", "outputs: got ['a']; must be a mapping"),
        ("null", "got None; must be a mapping"),
    ],
)
def test_a_wrong_card_is_refused(tmp_path: Path, entry: str, told: str) -> None:
    with pytest.raises(ValueError, match=rf"^rockets\.yaml: acme:index:Rocket: .*{re.escape(told)}"):
        read(written(tmp_path, f"acme:index:Rocket: {entry}\n"))


def test_a_type_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    entry = f"acme:index:Pad: {{seconds: api_call, price: null, {REST}}}\n"
    with pytest.raises(yaml.MarkedYAMLError, match='the key "acme:index:Pad" is there twice'):
        read(written(tmp_path, entry * 2))
