"""What `evalui score KIND --help` prints of each kind of file."""

CHOICES_HELP = """\
Score multiple-choice answers collected elsewhere. FILE has one JSON object per line:

  {"id": "q1", "options": ["Paris", "Rome"], "answer": "B", "permutation": [1, 0], "reply": "A"}

  id            of the question
  options       their texts, in the file's own order
  answer        the right letter in that order
  permutation   permutation[slot] is the index of the option shown there (left out: own order)
  repeat        which reply to this order it is, from 1 (left out: 1)
  reply         what the model wrote; or instead of it
  probabilities of the letters shown, slot by slot
  finish_reason "length" if the limit of tokens cut the reply (left out: it ended by itself)

Rows of one model and mode of trials.jsonl fit. All rows have a reply, or all probabilities.

Prints one JSON object: OpenCompass's figures in percent by their names, then ours, then the rows of
the frames readings, rules, positions and confusion (docs/frames.md). --all adds option bias with
its tests, priors, agreement and calibration.
"""
REPLIES_HELP = """\
Read the chosen letter out of written replies. FILE has one JSON object per line:

  {"reply": "The answer is (B).", "options": ["Paris", "Rome"]}

  finish_reason  "length" if the limit of tokens cut the reply (left out: it ended by itself)

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

  winner        model_a, model_b, tie (both good), or neither or tie (bothbad)
  question      the id of the question, in every row or in none

Prints one JSON object: counts, scores, Elo and Bradley-Terry ratings. Above 500 battles,
only --opencompass-elo computes OpenCompass's ELO [Mean] and [Std].
"""
VERDICTS_HELP = """\
Read the verdict out of judges' replies. FILE has one JSON object per line:

  {"format": "mtbench", "reply": "Final verdict: [[B]]"}

  format        of two answers: mtbench, arena_hard, compass, json, scores, named or graded;
                of one answer: rating or correctness
  criteria      of a rating: the names of criteria whose marks are read too
  scale         of a rating: the lowest and the highest mark (left out: [1, 10])
  finish_reason "length" if the limit of tokens cut the reply (left out: it ended by itself)

Prints a line for each: {"verdict": "B", "rule": "announced"} for two answers and {"mark": 8.0,
"rule": "line", "criteria": {}} for one; verdict and mark are null if unreadable.
"""
IMPORT_HELP = """\
Import a finished run of another harness into the store, beside those of evalui: the folder
of lm-eval and lmms-eval (--log_samples), Inspect (.eval, .json), EvalScope, OpenCompass, HELM,
VLMEvalKit, or a CSV file.

A CSV file has a row for each answer, and --mapping names its columns:

  evalui import answers.csv --mapping question=prompt options=A,B,C,D answer=key reply=output

  question      the question (required), id its id
  options       the columns of the options, with a comma between them
  answer        the right option: its letter, its number from 1, or its text
  reference     instead of options and answer: the text that a written answer is compared with
  reply         what the model wrote, or instead of it
  probabilities the columns of the probabilities of the options, with a comma between them
  correct       what another program said of the answer: 1, 0, true, false, or a share
  model, dataset, subject   columns, or in quotes texts: model='"gpt-x"'

Prints each figure of the harness, the mean of its own marks, and evalui's figure.
"""
GATE_HELP = """\
Compare a candidate with its baseline on the same questions, question by question.

BASELINE and CANDIDATE are each a folder of `evalui run`, the id of a run in the store (imported
ones, too), or the log of another harness, which is read as `evalui import` reads it.

  --allow 2     the candidate may be 2 points worse
  --metric      accuracy, robust, mean_over_orders; a figure of written answers (rouge-l-f); or a
                reading of answers (ln_char, harness)

Prints a line for each dataset and mode that both have. Exit code: 0 passed, 1 worse by more than
is allowed, 3 too few questions to tell; 2 bad input.
"""
