"""What template.yaml promises of embeddings: nothing of them is there unless they are chosen."""

from typing import Any

from samtranslator.yaml_helper import yaml_parse

from local.template import Intrinsics, translate
from tests.contract.roles import TEMPLATE

READERS = ("Recall", "Maintenance")


def template() -> Any:
    return yaml_parse(TEMPLATE.read_text(encoding="utf-8"))


def resources(**parameters: str) -> dict[str, Any]:
    """What is made of the translated template with these parameters."""
    translated = translate(TEMPLATE, "eu-central-1")
    pseudo = {"AWS::Region": "eu-central-1", "AWS::Partition": "aws", "AWS::AccountId": "1", "AWS::URLSuffix": "x"}
    pseudo |= {"AWS::StackName": "nacre"}
    given = {f"Embedding{name}": value for name, value in parameters.items()}
    filled = Intrinsics(translated, given, pseudo, lambda name, attribute: f"{name}.{attribute or 'Ref'}")
    return {name: filled.resolve(one) for name, one in translated["Resources"].items() if filled.wanted(one)}


def allowed(made: dict[str, Any], action: str) -> dict[str, list[str]]:
    """The resources for which an action is allowed, by role."""
    found: dict[str, list[str]] = {}
    for one in made.values():
        if one["Type"] == "AWS::IAM::Policy":
            for statement in one["Properties"]["PolicyDocument"]["Statement"]:
                if statement["Action"] == action:
                    for role in one["Properties"]["Roles"]:
                        found.setdefault(role.removesuffix("Role.Ref"), []).append(statement["Resource"])
    return found


def layers(made: dict[str, Any], function: str) -> list[str]:
    return [str(layer) for layer in made[f"{function}Function"]["Properties"]["Layers"]]


def test_by_default_no_function_may_ask_a_model_for_vectors_or_carries_one() -> None:
    made = resources()
    assert allowed(made, "bedrock:InvokeModel") == {}
    assert allowed(made, "secretsmanager:GetSecretValue") == {}
    assert not any("Embeddings" in name for name in made if made[name]["Type"] == "AWS::Lambda::LayerVersion")
    assert all("Embeddings" not in layer for function in READERS for layer in layers(made, function))


def test_only_search_and_maintenance_may_ask_bedrock_and_only_the_chosen_model() -> None:
    made = resources(Provider="bedrock", Model="amazon.titan-embed-text-v2:0")
    model = "arn:aws:bedrock:eu-central-1::foundation-model/amazon.titan-embed-text-v2:0"
    assert allowed(made, "bedrock:InvokeModel") == {reader: [model] for reader in READERS}


def test_only_search_and_maintenance_may_read_the_endpoints_key() -> None:
    arn = "arn:aws:secretsmanager:eu-central-1:1:secret:x"
    made = resources(Provider="openai", Model="m", Url="https://127.0.0.1", Length="8", SecretArn=arn)
    assert allowed(made, "secretsmanager:GetSecretValue") == {reader: [arn] for reader in READERS}


def test_the_model_in_the_process_is_a_layer_of_search_and_maintenance() -> None:
    made = resources(Provider="local")
    for function in ("Memories", "Extraction", *READERS):
        assert any("Embeddings" in layer for layer in layers(made, function)) == (function in READERS)


def test_a_search_may_be_made_to_wait_for_four_tenths_of_a_second_at_most() -> None:
    waiting = template()["Parameters"]["EmbeddingMilliseconds"]
    assert waiting["Default"] <= waiting["MaxValue"] == 400
