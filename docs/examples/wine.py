"""Tune a classifier of wines, and keep the model."""

from sklearn.datasets import load_wine

import automata

wines = load_wine(as_frame=True).frame
tuned = automata.tune(wines, target="target", metric="balanced_accuracy", minutes=1)

if __name__ == "__main__":
    print("best:", tuned.configuration)
    print("balanced accuracy on test rows:", tuned.record.test.balanced_accuracy)
    print("seconds:", round(tuned.wall_seconds, 1), "joules:", tuned.energy_joules)
    print(tuned.trials.sort_values("score", ascending=False).head())
    print(tuned.predict(wines.head()))  # the classes of new rows
    tuned.save("wine")  # automata.load("wine") reads it again
