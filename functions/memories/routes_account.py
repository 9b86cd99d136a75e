"""Routes of the account as a whole: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends

from shared.bootstrap import keeping
from shared.http import JSON, Owner, documented, routes
from shared.keeping.account import Account
from shared.models.account import EraseIn, ErasureOut, GenuineOut, ReceiptIn

router = routes()
Accounts = Annotated[Account, Depends(keeping.account)]


@router.post("/v1/account/erase", status_code=202, summary="Erase everything", **documented(200, 422, 503))
def erase(sent: EraseIn, owner: Owner, account: Accounts) -> Response[ErasureOut]:
    """The keys are destroyed before the answer: nothing opens any more, for anybody. Then everything they sealed is removed: 202 while that
    goes on, 200 with the signed receipt when it is done, or when there was nothing."""
    erasure = ErasureOut.of(account.erase(owner, confirm=sent.confirm))
    return Response(202 if erasure.status == "erasing" else 200, JSON, erasure, {})


@router.get("/v1/account/erase", summary="See how far an erasure is", **documented(503))
def erasure(owner: Owner, account: Accounts) -> Response[ErasureOut]:
    """The receipt of the last erasure; it stays when a new life has begun."""
    return Response(200, JSON, ErasureOut.of(account.receipt(owner)), {})


@router.post("/v1/account/receipt", summary="Check a receipt", **documented(422, 503))
def check(sent: ReceiptIn, owner: Owner, account: Accounts) -> Response[GenuineOut]:
    """Whether this deployment gave you that receipt, with exactly these figures."""
    return Response(200, JSON, GenuineOut(genuine=account.genuine(owner, sent.receipt())), {})
