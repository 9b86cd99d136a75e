"""Sessions and their notes: `sessions` and their `ending`, as they are `kept` and `told`; maintenance ends `silent` ones."""
