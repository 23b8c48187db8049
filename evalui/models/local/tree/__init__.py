"""Log-probabilities over prefix trees: each shared token is computed once."""
