"""The persona: made anew in maintenance by a model or by rules (`refreshing`), and cleared of what stands no more (`clearing`)."""
