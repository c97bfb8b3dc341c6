"""Videos: frames, sound and timestamps, read with PyAV."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import choice, existing_file, number, sequence, text, whole
from mycelia.dataset.transforms.base import Array, TensorOperation, extra
from mycelia.dataset.vision.codec import encoded
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.frozen import frozen
from mycelia.mindrecord.limits import believed, largest

UNITS = ("pts", "sec")
# what a file may be taken for: there are playlists among the formats, which open other files and addresses
FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,ogg,asf,rm,nut,mxf,dv,swf,ivf,obu,gif,apng,"
    "h261,h263,h264,hevc,vvc,m4v,mjpeg,vc1,wav,w64,mp3,flac,aac,ac3,eac3,aiff,au,caf,amr,wv,tta,ape"
)
ALLOWED = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}


@contextmanager
def open_video(source: str | bytes) -> Iterator[Any]:
    """The streams of a video, from the path of a file or from its bytes; what the library raises is told."""
    av = extra("av", "av", "reading a video")
    most = {"max_pixels": str(largest() // 3)}
    try:
        where = io.BytesIO(source) if isinstance(source, bytes) else str(Path(source).absolute())
        with av.open(where, options=ALLOWED | most) as container:
            for stream in container.streams.video:
                stream.codec_context.options = most
            yield container
    except MyceliaError:
        raise
    except Exception as error:  # a damaged file may lack a rate, or change its size from frame to frame
        given = {"bytes": len(source)} if isinstance(source, bytes) else {"source": source}
        raise ArgumentError(f"not a video that can be read: {error}", given=given) from None


def check_unit(owner: str, pts_unit: Any) -> None:
    """Raise unless timestamps are asked for in a known unit."""
    choice(owner, "pts_unit", text(owner, "pts_unit", pts_unit), UNITS)


def frame_bytes(frame: Any) -> int:
    """What a frame takes as an array: three bytes a pixel, or its samples."""
    if hasattr(frame, "samples"):
        return int(frame.samples * len(frame.layout.channels) * frame.format.bytes)
    return int(3 * frame.width * frame.height)


def frames_between(container: Any, stream: Any, start: float, end: float, pts_unit: str) -> list[Any]:
    """The decoded frames of a stream whose timestamps lie within [start, end], in order of time."""
    unit = float(stream.time_base) if pts_unit == "sec" else 1.0
    container.seek(0)
    found, size = [], 0
    for frame in container.decode(stream):
        if frame.pts is not None and start <= frame.pts * unit <= end:
            size += frame_bytes(frame)
            believed(size, "a video, from its beginning to one of its frames,", file=container.name)
            found.append(frame)
    return sorted(found, key=lambda frame: frame.pts)


def pictures(container: Any, start: float = 0, end: float = math.inf, pts_unit: str = "pts") -> Array:
    """The frames of the first video stream, (T, H, W, 3)."""
    if not container.streams.video:
        return np.empty((0, 1, 1, 3), np.uint8)
    stream = container.streams.video[0]
    frames = [f.to_ndarray(format="rgb24") for f in frames_between(container, stream, start, end, pts_unit)]
    return np.stack(frames) if frames else np.empty((0, stream.height, stream.width, 3), np.uint8)


def sound(container: Any, start: float = 0, end: float = math.inf, pts_unit: str = "pts") -> Array:
    """The samples of the first audio stream, (channels, time)."""
    if not container.streams.audio:
        return np.empty((1, 0), np.float32)
    frames = frames_between(container, container.streams.audio[0], start, end, pts_unit)
    return np.concatenate([f.to_ndarray() for f in frames], 1) if frames else np.empty((1, 0), np.float32)


def read_video(
    filename: str, start_pts: float = 0, end_pts: float | None = None, pts_unit: str = "pts"
) -> tuple[Array, Array, dict[str, Any]]:
    """Frames (T, H, W, 3), sound (channels, time), and the rates of both, between two timestamps."""
    check_unit("read_video", pts_unit)
    start = number("read_video", "start_pts", start_pts, 0)
    end = math.inf if end_pts is None else number("read_video", "end_pts", end_pts, 0)
    if end < start:
        raise ArgumentError("end_pts lies before start_pts", given={"start_pts": start_pts, "end_pts": end_pts})
    with open_video(str(existing_file("read_video", "filename", filename))) as container:
        rates: dict[str, Any] = {}
        if container.streams.video:
            rates["video_fps"] = float(container.streams.video[0].average_rate)
        if container.streams.audio:
            rates["audio_fps"] = container.streams.audio[0].rate
        return pictures(container, start, end, pts_unit), sound(container, start, end, pts_unit), rates


def read_video_timestamps(filename: str, pts_unit: str = "pts") -> tuple[list[Any], float | None]:
    """The timestamps of all frames, and the frames per second; without a video stream, none."""
    check_unit("read_video_timestamps", pts_unit)
    with open_video(str(existing_file("read_video_timestamps", "filename", filename))) as container:
        if not container.streams.video:
            return [], None
        stream = container.streams.video[0]
        stamps = sorted(p.pts for p in container.demux(stream) if p.pts is not None)
        seconds = [float(t * stream.time_base) for t in stamps] if pts_unit == "sec" else stamps
        return seconds, float(stream.average_rate)


@frozen
class DecodeVideo(TensorOperation):
    """The bytes of a video file as frames (T, H, W, 3) and sound (channels, time).

    >>> DecodeVideo()
    DecodeVideo()
    """

    def apply(self, data: Array) -> tuple[Array, Array]:
        """Read from memory."""
        with open_video(encoded(data).tobytes()) as container:
            return pictures(container), sound(container)


class VideoDecoder:
    """Single frames of a video, by index, and what is known of it."""

    def __init__(self, source: str) -> None:
        self.source = str(existing_file(self, "filename", source))
        self._known = self._look()

    @property
    def metadata(self) -> dict[str, Any]:
        """Width, height, duration, number of frames and average rate of the first video stream."""
        return dict(self._known)

    def _look(self) -> dict[str, Any]:
        stamps, _ = read_video_timestamps(self.source)
        with open_video(self.source) as container:
            if not container.streams.video:
                raise ArgumentError("the file has no video stream", given={"source": self.source})
            stream = container.streams.video[0]
            whole = math.nan if container.duration is None else container.duration / 1e6  # microseconds
            duration = whole if stream.duration is None else stream.duration * stream.time_base
            return {
                "width": stream.width,
                "height": stream.height,
                "duration_seconds": round(float(duration), 6),
                "num_frames": stream.frames or len(stamps),
                "average_fps": float(stream.average_rate),
            }

    def get_frames_at(self, indices: list[int]) -> Array:
        """The frames at these indices, (T, H, W, 3)."""
        last = self._known["num_frames"] - 1
        wanted = [whole(self, "indices", i, 0, last) for i in sequence(self, "indices", indices)]
        shape = (len(wanted), self._known["height"], self._known["width"], 3)
        out = np.empty(believed(math.prod(shape), "frames of a video", file=self.source), np.uint8).reshape(shape)
        with open_video(self.source) as container:
            for i, frame in enumerate(container.decode(container.streams.video[0])):
                if i in wanted:
                    out[[k for k, w in enumerate(wanted) if w == i]] = frame.to_ndarray(format="rgb24")
                if i >= max(wanted, default=-1):
                    break
        return out
