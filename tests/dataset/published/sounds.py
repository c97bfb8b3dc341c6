"""Datasets of recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .files import lines, put, sound


def ljspeech(root: Path) -> None:
    lines(root / "metadata.csv", ["LJ001|Nr. 1|Number one", "LJ002|Two|Two", "LJ003|3|Three"])
    for i in (1, 2, 3):
        sound(root / "wavs" / f"LJ00{i}.wav", i)


def speech_commands(root: Path) -> None:
    for c, word in enumerate(("cat", "dog")):
        for i in range(3):
            sound(root / word / f"ab{i}_nohash_{i}.wav", 10 * c + i)
    sound(root / "_background_noise_" / "running_tap.wav", 99)
    lines(root / "testing_list.txt", ["cat/ab1_nohash_1.wav"])
    lines(root / "validation_list.txt", ["dog/ab0_nohash_0.wav"])


def yesno(root: Path) -> None:
    for i, name in enumerate(("0_1_1_0_0_1_1_1", "1_1_1_1_0_0_0_0", "0_0_0_0_1_1_1_1")):
        sound(root / f"{name}.wav", i)


def gtzan(root: Path) -> None:
    for c, genre in enumerate(("blues", "jazz")):
        for i in range(4):
            sound(root / genre / f"{genre}.{i:05}.wav", 10 * c + i, rate=22050)


def gtzan_whole(root: Path) -> None:
    """As many songs as the published dataset has: its parts are told by the numbers of the songs."""
    for c, genre in enumerate(("blues", "jazz")):
        for i in (0, 3, 6, 12, 40, 77, 99):
            sound(root / genre / f"{genre}.{i:05}.wav", 100 * c + i, rate=22050)


def libritts(root: Path) -> None:
    for p, part in enumerate(("dev-clean", "train-clean-100")):
        told = []
        for i in (1, 2):
            stem = root / part / "84" / "121" / f"84_121_00000{i}_000000"
            sound(stem.with_suffix(".wav"), 10 * p + i, rate=24000)
            told.append(f"{stem.name}\tMr. {part} {i}\tMister {part} {i}")
            put(stem.with_suffix(".original.txt"), f"Mr. {part} {i}\n")
            put(stem.with_suffix(".normalized.txt"), f"Mister {part} {i}\n")
        lines(root / part / "84" / "121" / "84_121.trans.tsv", told)


def arctic(root: Path) -> None:
    for name in ("aew", "bdl"):
        place = root / f"cmu_us_{name}_arctic"
        prompts = [f'( arctic_a0001 "First, {name}." )', '( arctic_a0002 "More words." )', '( arctic_b0003 "End." )']
        lines(place / "etc" / "txt.done.data", prompts)
        for i, number in enumerate(("a0001", "a0002", "b0003")):
            sound(place / "wav" / f"arctic_{number}.wav", i, rate=16000)


def _talk(place: Path, name: str, seed: int) -> None:
    head = [
        "NIST_1A",
        "   1024",
        "channel_count -i 1",
        "sample_count -i 16000",
        "sample_rate -i 16000",
        "sample_n_bytes -i 2",
        "sample_byte_format -s2 01",
        "sample_sig_bits -i 16",
        "sample_coding -s3 pcm",
        "end_head",
    ]
    samples = np.random.default_rng(seed).integers(-999, 999, 16000).astype("<i2")
    put(place / "sph" / f"{name}.sph", "".join(f"{h}\n" for h in head).encode().ljust(1024) + samples.tobytes())
    told = [f"{name} 1 speaker 0.10 0.20 <o,f0,male> some words", f"{name} 1 speaker 0.5 0.6 <o,f0,male> more"]
    lines(place / "stm" / f"{name}.stm", told)


def tedlium(root: Path) -> None:
    for p, part in enumerate(("train", "test", "dev")):
        for i, name in enumerate(("Ann_2009", "Bob_2010X")):
            _talk(root / part, f"{name}{part}", 10 * p + i)


def tedlium3(root: Path) -> None:
    for i, name in enumerate(("Ann_2009", "Bob_2010X")):
        _talk(root / "data", name, i)
    _talk(root / "legacy" / "test", "Cy_2011", 7)
