"""Tune an MLP as Optuna's PyTorch example does, with torch, Optuna and nothing of this project.

Arguments: prepared data, epochs of a whole trial, seed, file for the results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import optuna
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

CONFIGURATIONS = 27


class Objective:
    """Trains the configuration of a trial, and keeps the model unless the trial is pruned."""

    def __init__(self, data: dict[str, Tensor], epochs: int) -> None:
        self.data = data
        self.train = TensorDataset(data["train.inputs"], data["train.labels"])
        self.epochs = epochs
        self.models: dict[int, nn.Module] = {}

    def __call__(self, trial: optuna.Trial) -> float:
        model = self.model(trial)
        rate = trial.suggest_float("learning_rate", 0.001, 0.01)
        if trial.suggest_categorical("optimizer", ["adam", "sgd"]) == "adam":
            optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        schedule = self.schedule(trial, optimizer)
        batch_size = trial.suggest_categorical("batch_size", [16, 32, 64])
        loader = DataLoader(self.train, batch_size=batch_size, shuffle=True)
        for epoch in range(1, self.epochs + 1):
            model.train()
            for inputs, labels in loader:
                optimizer.zero_grad()
                cross_entropy(model(inputs), labels).backward()
                optimizer.step()
            schedule.step()
            score = self.accuracy(model, "validation")
            trial.report(score, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned
        self.models[trial.number] = model
        return score

    def model(self, trial: optuna.Trial) -> nn.Module:
        hidden1 = trial.suggest_categorical("hidden1", [150, 200, 250, 300])
        hidden2 = trial.suggest_categorical("hidden2", [150, 200, 250, 300])
        features = self.data["train.inputs"].shape[1]
        classes = int(self.data["train.labels"].max()) + 1
        return nn.Sequential(
            nn.Linear(features, hidden1),
            nn.ReLU(),
            nn.Linear(hidden1, hidden2),
            nn.ReLU(),
            nn.Linear(hidden2, classes),
        )

    def schedule(
        self, trial: optuna.Trial, optimizer: torch.optim.Optimizer
    ) -> torch.optim.lr_scheduler.LRScheduler:
        schedules = torch.optim.lr_scheduler
        name = trial.suggest_categorical("schedule", ["none", "cosine", "step"])
        if name == "cosine":
            return schedules.CosineAnnealingLR(optimizer, T_max=self.epochs)
        if name == "step":
            return schedules.StepLR(optimizer, step_size=20, gamma=0.05)
        return schedules.ConstantLR(optimizer, factor=1.0)

    @torch.no_grad()
    def accuracy(self, model: nn.Module, split: str) -> float:
        model.eval()
        predicted = model(self.data[f"{split}.inputs"]).argmax(dim=1)
        return (predicted == self.data[f"{split}.labels"]).double().mean().item()


def main() -> None:
    data, epochs, seed = load_file(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    study = optuna.create_study(
        study_name=f"seed-{seed}",  # the pruner draws brackets from the name
        direction="maximize",
        sampler=optuna.samplers.RandomSampler(seed),
        pruner=optuna.pruners.HyperbandPruner(1, epochs, reduction_factor=3),
    )
    objective = Objective(data, epochs)
    study.optimize(objective, n_trials=CONFIGURATIONS)
    best = objective.models[study.best_trial.number]
    trained = sum(len(trial.intermediate_values) for trial in study.trials)
    results = {"epochs": trained, "test accuracy": objective.accuracy(best, "test")}
    Path(sys.argv[4]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
