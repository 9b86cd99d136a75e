"""The bodies of requests and answers, as they travel. Outside input is bounded and forbids unknown fields."""
