"""Makes `wordllama-256.bin`, the embedded default of embeddings, and `../fixtures/tokens.jsonl`, by which it is tested.

    python3 -m venv venv && venv/bin/pip install numpy safetensors tokenizers
    venv/bin/pip download --no-deps wordllama==0.4.0.post1 && unzip wordllama-*.whl -d wheel
    venv/bin/python make_wordllama.py wheel

WordLlama (https://github.com/dleemiller/WordLlama, MIT, see LICENSE-wordllama) has one vector of 256 numbers for each
of the 32,000 pieces of the tokenizer of Llama 2. Here each number takes 4 bits and each piece has a scale of its own.

The file, all numbers little-endian: "WSWL0001", the count of pieces and of dimensions as u32; for each piece the length
of its text as u8 and the text (length 0 for what is no text: bytes and marks); a scale as f32 for each piece; for each
piece the numbers plus 8 in half bytes, the first of two in the lower half.
"""

import json
import pathlib
import random
import struct
import sys

import numpy as np
import safetensors.numpy
from tokenizers import Tokenizer

LEVELS = 7
CHANCE = random.Random(2)
TEXTS = [
    "Port 8080 is taken by the proxy.", "", " ", "  double  spaces ", "aaaaaaaaa", "tab\there\nnew line", "▁▁x", "\0\1",
    "हिन्दी में एक पाठ", "สวัสดีชาวโลก", "مرحبا بالعالم", "שלום עולם", "안녕하세요 세계", "Γειά σου Κόσμε", "Привет, мир",
    "会議室の予約は三日前までに必要です。", "你好，世界", "தமிழ் மொழி", "ትግርኛ", "ქართული ენა", "বাংলা ভাষা", "မြန်မာစာ",
    "Հայերեն", "ខ្មែរ", "Tiếng Việt rất hay", "Ünïcödé ﬁ e\u0301", "🙂👩‍👩‍👧 emoji", "-----=====", "0000000000", "x" * 300,
    *("".join(CHANCE.choice("ab▁ <>0é東\u0301n'tser!.") for _ in range(40)) for _ in range(20)),
    "fn main() { println!(\"{}\", 1 + 2); }", "La réunion d'équipe a lieu chaque lundi à neuf heures.",
]


def quantised(table):
    """Levels from -7 to 7 and the scale of each row: of several scales the one with the least error."""
    best_error = best_levels = best_scale = None
    for share in (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5):
        scale = np.maximum(np.abs(table).max(1, keepdims=True) * share / LEVELS, 1e-12).astype(np.float32)
        levels = np.clip(np.round(table / scale), -LEVELS, LEVELS)
        error = ((levels * scale - table) ** 2).sum(1, keepdims=True)
        if best_error is None:
            best_error, best_levels, best_scale = error, levels, scale
        else:
            is_better = error < best_error
            best_error = np.where(is_better, error, best_error)
            best_levels = np.where(is_better, levels, best_levels)
            best_scale = np.where(is_better, scale, best_scale)
    return best_levels.astype(np.int8), best_scale[:, 0].astype("<f4")


def main():
    wheel, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    weights = safetensors.numpy.load_file(wheel / "wordllama/weights/l2_supercat_256.safetensors")
    table = next(iter(weights.values())).astype(np.float32)
    config = wheel / "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
    vocabulary = json.loads(config.read_text())["model"]["vocab"]
    pieces = [""] * len(vocabulary)
    for piece, number in vocabulary.items():
        is_text = not (piece.startswith("<0x") and len(piece) == 6) and piece not in ("<unk>", "<s>", "</s>")
        pieces[number] = piece if is_text else ""
    levels, scales = quantised(table)
    halves = (levels + 8).astype(np.uint8)
    with open(here / "wordllama-256.bin", "wb") as out:
        out.write(b"WSWL0001" + struct.pack("<II", *table.shape))
        for piece in pieces:
            out.write(bytes([len(piece.encode())]) + piece.encode())
        out.write(scales.tobytes())
        out.write((halves[:, 0::2] | (halves[:, 1::2] << 4)).tobytes())
    tokenizer = Tokenizer.from_file(str(config))
    with open(here / "../fixtures/tokens.jsonl", "w") as out:
        for text in TEXTS:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            mean = table[ids].mean(0) if ids else table[0] * 0
            norm = float(np.linalg.norm(mean))
            first = [round(float(x), 5) for x in (mean / norm if norm else mean)[:16]]
            out.write(json.dumps({"text": text, "ids": ids, "first": first}, ensure_ascii=False) + "\n")


main()
