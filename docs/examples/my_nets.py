"""A model of your own for texts: a bag of words."""

from torch import nn


class BagOfWords(nn.Module):
    def __init__(self, vectors, width, classes, dropout):
        super().__init__()
        self.embedding = nn.EmbeddingBag.from_pretrained(vectors, freeze=False, padding_idx=0)
        self.body = nn.Sequential(
            nn.Linear(vectors.shape[1], width), nn.ReLU(), nn.Dropout(dropout)
        )
        self.head = nn.Linear(width, classes)

    def features(self, inputs):
        return self.body(self.embedding(inputs))


def build(dataset, configuration, dropout):
    vectors = dataset.extras["vectors"]
    return BagOfWords(vectors, configuration["width"], dataset.classes, dropout)
