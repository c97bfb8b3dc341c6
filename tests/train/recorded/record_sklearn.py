"""Ask scikit-learn what MindSpore cannot tell: `python record_sklearn.py` in its environment writes sklearn.npz."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def scores(seed, count, classes):
    """Scores with ties, and labels."""
    rng = np.random.default_rng(seed)
    x = rng.random((count, classes)).round(1) + 0.05
    return x / x.sum(1, keepdims=True), np.arange(count) % classes


def main() -> None:
    """Write sklearn.npz."""
    from sklearn import metrics as sk  # of another environment

    x, y = scores(1, 40, 3)
    kept = {}
    for c in range(3):
        fpr, tpr, _ = sk.roc_curve(y == c, x[:, c], drop_intermediate=False)
        kept |= {f"fpr{c}": fpr, f"tpr{c}": tpr, f"auc{c}": sk.auc(fpr, tpr)}
    said = x.argmax(1)
    kept["precision"] = sk.precision_score(y, said, average=None)
    kept["recall"] = sk.recall_score(y, said, average=None)
    kept["fbeta2"] = sk.fbeta_score(y, said, beta=2, average=None)
    kept["accuracy"] = sk.accuracy_score(y, said)
    kept["top2"] = sk.top_k_accuracy_score(y, x + np.arange(3) * 1e-6, k=2)  # without ties
    kept["confusion"] = sk.confusion_matrix(y, said, normalize="true")
    kept["matthews"] = sk.matthews_corrcoef(y == 1, said == 1)
    kept["several"] = sk.precision_score(x > 0.3, x[::-1] > 0.3, average="samples", zero_division=0)
    kept["log_loss"] = sk.log_loss(y, x)
    kept["similar"] = sk.pairwise.cosine_similarity(x[:5])
    np.savez_compressed(HERE / "sklearn.npz", **kept)


if __name__ == "__main__":
    main()
