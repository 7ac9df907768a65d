"""What Pulumi makes where it runs: providers, values in the state, commands. And what holds of any other type."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, Card, Free

_PROGRAM: Final = Free("part of the program")
_VALUE: Final = Free("a value in the stack's state")

CARDS: Final = (
    Card("*", API_CALL, None, taggable=False, stateful=False),
    Card("pulumi:*", API_CALL, _PROGRAM, taggable=False, stateful=False),
    Card("pulumi:providers:*", API_CALL, _PROGRAM, taggable=False, stateful=False, id="{uuid}"),
    Card("pulumi-python:*", API_CALL, _PROGRAM, taggable=False, stateful=False),
    Card("command:*", API_CALL, Free("runs where Pulumi runs"), taggable=False, stateful=False),
    Card("random:*", API_CALL, _VALUE, taggable=False, stateful=False, id="{hex:.8}"),
    Card(
        "random:index/randomPassword:RandomPassword",
        API_CALL,
        _VALUE,
        taggable=False,
        stateful=False,
        id="none",
        outputs={"result": "rehearsed-{digest:result.22}", "bcryptHash": "$2a$10${digest:bcrypt.53}"},
        secret_outputs=("result", "bcryptHash"),
    ),
    Card(
        "random:index/randomBytes:RandomBytes",
        API_CALL,
        _VALUE,
        taggable=False,
        stateful=False,
        id="{hex:.8}",
        outputs={"hex": "{digest:bytes.64}"},
        secret_outputs=("hex",),
    ),
    Card(
        "tls:index/privateKey:PrivateKey",
        API_CALL,
        None,
        taggable=False,
        stateful=False,
        outputs={"privateKeyPem": "-----BEGIN REHEARSAL KEY-----\n{hex}\n-----END REHEARSAL KEY-----\n"},
        secret_outputs=("privateKeyPem",),
    ),
)
