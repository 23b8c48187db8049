"""Multiple-choice trials: permutations, accuracies, groups."""
