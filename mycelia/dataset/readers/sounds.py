"""Sounds: speech with transcripts, commands, music."""

from __future__ import annotations

import re
import wave
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.plan import Data
from mycelia.dataset.readers.base import (
    COMMON,
    SAMPLED,
    Reader,
    Samples,
    i32,
    lines_of,
    optional,
    subfolders,
    text,
    u32,
)
from mycelia.errors import ArgumentError
from mycelia.types import Array

SCALES = {1: 128.0, 2: 32768.0, 4: 2147483648.0}


def read_wave(path: str | Path) -> tuple[Array, int]:
    """A recording as float32 (channels, time) within [-1, 1], and its rate; other formats than WAV need soundfile.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/a.wav"
    >>> with wave.open(place, "wb") as file:
    ...     file.setparams((1, 2, 8000, 0, "NONE", "")); file.writeframes(np.array([0, 16384], "<i2").tobytes())
    >>> read_wave(place)
    (array([[0. , 0.5]], dtype=float32), 8000)
    """
    try:
        with wave.open(str(path), "rb") as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            frames = file.readframes(file.getnframes())
    except (wave.Error, EOFError, OSError):
        return _other(path)
    if width == 3:
        padded = np.zeros((len(frames) // 3, 4), np.uint8)
        padded[:, 1:] = np.frombuffer(frames, np.uint8).reshape(-1, 3)
        samples = padded.view("<i4")[:, 0] / SCALES[4]
    elif width == 1:
        samples = (np.frombuffer(frames, np.uint8).astype(np.float64) - 128) / SCALES[1]
    else:
        samples = np.frombuffer(frames, f"<i{width}") / SCALES[width]
    return np.ascontiguousarray(samples.reshape(-1, channels).T, np.float32), rate


def _other(path: str | Path) -> tuple[Array, int]:
    if not Path(path).is_file():
        raise DataError("a recording is missing", given={"file": str(path)})
    library = optional("soundfile", "soundfile", f"reading {Path(path).suffix or 'this'} recordings")
    try:
        samples, rate = library.read(str(path), dtype="float32", always_2d=True)
    except RuntimeError as error:
        raise DataError(f"cannot read a recording: {error}", given={"file": str(path)}) from error
    return np.ascontiguousarray(samples.T), int(rate)


class Recordings(Samples):
    """Samples whose first cell is a recording: it gives two columns, waveform and sample_rate."""

    def rated(self, rate: int) -> Array:
        """The rate as a column."""
        return i32(rate)

    def fetch(self, index: int) -> Row:
        path, *rest = self.rows[index]
        waveform, rate = read_wave(path)
        cells = [load(cell) for load, cell in zip(self.loaders, rest, strict=True)]
        return (waveform, self.rated(rate), *cells)

    def labels(self, column: str) -> Array:
        at = self.columns.index(column) - 2
        return np.array([self.loaders[at](row[at + 1]) for row in self.rows])


class Unsigned(Recordings):
    """Recordings whose rate is an unsigned number."""

    def rated(self, rate: int) -> Array:
        return u32(rate)


SOUND = ("waveform", "sample_rate")


class LJSpeechDataset(Reader):
    """LJ Speech: `metadata.csv` and `wavs`."""

    words = f"dataset_dir, {COMMON}, {SAMPLED}"

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        rows = []
        for line in lines_of(Path(dataset_dir, "metadata.csv")):
            name, plain, normal = [*line.split("|"), "", ""][:3]
            rows.append((str(Path(dataset_dir, "wavs", f"{name}.wav")), plain, normal))
        return Recordings((*SOUND, "transcription", "normalized_transcription"), rows, (text, text))


class SpeechCommandsDataset(Reader):
    """Speech Commands: a folder per word; `testing_list.txt` and `validation_list.txt` tell the parts."""

    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        root = Path(dataset_dir)
        lists = {"test": "testing_list.txt", "valid": "validation_list.txt"}
        apart = {k: set(lines_of(root / v)) if (root / v).exists() else set() for k, v in lists.items()}
        rows = []
        for folder in subfolders(root):
            if folder.name.startswith("_"):
                continue
            for path in sorted(folder.glob("*.wav")):
                name = f"{folder.name}/{path.name}"
                part = next((k for k, names in apart.items() if name in names), "train")
                if usage in (None, "all", part):
                    speaker, _, number = path.stem.partition("_nohash_")
                    rows.append((str(path), folder.name, speaker, int(number or 0)))
        return Recordings((*SOUND, "label", "speaker_id", "utterance_number"), rows, (text, text, i32))


class YesNoDataset(Reader):
    """YesNo: files named by their eight answers, `0_1_1_0_0_1_1_1.wav`."""

    words = f"dataset_dir, {COMMON}, {SAMPLED}"

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        rows = [(str(p), [int(v) for v in p.stem.split("_")]) for p in sorted(Path(dataset_dir).glob("*.wav"))]
        return Recordings((*SOUND, "label"), rows, (i32,))


class GTZANDataset(Reader):
    """GTZAN: a folder of recordings per genre; the parts are the lists of filtered songs, when they are there."""

    usages = ("train", "valid", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        root = Path(dataset_dir)
        rows = [(str(p), f.name) for f in subfolders(root) for p in sorted(f.glob("*.wav"))]
        if usage not in (None, "all"):
            chosen = {Path(line.strip()).name for line in lines_of(root / f"{usage}_filtered.txt")}
            rows = [r for r in rows if Path(r[0]).name in chosen]
        return Unsigned((*SOUND, "label"), rows, (text,))


class LibriTTSDataset(Reader):
    """LibriTTS: part, speaker, chapter, and beside each recording its original and normalised text."""

    usages = (
        "dev-clean", "dev-other", "test-clean", "test-other", "train-clean-100", "train-clean-360", "train-other-500",
        "all",
    )  # fmt: skip

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = [p.name for p in subfolders(dataset_dir)] if usage in (None, "all") else [str(usage)]
        rows = []
        for part in parts:
            for path in sorted(Path(dataset_dir, part).glob("*/*/*.wav")):
                speaker, chapter = path.parent.parent.name, path.parent.name
                texts = [path.with_suffix(f".{k}.txt") for k in ("original", "normalized")]
                told = [t.read_text(encoding="utf-8").strip() for t in texts]
                rows.append((str(path), *told, int(speaker), int(chapter), path.stem))
        names = ("original_text", "normalized_text", "speaker_id", "chapter_id", "utterance_id")
        return Unsigned((*SOUND, *names), rows, (text, text, u32, u32, text))


_PROMPT = re.compile(r'\s*\(\s*(\S+)\s+"(.*)"\s*\)')


class CMUArcticDataset(Reader):
    """CMU Arctic: `cmu_us_<name>_arctic` with `wav` and `etc/txt.done.data`."""

    words = f"dataset_dir, name=None, {COMMON}, {SAMPLED}"
    speakers = ("aew", "ahw", "aup", "awb", "axb", "bdl", "clb", "eey", "fem", "gka", "jmk", "ksp", "ljm", "lnh", "rms",
                "rxr", "slp", "slt")  # fmt: skip

    def open(self, dataset_dir: str, name: str | None) -> Data:  # type: ignore[override]  # its own arguments
        speaker = name or "aew"
        if speaker not in self.speakers:
            raise ArgumentError(f"CMU Arctic has no speaker {speaker!r}", hint=f"name is one of {self.speakers}")
        root = Path(dataset_dir, f"cmu_us_{speaker}_arctic")
        rows = []
        for line in lines_of(root / "etc" / "txt.done.data"):
            found = _PROMPT.match(line)
            if found is None:
                raise DataError(f"a line of the prompts cannot be read: {line!r}", given={"folder": str(root)})
            number, told = found.groups()
            rows.append((str(root / "wav" / f"{number}.wav"), told, number.removeprefix("arctic_")))
        return Unsigned((*SOUND, "transcript", "utterance_id"), rows, (text, text))


class TedliumDataset(Reader):
    """TED-LIUM: `stm` transcripts that point into NIST sphere recordings."""

    words = f"dataset_dir, release, usage=None, extensions=None, {COMMON}, {SAMPLED}"

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, release: str, usage: str | None, extensions: str | None
    ) -> Data:
        folders = {"release1": ("train", "test", "dev"), "release2": ("train", "test", "dev"), "release3": ("data",)}
        if release not in folders:
            raise ArgumentError(f"TED-LIUM has no {release!r}", hint=f"release is one of {list(folders)}")
        root = Path(dataset_dir)
        if release == "release3":
            places = [root / "data"] if usage in (None, "all") else [root / "legacy" / str(usage)]
        else:
            places = [root / p for p in folders[release] if usage in (None, "all", p)]
        rows: list[tuple[Any, ...]] = []
        for place in places:
            for path in sorted((place / "stm").glob("*.stm")):
                recording = place / "sph" / f"{path.stem}{extensions or '.sph'}"
                for line in lines_of(path):
                    talk, _, speaker, begin, end, identifier, *words = line.split(" ", 6)
                    span = (str(recording), float(begin), float(end))
                    rows.append((span, " ".join(words), talk, speaker, identifier))
        return Talks((*SOUND, "transcript", "talk_id", "speaker_id", "identifier"), rows, (text,) * 4)


class Talks(Recordings):
    """Pieces of long recordings in NIST sphere files of 16-bit samples."""

    def fetch(self, index: int) -> Row:
        (path, begin, end), *rest = self.rows[index]
        rate, order, start = sphere(path)
        count = round((end - begin) * rate)
        with Path(path).open("rb") as file:
            file.seek(start + 2 * round(begin * rate))
            samples = np.frombuffer(file.read(2 * count), f"{order}i2")
        waveform = (samples / SCALES[2]).astype(np.float32)[None]
        cells = [load(cell) for load, cell in zip(self.loaders, rest, strict=True)]
        return (waveform, self.rated(rate), *cells)

    def where(self, index: int) -> str:
        path, begin, end = self.rows[index][0]
        return f"{path}, seconds {begin} to {end}"


def sphere(path: str) -> tuple[int, str, int]:
    """Rate, byte order, and where the samples begin, from the head of a sphere file."""
    with Path(path).open("rb") as file:
        head = file.read(1024)
    if not head.startswith(b"NIST_1A"):
        raise DataError("this is not a sphere file", given={"file": path})
    start = int(head.split(b"\n")[1])
    told = {c[0]: c[2] for c in (line.split() for line in head.decode("ascii", "replace").splitlines()) if len(c) > 2}
    return int(told.get("sample_rate", "16000")), "<" if told.get("sample_byte_format", "10") == "01" else ">", start
