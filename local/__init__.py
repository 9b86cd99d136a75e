"""The whole service on one machine: no AWS account, no Docker. Never deployed; may know template.yaml and nothing of the code it runs."""
