"""The whole service on one machine: no AWS account, no Docker. Never deployed; template.yaml is its only plan."""
