"""What a statement of a policy is called in a sentence."""

from __future__ import annotations

import pytest

from trainyard.recorded.policy_documents import called


@pytest.mark.parametrize(("statement", "words"), [({"Sid": "Read"}, "statement Read"), ({"Sid": ""}, "a statement"),
                                                  ({"Effect": "Allow"}, "a statement")])  # fmt: skip
def test_a_statement_without_an_id_has_no_gap_in_its_sentence(statement, words):
    assert called(statement) == words
