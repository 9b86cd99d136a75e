"""What every key service must do: the fake and KMS's adapter under one suite; then KMS's own faults."""

import pytest

from shared.adapters.faults import Unexpected
from shared.adapters.kms import KmsKeys
from shared.domain.errors import SealBroken, Unavailable
from shared.ports import KeyService
from tests.contract.aws import Aws, lose_answer, refuse
from tests.fakes import MemoryKeys, SeededRandom

OWNER, OTHER = "a" * 52, "b" * 52


def test_a_fresh_key_is_64_bytes_and_opens_again(keys: KeyService) -> None:
    fresh, other = keys.create(OWNER, 1), keys.create(OWNER, 1)
    assert len(fresh.plain) == 64
    assert keys.unwrap(OWNER, 1, fresh.wrapped) == fresh.plain
    assert fresh.plain != other.plain
    assert fresh.plain not in fresh.wrapped


def test_bytes_that_exist_are_wrapped_for_rotation(keys: KeyService) -> None:
    wrapped = keys.wrap(OWNER, 2, b"r" * 64)
    assert keys.unwrap(OWNER, 2, wrapped) == b"r" * 64
    assert keys.wrap(OWNER, 2, b"r" * 64) != wrapped


@pytest.mark.parametrize(("owner", "epoch"), [(OTHER, 1), (OWNER, 2)])
def test_a_wrapped_key_opens_for_its_owner_and_life_only(keys: KeyService, owner: str, epoch: int) -> None:
    wrapped = keys.create(OWNER, 1).wrapped
    with pytest.raises(SealBroken):
        keys.unwrap(owner, epoch, wrapped)


def test_an_altered_wrapped_key_does_not_open(keys: KeyService) -> None:
    wrapped = keys.create(OWNER, 1).wrapped
    flipped = bytearray(wrapped)
    flipped[-1] ^= 1
    for altered in (bytes(flipped), wrapped[:-1], wrapped[:20], b"", b"nonsense", wrapped + b"\x00" * 40):
        with pytest.raises(SealBroken):
            keys.unwrap(OWNER, 1, altered)


def test_a_disabled_key_opens_nothing(aws: Aws) -> None:
    fake = MemoryKeys(SeededRandom(1))
    wrapped = fake.create(OWNER, 1).wrapped
    fake.disabled = True
    with pytest.raises(SealBroken):
        fake.unwrap(OWNER, 1, wrapped)
    wrapped = aws.keys.create(OWNER, 1).wrapped
    aws.kms.disable_key(KeyId=aws.key_id)
    with pytest.raises(SealBroken):
        aws.keys.unwrap(OWNER, 1, wrapped)


def test_the_context_names_service_owner_and_epoch(aws: Aws) -> None:
    wrapped = aws.keys.create(OWNER, 7).wrapped
    context = {"service": "nacre", "owner": OWNER, "epoch": "7"}
    assert len(aws.kms.decrypt(CiphertextBlob=wrapped, EncryptionContext=context)["Plaintext"]) == 64


def test_a_key_wrapped_by_another_kms_key_does_not_open(aws: Aws) -> None:
    foreign = KmsKeys(aws.kms, aws.kms.create_key()["KeyMetadata"]["KeyId"]).create(OWNER, 1)
    with pytest.raises(SealBroken):
        aws.keys.unwrap(OWNER, 1, foreign.wrapped)


@pytest.mark.parametrize(
    "code",
    ["AccessDeniedException", "InvalidCiphertextException", "KMSInvalidStateException", "NotFoundException"],
)
def test_every_refusal_to_open_is_one_error(aws: Aws, code: str) -> None:
    refuse(aws.kms, "Decrypt", code)
    with pytest.raises(SealBroken) as caught:
        aws.keys.unwrap(OWNER, 1, b"x" * 100)
    assert caught.value.__suppress_context__
    assert not str(caught.value)


@pytest.mark.parametrize(("code", "status"), [("ThrottlingException", 400), ("KMSInternalException", 500)])
def test_what_may_pass_is_unavailable(aws: Aws, code: str, status: int) -> None:
    for call in ("GenerateDataKey", "Decrypt", "Encrypt"):
        refuse(aws.kms, call, code, status=status)
    with pytest.raises(Unavailable):
        aws.keys.create(OWNER, 1)
    with pytest.raises(Unavailable):
        aws.keys.unwrap(OWNER, 1, b"x" * 100)
    with pytest.raises(Unavailable):
        aws.keys.wrap(OWNER, 1, b"x" * 64)
    lose_answer(aws.kms, "GenerateDataKey")
    with pytest.raises(Unavailable):
        aws.keys.create(OWNER, 1)


def test_other_errors_name_the_call_and_the_code_only(aws: Aws) -> None:
    refuse(aws.kms, "GenerateDataKey", "AccessDeniedException")
    with pytest.raises(Unexpected, match=r"^GenerateDataKey: AccessDeniedException$"):
        aws.keys.create(OWNER, 1)
