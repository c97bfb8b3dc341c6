"""Let MindSpore save what `checkpoint_cases` makes: `python record_checkpoints.py` in its environment.

python record_checkpoints.py                write the files and what MindSpore says of them, to checkpoints/
python record_checkpoints.py read FOLDER    read files of ours there, and write what they hold to FOLDER/read.json
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent / "checkpoints"


def write() -> None:
    """Write files of MindSpore, and what they stand for."""
    import checkpoint_cases as cases
    import mindspore as ms  # of another environment

    def named(held: dict) -> list:
        return [{"name": name, "data": tensor} for name, tensor in held.items()]

    for old in HERE.glob("*"):
        old.unlink()
    net = cases.changed(ms, cases.layers(ms))
    ms.save_checkpoint(net, str(HERE / "layers.ckpt"))
    ms.save_checkpoint(net, str(HERE / "layers.safetensors"), format="safetensors", crc_check=True)
    ms.save_checkpoint(net, str(HERE / "checked.ckpt"), crc_check=True)
    for mode in ("AES-GCM", "AES-CBC"):
        ms.save_checkpoint(
            [{"name": "w", "data": ms.Tensor([1.0, 2.0])}], str(HERE / f"{mode}.ckpt"), enc_key=cases.KEY, enc_mode=mode
        )
    ms.save_checkpoint(
        [{"name": "w", "data": ms.Tensor([1.0, 2.0])}], str(HERE / "both.ckpt"), enc_key=cases.KEY, crc_check=True
    )
    ms.save_checkpoint(named(cases.tensors(ms)), str(HERE / "types.ckpt"))
    held = {k: v for k, v in cases.tensors(ms).items() if v.dtype != ms.bfloat16}
    ms.save_checkpoint(named(held), str(HERE / "types.safetensors"), format="safetensors")
    arrays = {f"layer.{name}": out for name, out in cases.outputs(ms, net).items()}
    trainee, step = cases.training(ms)
    losses = cases.trained(ms, step, 3)
    ms.save_checkpoint(step, str(HERE / "training.ckpt"), append_dict=cases.added(ms))
    losses += cases.trained(ms, step, 3, first=3)
    arrays["losses"] = np.array(losses)
    arrays |= {f"end.{p.name}": p.asnumpy() for p in step.get_parameters()}
    arrays["prediction"] = trainee.set_train(False)(ms.Tensor(cases.numbers(2, 1, 4, 4, seed=7))).asnumpy()
    for name in cases.OPTIMIZERS:
        held = cases.Held(ms, name)
        held.steps(0, 3)
        ms.save_checkpoint(held.cell, str(HERE / f"optimizer.{name}.ckpt"))
        arrays |= {f"{name}.{k}": w for k, w in held.steps(3, 6).items()}
    np.savez_compressed(HERE / "said.npz", **arrays)
    read = {f.name: cases.seen(ms.load_checkpoint(str(f))) for f in sorted(HERE.glob("t*.ckpt"))}
    (HERE / "said.json").write_text(json.dumps(read, indent=0) + "\n")
    for file in HERE.glob("*"):
        file.chmod(0o644)
        print(file.name, file.stat().st_size)
    print("MindSpore", ms.__version__)


def read(folder: Path) -> None:
    """Read files of ours, go on with their training, and tell what they hold."""
    import checkpoint_cases as cases
    import mindspore as ms  # of another environment

    told = {}
    for file in sorted(folder.glob("*.*")):
        options = {"dec_key": cases.KEY} if file.name.startswith("hidden") else {}
        if file.suffix == ".safetensors":
            options["format"] = "safetensors"
        try:
            told[file.name] = cases.seen(ms.load_checkpoint(str(file), **options))
        except Exception as error:
            told[file.name] = repr(error)
    net = cases.layers(ms)
    left = ms.load_param_into_net(net, ms.load_checkpoint(str(folder / "layers.ckpt")))
    told["left"] = [sorted(names) for names in left]
    _, step = cases.training(ms)
    told["left of training"] = ms.load_param_into_net(step, ms.load_checkpoint(str(folder / "training.ckpt")))
    told["losses"] = cases.trained(ms, step, 3, first=3)
    arrays = cases.outputs(ms, net)
    for name in cases.OPTIMIZERS:
        held = cases.Held(ms, name)
        file = str(folder / f"optimizer.{name}.ckpt")
        told[f"left of {name}"] = ms.load_param_into_net(held.cell, ms.load_checkpoint(file))
        arrays |= {f"{name}.{k}": w for k, w in held.steps(3, 6).items()}
    np.savez(folder / "outputs.npz", **arrays)
    (folder / "read.json").write_text(json.dumps(told))


if __name__ == "__main__":
    read(Path(sys.argv[2])) if sys.argv[1:2] == ["read"] else write()
