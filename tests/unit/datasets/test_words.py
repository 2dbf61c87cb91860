"""Raw text as words, as GloVe writes them."""

import pytest

from automata.datasets.words import tokenise


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It works!", "it works !"),
        ("I don't know.", "i do n't know ."),
        ("John's dogs' bones", "john 's dogs ' bones"),
        ("It\N{RIGHT SINGLE QUOTATION MARK}s", "it 's"),
        ("We CANNOT (really) go", "we can not ( really ) go"),
        ('He said "go" twice', "he said `` go '' twice"),
        ("One. Two.", "one . two ."),
        ("wait... what?", "wait ... what ?"),
        ("a<br />b &amp; c&nbsp;d", "a b & c d"),
        ("costs $3.50, not 1,000", "costs $ 3.50 , not 1,000"),
        ("好的,I LOVE 东京タワー。", "好 的 , i love 东 京 タ ワ ー 。"),
        ("ไทย 1,000", "ไ ท ย 1,000"),
        ("한국어 좋아", "한국어 좋아"),
        ("Ça coûte 3 €, 😃", "ça coûte 3 € , 😃"),
    ],
)
def test_words_are_penn_treebanks_in_lower_case(text, words):
    assert tokenise(text) == words.split()
