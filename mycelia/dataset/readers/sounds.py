"""Sounds: speech with transcripts, commands, music."""

from __future__ import annotations

import os
import re
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import choice
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.readers.base import (
    COMMON,
    SAMPLED,
    Reader,
    Samples,
    files_in,
    i32,
    inner,
    optional,
    subfolders,
    text,
    u32,
)
from mycelia.dataset.readers.lines import numbered, parsed, text_of
from mycelia.dataset.readers.names import GTZAN
from mycelia.mindrecord.limits import TooLarge, believed
from mycelia.plainfiles import opened
from mycelia.types import Array

STREAMED = 0x7FFFFF00  # a file written as a stream says about this many bytes, not knowing how many will come
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
        with os.fdopen(opened(path), "rb") as plain, wave.open(plain, "rb") as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            count = file.getnframes()
            there = Path(path).stat().st_size  # a header may declare more than there is, and memory for it
            believed(min(4 * count * channels, 4 * there), "a recording", file=str(path))
            frames = file.readframes(min(count, there))
    except EOFError as error:
        raise DataError("a recording is cut short", given={"file": str(path)}) from error
    except (wave.Error, OSError):
        return _other(path)
    except TooLarge:
        raise
    except (RuntimeError, ValueError, ZeroDivisionError, struct.error) as error:  # what Python's reader ends in
        raise DataError(f"a recording is damaged: {error}", given={"file": str(path)}) from error
    if width not in (*SCALES, 3) or not channels:
        given = {"file": str(path), "bytes of a sample": width, "channels": channels}
        raise DataError("a recording is damaged: it has samples of no known kind", given=given)
    missing = count * width * channels - len(frames)
    if missing and count * width * channels < STREAMED:
        raise DataError("a recording is cut short", given={"file": str(path), "bytes missing": missing})
    frames = frames[: len(frames) // (width * channels) * (width * channels)]
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
        with library.SoundFile(str(path)) as file:
            believed(4 * file.frames * file.channels, "a recording", file=str(path))
            samples, rate = file.read(dtype="float32", always_2d=True), file.samplerate
    except TooLarge:
        raise
    except (RuntimeError, ValueError, TypeError) as error:  # what the library ends in
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
        def row(line: str) -> tuple[str, str, str]:
            name, plain, normal = line.split("|")
            return inner(Path(dataset_dir, "wavs"), f"{name}.wav"), plain, normal

        rows = parsed(Path(dataset_dir, "metadata.csv"), row, "a name, a text, and the text in words, between bars")
        return Recordings((*SOUND, "transcription", "normalized_transcription"), rows, (text, text))


class SpeechCommandsDataset(Reader):
    """Speech Commands: a folder per word; `testing_list.txt` and `validation_list.txt` tell the parts."""

    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        root = Path(dataset_dir)
        lists = {"test": "testing_list.txt", "valid": "validation_list.txt"}
        apart = {k: {line for _, line in numbered(root / v)} for k, v in lists.items() if (root / v).exists()}
        rows = []
        for folder in subfolders(root):
            if folder.name.startswith("_"):
                continue
            for path in files_in(folder, [".wav"]):
                name = f"{folder.name}/{path.name}"
                part = next((k for k, names in apart.items() if name in names), "train")
                if usage in (None, "all", part):
                    speaker, _, number = path.stem.partition("_nohash_")
                    if not number.isdigit():
                        raise DataError("a recording is not named speaker_nohash_number.wav", given={"file": str(path)})
                    rows.append((str(path), folder.name, speaker, int(number)))
        return Recordings((*SOUND, "label", "speaker_id", "utterance_number"), rows, (text, text, i32))


class YesNoDataset(Reader):
    """YesNo: files named by their eight answers, `0_1_1_0_0_1_1_1.wav`."""

    words = f"dataset_dir, {COMMON}, {SAMPLED}"

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        rows = []
        for path in files_in(dataset_dir, [".wav"]):
            answers = path.stem.split("_")
            if len(answers) != 8 or not set(answers) <= {"0", "1"}:
                raise DataError("a recording is not named by eight answers, 0 or 1", given={"file": str(path)})
            rows.append((str(path), [int(a) for a in answers]))
        return Recordings((*SOUND, "label"), rows, (i32,))


class GTZANDataset(Reader):
    """GTZAN: a folder of recordings per genre, `jazz/jazz.00012.wav`; its parts are the published, filtered ones."""

    usages = ("train", "valid", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        mark = {"train": "t", "valid": "v", "test": "e"}.get(str(usage), "")
        rows = [
            (str(path), folder.name)
            for folder in subfolders(dataset_dir)
            for path in files_in(folder, [".wav"])
            if not mark or self._mark(path) == mark
        ]
        return Unsigned((*SOUND, "label"), rows, (text,))

    @staticmethod
    def _mark(path: Path) -> str:
        """The part of a song."""
        genre, _, number = path.stem.rpartition(".")
        if genre not in GTZAN or not number.isdigit() or int(number) >= len(GTZAN[genre]):
            raise DataError(
                "a song is not named genre.number.wav, so that its part is unknown", given={"file": str(path)}
            )
        return GTZAN[genre][int(number)]


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
            for chapter in (c for speaker in subfolders(Path(dataset_dir, part)) for c in subfolders(speaker)):
                ids = (chapter.parent.name, chapter.name)
                if not all(i.isdigit() for i in ids):
                    raise DataError("speakers and chapters are numbers", given={"folder": str(chapter)})
                for path in files_in(chapter, [".wav"]):
                    told = [text_of(path.with_suffix(f".{k}.txt")).strip() for k in ("original", "normalized")]
                    rows.append((str(path), *told, *map(int, ids), path.stem))
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
        choice(self, "name", speaker, self.speakers)
        root = Path(dataset_dir, f"cmu_us_{speaker}_arctic")

        def row(line: str) -> tuple[str, str, str]:
            number, told = _PROMPT.match(line).groups()  # type: ignore[union-attr]  # parsed() tells when it is None
            return inner(root / "wav", f"{number}.wav"), told, number.removeprefix("arctic_")

        rows = parsed(root / "etc" / "txt.done.data", row, '( name "text" )')
        return Unsigned((*SOUND, "transcript", "utterance_id"), rows, (text, text))


class TedliumDataset(Reader):
    """TED-LIUM: `stm` transcripts that point into NIST sphere recordings."""

    words = f"dataset_dir, release, usage=None, extensions=None, {COMMON}, {SAMPLED}"

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, release: str, usage: str | None, extensions: str | None
    ) -> Data:
        choice(self, "release", release, ("release1", "release2", "release3"))
        every = ("all",) if release == "release3" else ("train", "test", "dev", "all")
        choice(self, "usage", usage or "all", every)
        parts = ["data"] if release == "release3" else [p for p in every[:-1] if usage in (None, "all", p)]
        rows: list[tuple[Any, ...]] = []
        for place in (Path(dataset_dir, part) for part in parts):
            for path in files_in(place / "stm", [".stm"]):
                recording = str(place / "sph" / f"{path.stem}{extensions or '.sph'}")
                for span, *cells in parsed(path, self._piece, "talk, channel, speaker, begin, end, identifier, words"):
                    rows.append(((recording, *span), *cells))
        return Talks((*SOUND, "transcript", "talk_id", "speaker_id", "identifier"), rows, (text,) * 4)

    @staticmethod
    def _piece(line: str) -> tuple[Any, ...]:
        talk, _, speaker, begin, end, identifier, *words = line.split(" ", 6)
        if not 0 <= float(begin) <= float(end):
            raise ValueError(line)
        return (float(begin), float(end)), " ".join(words), talk, speaker, identifier


class Talks(Recordings):
    """Pieces of long recordings in NIST sphere files of 16-bit samples."""

    def fetch(self, index: int) -> Row:
        (path, begin, end), *rest = self.rows[index]
        rate, order, start = sphere(path)
        count = round((end - begin) * rate)
        believed(4 * count, "a recording", file=path)
        with os.fdopen(opened(path), "rb") as file:
            file.seek(start + 2 * round(begin * rate))
            raw = file.read(2 * count)
        if len(raw) < 2 * count:
            given = {"file": path, "samples": count, "there are": len(raw) // 2}
            raise DataError(f"a recording ends before second {end}", given=given)
        waveform = (np.frombuffer(raw, f"{order}i2") / SCALES[2]).astype(np.float32)[None]
        cells = [load(cell) for load, cell in zip(self.loaders, rest, strict=True)]
        return (waveform, self.rated(rate), *cells)

    def where(self, index: int) -> str:
        path, begin, end = self.rows[index][0]
        return f"{path}, seconds {begin} to {end}"


def sphere(path: str) -> tuple[int, str, int]:
    """Rate, byte order, and where the samples begin, from the head of a sphere file."""
    try:
        with os.fdopen(opened(path), "rb") as file:
            head = file.read(1024)
    except OSError as error:
        raise DataError(f"a recording is missing: {error.strerror}", given={"file": path}) from error
    lines = head.decode("ascii", "replace").split("\n")
    if lines[0] != "NIST_1A" or len(lines) < 2 or not lines[1].strip().isdigit():
        raise DataError("this is not a sphere file", given={"file": path})
    told = {c[0]: c[2] for c in (line.split() for line in lines) if len(c) > 2}
    coding = told.get("sample_coding", "pcm")
    if coding != "pcm" or told.get("sample_n_bytes", "2") != "2" or told.get("channel_count", "1") != "1":
        hint = "convert it: sph2pipe -f sph -p"
        given = {"file": path, **told}
        raise DataError("only sphere files of one channel of 16-bit samples can be read", given=given, hint=hint)
    rate, order = told.get("sample_rate", "16000"), told.get("sample_byte_format", "10")
    if not rate.isdigit():
        raise DataError(f"a sphere file has the rate {rate!r}", given={"file": path})
    return int(rate), "<" if order == "01" else ">", int(lines[1])
