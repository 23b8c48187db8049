"""Writes the questions that the harnesses are run on: common knowledge, written for this project."""
import csv, json, sys
from pathlib import Path
Q = {
 "geography": [
  ("What is the capital of France?", ["Paris", "Rome", "Madrid", "Berlin"], 0),
  ("Which river flows through Cairo?", ["Danube", "Nile", "Rhine", "Volga"], 1),
  ("Which ocean lies between Africa and Australia?", ["Arctic Ocean", "Atlantic Ocean", "Indian Ocean", "Southern Ocean"], 2),
  ("Which country has the city of Kyoto?", ["China", "Korea", "Vietnam", "Japan"], 3),
  ("What is the capital of Canada?", ["Ottawa", "Toronto", "Montreal", "Vancouver"], 0),
  ("On which continent is Peru?", ["Africa", "South America", "Asia", "Europe"], 1),
  ("Which desert covers much of northern Africa?", ["Gobi", "Atacama", "Sahara", "Kalahari"], 2),
  ("Which sea does the Jordan flow into?", ["Black Sea", "Red Sea", "North Sea", "Dead Sea"], 3),
 ],
 "arithmetic": [
  ("What is 7 + 5?", ["11", "12", "13", "14"], 1),
  ("What is 9 x 6?", ["54", "56", "45", "63"], 0),
  ("What is 100 - 37?", ["53", "73", "67", "63"], 3),
  ("What is 81 / 9?", ["8", "7", "9", "11"], 2),
  ("What is 15 + 27?", ["42", "32", "43", "52"], 0),
  ("What is 8 x 12?", ["86", "96", "94", "106"], 1),
  ("What is half of 250?", ["120", "115", "125", "150"], 2),
  ("What is 3 x 3 x 3?", ["9", "18", "81", "27"], 3),
 ],
}
out = Path(sys.argv[1]); out.mkdir(parents=True, exist_ok=True)
for subject, rows in Q.items():
    with (out / f"{subject}.jsonl").open("w") as f:
        for n, (q, o, a) in enumerate(rows):
            f.write(json.dumps({"id": f"{subject}-{n}", "question": q, "choices": o, "answer": a, "letter": "ABCD"[a], "text": o[a]}) + "\n")
