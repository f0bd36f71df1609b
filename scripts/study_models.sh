#!/usr/bin/env bash
# Further studies of docs/results/policies.md, after study_policies.sh: each trains, evaluates
# and prints a table. Hours on two cores; interrupted trainings and evaluations resume.
#
#     scripts/study_models.sh OUT STUDY
#
# STUDY: control (tokens shuffled in time), tokens (vocabulary size J and memory length M), models
# (RDT, CogACT and pi0), four_rules, twenty_rules (one policy of two levels for all rules and safes,
# 50 demonstrations of each rule; DEMONSTRATIONS, SEEDS, EPISODES change the work), memories
# (further memories for the skills of twenty_rules).
set -euo pipefail
out=${1:?usage: scripts/study_models.sh OUT STUDY} study=${2:?usage: scripts/study_models.sh OUT STUDY}
results=$out/results on_safe=(--safes safe_02 --split train)
data=$out/data_all cache=$out/cache_all
evaluation=(--step-seconds 12 --films 0)

# Train a policy on rule_020 with the settings of study_policies.sh; evaluate it on a split.
dp3() {
    name=$1 seed=$2 split=$3
    rulesafe policy train "$out/demos_rule_020" --policy dp3 --memory vq "${@:4}" --steps 8000 \
        --seed "$seed" --cache "$out/cache_rule_020" --out "$out/policies/$name"
    rulesafe eval --policy "$out/policies/$name" --rules rule_020 --safes safe_02 --split "$split" \
        "${evaluation[@]}" --episodes 50 --out "$results/${name}_$split"
}

control() {
    rulesafe eval --policy "$out/policies/rule_020_vq_1" --rules rule_020 "${on_safe[@]}" \
        --step-seconds 12 --memory-control shuffled --episodes 12 --out "$out/shuffled"
}

tokens() {
    for j in 2 32 256; do dp3 "rule_020_vq${j}_0" 0 shifted --clusters "$j"; done
    dp3 rule_020_vq32_0 0 train --clusters 32
    dp3 rule_020_vqM20_0 0 shifted --clusters 4 --length 20
    dp3 rule_020_vqM60_1 1 shifted --clusters 4 --length 60
    rulesafe eval table "$results"/rule_020_{vq2,vq,vq32,vq256}_0_shifted
    rulesafe eval table "$results"/rule_020_{vqM20,vq}_0_shifted
    rulesafe eval table "$results"/rule_020_{vq,vqM60}_1_shifted
}

models() {
    for family in rdt cogact pi0; do
        for memory in none "vq --clusters 4"; do
            name=rule_020_${family}b_${memory%% *}_0
            # shellcheck disable=SC2086 # memory may be an option, too
            rulesafe policy train "$out/demos_rule_020" --policy $family --memory $memory \
                --steps 16000 --batch 16 --cache "$out/cache_rule_020" --out "$out/policies/$name"
            rulesafe eval --policy "$out/policies/$name" --rules rule_020 "${on_safe[@]}" \
                "${evaluation[@]}" --episodes 50 --out "$results/${name}_train"
            rulesafe policy open-loop "$out/policies/$name" "$out/demos_rule_020" --episodes 6
        done
        rulesafe eval table "$results"/rule_020_${family}b_{none,vq}_0_train
    done
}

four_rules() {
    rules=rule_001,rule_002,rule_003,rule_005
    rulesafe demos generate --rules $rules --episodes 50 "${on_safe[@]}" --style strict \
        --passes states --workers 2 --out "$out/demos_four"
    rulesafe demos render "$out/demos_four" --observations points --workers 2
    for family in rdt pi0; do
        for memory in none "vq --clusters 4"; do
            name=four_${family}_${memory%% *}_0
            # shellcheck disable=SC2086
            rulesafe policy train "$out/demos_four" --policy $family --memory $memory \
                --steps 12000 --batch 16 --cache "$out/cache_four" --out "$out/policies/$name"
            rulesafe eval --policy "$out/policies/$name" --rules $rules "${on_safe[@]}" \
                "${evaluation[@]}" --episodes 25 --out "$results/${name}_train"
        done
        rulesafe eval compare "$results"/four_${family}_{none,vq}_0_train
    done
}

twenty_rules() {
    demos=$out/demos_all
    rulesafe demos generate --rules all --episodes "${DEMONSTRATIONS:-50}" --split nominal \
        --style strict --passes states --workers 2 --out "$demos"
    rulesafe demos render "$demos" --observations points --camera-rate 1 --workers 2 --out "$data"
    for seed in ${SEEDS:-0}; do
        skills=$out/policies/skills_$seed
        rulesafe policy train "$data" --policy skills --memory none \
            --seed "$seed" --cache "$cache" --out "$skills"
        all_rules "$skills" "skills_$seed"
        for memory in none raw vq; do
            two_levels "$seed" "$memory" "$memory"
        done
    done
    rulesafe eval table "$results"/all_*
}

memories() {
    controls=vq_memory_node.controls
    for seed in ${SEEDS:-0}; do
        for j in 2 32 256; do two_levels "$seed" "vq_J$j" vq --clusters "$j"; done
        for m in 20 60; do two_levels "$seed" "vq_M$m" vq --length "$m"; done
        two_levels "$seed" vq_all_joints vq --memory-model all_rules
        two_levels "$seed" time $controls:ElapsedTime
        two_levels "$seed" grasp $controls:GraspBit
        two_levels "$seed" random $controls:RandomClusters
    done
    rulesafe eval table "$results"/all_*
}

# Train and evaluate the upper level with a memory: two_levels SEED NAME MEMORY OPTION...
two_levels() {
    name=all_$2_$1
    rulesafe policy train "$data" --policy two_level --skills "$out/policies/skills_$1" \
        --memory "${@:3}" --steps 6000 --seed "$1" --cache "$cache" --out "$out/policies/$name"
    all_rules "$out/policies/$name" "$name"
}

# Evaluate a policy under all rules, on all safes at the poses of the demonstrations.
all_rules() {
    rulesafe eval --policy "$1" --rules all --safes all --split nominal "${evaluation[@]}" \
        --episodes "${EPISODES:-20}" --workers 2 --out "$results/$2_nominal"
}

case $study in
control | tokens | models | four_rules | twenty_rules | memories) "$study" ;;
*)
    echo "unknown study '$study'; valid: control, tokens, models, four_rules, twenty_rules," \
        "memories" >&2
    exit 2
    ;;
esac
