"""What others take for the ten nearest of many memories: numpy, exactly, and Concordia's associative memory.

Run by the example `figures` where WORKSHOP_BASELINES names a Python that has `numpy`, `pandas` and `gdm-concordia`
(pip install numpy pandas; pip install --no-deps gdm-concordia). Both are given the vectors: no text is embedded here.
"""

import sys
import time

import numpy as np
import pandas as pd
from concordia.associative_memory.basic_associative_memory import AssociativeMemoryBank


def median_ms(act, count):
    times = []
    for number in range(count):
        began = time.perf_counter()
        act(number)
        times.append((time.perf_counter() - began) * 1e3)
    return sorted(times)[len(times) // 2]


def main():
    folder, dimensions = sys.argv[1], int(sys.argv[2])
    memories = np.fromfile(f"{folder}/memories.f32", dtype=np.float32).reshape(-1, dimensions)
    questions = np.fromfile(f"{folder}/questions.f32", dtype=np.float32).reshape(-1, dimensions)

    def exact(number):
        scores = memories @ questions[number % len(questions)]
        ten = np.argpartition(-scores, 10)[:10]
        return ten[np.argsort(-scores[ten])]

    by_name = {f"q{number}": vector for number, vector in enumerate(questions)}
    bank = AssociativeMemoryBank(sentence_embedder=by_name.__getitem__)
    # As its `add` would leave it, which takes minutes for so many.
    texts = [f"memory {number}" for number in range(len(memories))]
    bank._memory_bank = pd.DataFrame({"text": texts, "embedding": list(memories)})
    names = list(by_name)
    print(f"{median_ms(exact, 200):.3f} {median_ms(lambda n: bank.retrieve_associative(names[n % len(names)], 10), 30):.3f}")


if __name__ == "__main__":
    main()
