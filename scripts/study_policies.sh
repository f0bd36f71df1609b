#!/usr/bin/env bash
# Compare memories: demonstrations, trainings and evaluations of DP3-SF on one safe without memory,
# with the raw joint-position history and with tokens, and a page of results, OUT/policies.md. Takes
# hours on two cores; the same command resumes an interrupted run.
#
#     scripts/study_policies.sh OUT [WORKERS]
#
# RULES, MEMORIES, SEEDS, DEMONSTRATIONS, STEPS and EPISODES in the environment reduce the work.
set -euo pipefail
out=${1:?usage: scripts/study_policies.sh OUT [WORKERS]}
workers=${2:-2}
rules=${RULES:-rule_001 rule_020}
memories=${MEMORIES:-none raw vq}
seeds=${SEEDS:-0 1}
demonstrations=${DEMONSTRATIONS:-100}
episodes=${EPISODES:-50}
export OMP_NUM_THREADS=1 # as many processes as cores
mkdir -p "$out"

for rule in $rules; do
    rulesafe demos generate --rules "$rule" --episodes "$demonstrations" --safes safe_02 \
        --split train --style strict --passes states --workers "$workers" --out "$out/demos_$rule"
    rulesafe demos render "$out/demos_$rule" --observations points --workers "$workers"
    # Decode the point clouds once, before trainings that share the cache start in parallel.
    rulesafe policy train "$out/demos_$rule" --policy dp3 --memory none --steps 1 \
        --cache "$out/cache_$rule" --out "$out/warm_$rule"
done

# Train a policy, and evaluate it on poses in and out of the distribution of the demonstrations.
study() {
    rule=$1 memory=$2 seed=$3 name=$1_$2_$3
    steps=${STEPS:-8000} settings=()
    if [[ $rule == rule_001 ]]; then steps=${STEPS:-5000}; fi
    if [[ $memory == vq ]]; then settings=(--clusters 4); fi
    rulesafe policy train "$out/demos_$rule" --policy dp3 --memory "$memory" "${settings[@]}" \
        --steps "$steps" --seed "$seed" --cache "$out/cache_$rule" --out "$out/policies/$name"
    for split in train shifted; do
        rulesafe eval --policy "$out/policies/$name" --rules "$rule" --safes safe_02 --split "$split" \
            --step-seconds 12 --episodes "$episodes" --films 0 --out "$out/results/${name}_$split"
    done
}
export out episodes
export -f study

for seed in $seeds; do
    for rule in $rules; do
        for memory in $memories; do
            printf '%s %s %s\n' "$rule" "$memory" "$seed"
        done
    done
done | xargs -P "$workers" -L 1 bash -c 'set -euo pipefail; study "$@" >"$out/$1_$2_$3.log" 2>&1' study

rulesafe eval table "$out"/results/* --out "$out/policies.md"
