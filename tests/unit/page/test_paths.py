from automata.page.paths import brief


def test_seeds_of_one_combination_share_a_line():
    records = [f"runs/dna/full-1/seed-{seed}/record.json" for seed in (10, 0, 2)]
    assert brief(records) == ["runs/dna/full-1/seed-{0,2,10}/record.json"]


def test_single_seed_and_foreign_names_stay_as_they_are():
    records = ["z.json", "runs/dna/full-1/seed-3/record.json"]
    assert brief(records) == ["runs/dna/full-1/seed-3/record.json", "z.json"]
