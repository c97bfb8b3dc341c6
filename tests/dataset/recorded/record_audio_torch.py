"""Record what torchaudio 2.11 (torch 2.13) answers for the cases of audio_torch_cases.py: writes audio_torch.npz."""

import pathlib

import numpy as np
from audio_cases import inputs
from audio_torch_cases import CASES


def main() -> None:
    import torch
    import torchaudio.functional as F

    arrays = inputs()
    recorded = {}
    for name, (_, expression, given, _) in CASES.items():
        scope = {"F": F, "torch": torch, "x": torch.from_numpy(arrays[given].copy())}
        recorded[name] = eval(expression, scope).numpy()
    np.savez_compressed(pathlib.Path(__file__).with_name("audio_torch.npz"), **recorded)


if __name__ == "__main__":
    main()
