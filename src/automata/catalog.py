"""The data sets and their official files, as in the paper's appendix.

It imports only light modules, because the workflow reads it to plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from automata.registry import Kind


@dataclass(frozen=True)
class RemoteFile:
    """A file of an official source."""

    url: str
    checksum: str | None = None
    """"sha256:..." or "md5:..."; None if the source publishes none."""
    megabytes: int = 1
    """Approximate size; a download may have twice as much."""

    @property
    def name(self) -> str:
        """The official file name; a mirror uses it too."""
        return self.url.rsplit("/", 1)[1]


@dataclass(frozen=True)
class DatasetSpec:
    """One data set; `train`, `validation` and `test` are counts of rows (paper, appendix)."""

    kind: Kind
    classes: int
    train: int
    validation: int
    test: int
    loader: str
    """`module:function` in this package; it gets the name and the paths of the files."""
    files: tuple[str, ...] = ()
    """Names in FILES."""
    flip: bool = True
    """Whether a mirrored image keeps its class."""


_TREC = "https://cogcomp.seas.upenn.edu/Data/QA/QC"
_CIFAR = "https://www.cs.toronto.edu/~kriz"
_SVHN = "http://ufldl.stanford.edu/housenumbers"

_FILES = (
    RemoteFile(
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/connect-4",
        "sha256:6fd5ca7fb3d027ab19412a3ee4af7f9198a699064bc478cfc915b208a7addcac",
        15,
    ),
    RemoteFile(
        "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
        "sha256:5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
    ),
    RemoteFile("https://nlp.stanford.edu/~socherr/stanfordSentimentTreebank.zip", megabytes=6),
    RemoteFile(
        "https://dl.fbaipublicfiles.com/glue/data/SST-2.zip",
        "sha256:d67e16fb55739c1b32cdce9877596db1c127dc322d93c082281f64057c16deaa",
        7,
    ),
    RemoteFile(
        f"{_TREC}/train_5500.label",
        "sha256:9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
    ),
    RemoteFile(
        f"{_TREC}/TREC_10.label",
        "sha256:033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
    ),
    RemoteFile(f"{_CIFAR}/cifar-10-python.tar.gz", "md5:c58f30108f718f92721af3b95e74349a", 170),
    RemoteFile(f"{_CIFAR}/cifar-100-python.tar.gz", "md5:eb9058c3a382ffc7106e4002c42a8d85", 169),
    RemoteFile(f"{_SVHN}/train_32x32.mat", "md5:e26dedcc434d2e4c54c9b2d4a06d8373", 182),
    RemoteFile(f"{_SVHN}/test_32x32.mat", "md5:eb5a983be6a315427106f1b164d9cef3", 64),
    RemoteFile("https://nlp.stanford.edu/data/glove.6B.zip", megabytes=862),
)

FILES: dict[str, RemoteFile] = {file.name: file for file in _FILES}
"""Official files by name; the sources of CIFAR and SVHN publish only MD5 checksums."""

_TREES = ("trainDevTestTrees_PTB.zip",)
_QUESTIONS = ("train_5500.label", "TREC_10.label")
_DIGITS = ("train_32x32.mat", "test_32x32.mat")

DATASETS: dict[str, DatasetSpec] = {
    "dna": DatasetSpec("tabular", 3, 1400, 600, 1186, "readers:packaged"),
    "satimage": DatasetSpec("tabular", 6, 3104, 1331, 2000, "readers:packaged"),
    "letter": DatasetSpec("tabular", 26, 10500, 4500, 5000, "readers:packaged"),
    # Shares of the paper's appendix; the authors' code draws 10 %, and then 10 % of what remains.
    "connect4": DatasetSpec("tabular", 3, 47290, 6756, 13511, "readers:connect4", ("connect-4",)),
    "sst2": DatasetSpec("text", 2, 8544, 1101, 2210, "sst:sst2", _TREES),
    "sst2-binary": DatasetSpec("text", 2, 6920, 872, 1821, "sst:sst2_binary", _TREES),
    "sst5": DatasetSpec("text", 5, 8544, 1101, 2210, "sst:sst5", _TREES),
    "glue-sst2": DatasetSpec("text", 2, 63982, 872, 3367, "readers:glue", ("SST-2.zip",)),
    "trec6": DatasetSpec("text", 6, 4907, 545, 500, "readers:trec", _QUESTIONS),
    "cifar10": DatasetSpec(
        "image", 10, 45000, 5000, 10000, "readers:cifar10", ("cifar-10-python.tar.gz",)
    ),
    "cifar100": DatasetSpec(
        "image", 100, 45000, 5000, 10000, "readers:cifar100", ("cifar-100-python.tar.gz",)
    ),
    "svhn": DatasetSpec("image", 10, 65932, 7325, 26032, "readers:svhn", _DIGITS, flip=False),
}
