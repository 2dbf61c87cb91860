#!/usr/bin/env bash
# Wall seconds of the second study, docs/study-2.md: bash wall.sh SLOTS, in a fresh clone at the study's
# commit with the `data/` of its runs. It adds lines to wall.csv; call it again to go on.
set -euo pipefail
slots=$1
if [ -e results/runs ] && [ ! -e wall.csv ]; then
    echo "results/runs: these runs would be removed; use a fresh clone" >&2
    exit 1
fi
[ -e wall.csv ] || echo set,way,slots,seconds > wall.csv
printf 'seeds: [0]\ncompute: {concurrent_trials: %s}\n' "$slots" > wall.yaml
for name in vietnam-urban run-sex loans-term flights-origin packages images; do
    for way in A B D E; do
        if grep -qs "^$name,$way,$slots," wall.csv; then continue; fi
        rm -rf "results/runs/$name" "results/work/$name" "results/$name-${way,,}" # of an interrupted one
        run=(snakemake --cores all --quiet host progress reason rules --configfile "data/$name-$way.yaml" wall.yaml)
        "${run[@]}" --until prepare
        "${run[@]}" --until fit_baselines # else the first way of each data set would pay for all
        began=$(date +%s.%N)
        "${run[@]}"
        seconds=$(python -c "import time; print(round(time.time() - $began, 1))")
        echo "$name,$way,$slots,$seconds" | tee -a wall.csv
    done
done
