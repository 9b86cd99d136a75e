"""What the operator says to an agent, as a document of the deployment.

The deployment is an owner like any other to the protocol, with a keyring, a journal and a partition of its own, under a name that no token
can have: owners are named by two parts, this one by three (SEAL-3, SEAL-11).
"""

import hashlib
from typing import Final

from shared.crypto.keyring import OwnerKeys
from shared.crypto.sealing import base32, joined
from shared.domain.errors import SealBroken
from shared.storage import documents, lines
from shared.storage.documents import Document
from shared.storage.vaults import Vaults

DEPLOYMENT: Final = base32(hashlib.sha256(joined("nacre", "deployment", "agents")).digest())
"""The template's permissions name it too."""
TEXT, BY = "text", "by"


def tag_of(keys: OwnerKeys, agent: str) -> str:
    """Return the tag that stands for an agent's name."""
    return keys.tag(lines.AGENT_NOTES, agent)


def read(vaults: Vaults, agent: str) -> Document:
    """Return the notes of an agent; an empty document where there are none. Two steps with warm keys, three when cold.

    Raises TableLost, SealBroken, Busy, Unavailable.
    """
    opened = vaults.open(DEPLOYMENT)
    if opened is None:
        return Document()
    tag = tag_of(opened.keys, agent)
    sk = documents.sk_of(lines.AGENT_NOTES, tag)
    return documents.from_item(opened.keys, lines.AGENT_NOTES, tag, vaults.table.get(DEPLOYMENT, [sk]).get(sk))


def text_of(document: Document) -> str:
    """Return what they say; empty where there are none. Raises SealBroken when it is no text."""
    text = document.get(TEXT, "")
    if not isinstance(text, str):
        raise SealBroken
    return text
