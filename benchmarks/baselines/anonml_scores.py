"""Run by another Python, for benchmarks.anonml: FOLDER/NAME.npz, scores of four classifiers.

Models and settings are those of fhstp/k-AnonML. A file holds training rows `a` with labels `b`
and test rows `c` with labels `d`.
"""

import json
import sys
from pathlib import Path


def classifiers():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import LinearSVC
    from xgboost import XGBClassifier

    return {
        "RF": RandomForestClassifier(
            n_estimators=300, min_samples_split=5, max_depth=10, random_state=10, n_jobs=2
        ),
        "XGB": XGBClassifier(
            learning_rate=0.1,
            colsample_bylevel=0.9,
            colsample_bytree=0.9,
            subsample=0.9,
            reg_lambda=1.5,
            max_depth=5,
            n_estimators=100,
            random_state=10,
            n_jobs=2,
        ),
        "kNN": KNeighborsClassifier(n_neighbors=10, n_jobs=2),
        "SVM": LinearSVC(max_iter=1000, dual=False),
    }


def main(path):
    import numpy as np
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.preprocessing import MinMaxScaler

    with np.load(path) as parts:
        a, b, c, d = (parts[name] for name in "abcd")
    scaler = MinMaxScaler().fit(np.vstack([a, c]))  # of all rows, as they do
    a, c = scaler.transform(a), scaler.transform(c)
    found = {}
    for name, model in classifiers().items():
        said = model.fit(a, b).predict(c)
        found[name] = accuracy_score(d, said), f1_score(d, said, average="macro")
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
