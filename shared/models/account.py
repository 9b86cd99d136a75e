"""The account as it travels: its erasure and the receipt."""

import base64
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from shared.domain.errors import Invalid
from shared.models.forms import Given, Shown
from shared.storage.erasure import Receipt

COUNT_MAX = 2**53


class EraseIn(Given):
    """Whether it is meant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"confirm": True}]})

    confirm: StrictBool = Field(default=False, description="true: erase everything; nothing else does")


class ReceiptOut(Shown):
    """What an erasure removed."""

    epoch: int = Field(description="which of your lives in this service it ended")
    erased_at: str = Field(description="when the keys were destroyed: nothing opens since")
    cleared_at: str | None = Field(description="when everything sealed with them was removed; null: not yet")
    objects: int = Field(description="versions of objects removed from the bucket")
    items: int = Field(description="items removed from the table")
    signature: str | None = Field(
        description="Base64: the digest of this receipt, encrypted by the deployment's key; null until it is cleared"
    )

    @classmethod
    def of(cls, receipt: Receipt) -> Self:
        signature = base64.b64encode(receipt.signature).decode() if receipt.signature else None
        return cls(
            epoch=receipt.epoch,
            erased_at=receipt.erased_at,
            cleared_at=receipt.cleared_at,
            objects=receipt.objects,
            items=receipt.items,
            signature=signature,
        )


class ErasureOut(Shown):
    """How far the last erasure is."""

    status: Literal["none", "erasing", "erased"] = Field(
        description="none: nothing was ever erased; erasing: nothing opens any more and removal goes on"
    )
    receipt: ReceiptOut | None

    @classmethod
    def of(cls, receipt: Receipt | None) -> Self:
        if receipt is None:
            return cls(status="none", receipt=None)
        return cls(status="erased" if receipt.cleared_at else "erasing", receipt=ReceiptOut.of(receipt))


class ReceiptIn(Given):
    """A receipt to be checked, as it was given."""

    epoch: Annotated[StrictInt, Field(ge=1, le=COUNT_MAX)]
    erased_at: Annotated[StrictStr, Field(max_length=40)]
    cleared_at: Annotated[StrictStr, Field(max_length=40)]
    objects: Annotated[StrictInt, Field(ge=0, le=COUNT_MAX)]
    items: Annotated[StrictInt, Field(ge=0, le=COUNT_MAX)]
    signature: Annotated[StrictStr, Field(min_length=1, max_length=8_000)]

    def receipt(self) -> Receipt:
        """Return what is to be checked. Raises Invalid when the signature is not Base64."""
        try:
            signature = base64.b64decode(self.signature, validate=True)
        except ValueError:
            raise Invalid.of("signature", "This is not Base64.") from None
        return Receipt(self.epoch, self.erased_at, self.cleared_at, self.objects, self.items, signature)


class GenuineOut(Shown):
    """Whether the receipt is one of this deployment for you, unchanged."""

    genuine: bool
