"""What is right beside the rules about other people's programs on Google Cloud, and what each still tells."""

from __future__ import annotations

from tests.rehearsal.works import mistakes_gcp_seventh as seventh
from tests.rehearsal.works.mistakes import Change, both, edit, put
from tests.rehearsal.works.mistakes_gcp_fifth import made
from tests.rehearsal.works.test_foreign_programs import foreign_program
from tests.rehearsal.works.test_gcp_services import found
from trainyard.recorded.model import Finding


def told(rule: str, *changes: Change) -> list[Finding]:
    """What a rule says of the program with changes."""
    rehearsal = foreign_program(seventh.FOREIGN)
    changed = both(*changes)(list(rehearsal.known.resources))
    return [each for each in found(changed, rehearsal) if each.rule == rule]


KEY = "projects/rehearsal/locations/europe-west4/keyRings/acme/cryptoKeys/data"


def may_use(domain: str) -> Change:
    """A service's own account may encrypt with the key."""
    return made(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        domain,
        cryptoKeyId=KEY,
        role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
        member=f"serviceAccount:service-314159265358@{domain}.iam.gserviceaccount.com",
    )


def test_backups_of_a_cluster_are_encrypted_by_gkes_own_account() -> None:
    encrypted = edit(seventh.BACKUP, "daily", put("backupConfig.encryptionKey", {"gcpKmsEncryptionKey": KEY}))
    assert not told("rights-key", encrypted, may_use("container-engine-robot"))
    assert told("rights-key", encrypted)
    assert told("rights-key", encrypted, may_use("gcp-sa-gkebackup"))
