"""What `evalui score KIND --help` prints of each kind of file."""

CHOICES_HELP = """\
Score multiple-choice answers collected elsewhere. FILE has one JSON object per line:

  {"id": "q1", "options": ["Paris", "Rome"], "answer": "B", "permutation": [1, 0], "reply": "A"}

  options       the texts in the file's own order
  answer        the right letter in that order
  permutation   permutation[slot] is the index of the option shown there (left out: own order)
  reply         what the model wrote, or instead of it
  probabilities of the letters shown, slot by slot

Prints one JSON object: OpenCompass's figures in percent by their names, then ours. --all adds
option bias with its tests, priors, agreement and calibration.
"""
REPLIES_HELP = """\
Read the chosen letter out of written replies. FILE has one JSON object per line:

  {"reply": "The answer is (B).", "options": ["Paris", "Rome"]}

Prints a line for each: {"choice": "B", "rule": "marker"}; choice is null if unreadable, and
if the reply gives a text that several options have (rule "tie").
"""
TEXTS_HELP = """\
Score written answers against their references. FILE has one JSON object per line:

  {"prediction": "Paris.", "reference": "It is Paris."}

  reference     a text, or a list of texts of which the closest one counts

Prints one JSON object: n, the count of empty predictions, then the means of SWIFT's 13 figures
(rouge-1-r to bleu-4), exact match and token F1. --samples adds a line for each pair.
"""
BATTLES_HELP = """\
Rate models by battles judged elsewhere. FILE has one JSON object per line:

  {"model_a": "x", "model_b": "y", "winner": "model_a", "question": "q1"}

  winner        model_a, model_b, tie (both good) or neither (both bad)
  question      the id of the question, in every row or in none

Prints one JSON object: counts, scores, Elo and Bradley-Terry ratings.
"""
VERDICTS_HELP = """\
Read the verdict out of judges' replies. FILE has one JSON object per line:

  {"format": "mtbench", "reply": "Final verdict: [[B]]"}

  format        mtbench, arena_hard, compass, json or scores

Prints a line for each: {"verdict": "B", "rule": "announced"}; verdict is null if unreadable.
"""
