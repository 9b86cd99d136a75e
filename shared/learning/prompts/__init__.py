"""What a model is shown of a conversation and what it is asked for. The wording stands in the `.md` files beside this."""
