"""Position bias: does a model prefer a position, whatever is shown there?"""
