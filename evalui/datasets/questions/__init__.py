"""Questions checked and completed: options, answers, conversations, subjects."""
