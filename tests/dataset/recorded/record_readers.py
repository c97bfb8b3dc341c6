"""Record what MindSpore 2.10 reads in every case: `python record_readers.py` in an environment that has it and SciPy.

Writes recorded_readers.json one folder up: what a case answers, or what MindSpore said when it refused.
"""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import published  # noqa: E402  # found by the line above


def main() -> None:
    import mindspore.dataset as ds

    ds.config.set_num_parallel_workers(1)
    recorded = {}
    with tempfile.TemporaryDirectory() as place:
        for case in published.CASES + published.SOURCES:
            try:
                root = pathlib.Path(place, case[1].__name__ + str(case[1].__closure__ and case[0]))
                dataset = published.opened(ds, case, root) if hasattr(ds, case[0]) else None
                if dataset is not None:
                    recorded[published.key(case)] = published.told(dataset)
            except Exception as error:
                said = str(error).partition("Error Message:")[2] or str(error)
                recorded[published.key(case)] = {
                    "refused": " ".join(said.replace(place, "").strip("- \n").split())[:300]
                }
    told = ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in recorded.items())
    HERE.with_name("recorded_readers.json").write_text(f"{{\n{told}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
