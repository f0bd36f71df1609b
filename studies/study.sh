#!/usr/bin/env bash
# The studies of docs/results/policies.md and twenty_rules.md: demonstrations, trainings,
# evaluations and their tables. They take hours; the same command resumes an interrupted run, and
# gives the same tables.
#
#     studies/study.sh OUT STUDY...
#
# STUDY                 (estimated hours on two cores)
#   paper         (18)  the paper's tables 1 to 4: one_rule, models, network and tokens
#   one_rule       (4)  DP3-SF under one rule, on one safe: no memory, elapsed time, raw history,
#                       tokens (tables 1, 2)
#   models         (6)  RDT, CogACT and pi0 under rule_020, without memory, with elapsed time and
#                       tokens, pi0 with the raw history and under rule_001, too (tables 1, 2)
#   network        (7)  one network without stored demonstrations for all rules and safes, with each
#                       memory, 200 episodes for each of three trainings (table 3)
#   tokens         (1)  vocabulary size J and memory length M (table 4)
#   network_conditions
#                  (1)  the same, one training: camera images, poses unlike those of the
#                       demonstrations, disturbed memories, a part that is turned back
#   network_variants
#                  (4)  the same, other trainings: further memories, without disturbed memories, with
#                       demonstrations at other speeds
#   twenty_rules   (3)  one policy of two levels, which replays demonstrations, for all rules and
#                       safes
#   memories      (10)  further memories and controls for the policy of twenty_rules
#   lengths        (1)  memory length M under the sampled locks with a plan of ten steps that
#                       requires two bits of memory
#   robustness     (4)  the policy of twenty_rules with camera images, out of distribution, after a
#                       part was turned back, after motions that have nothing to do with the task,
#                       and with a memory that is shuffled, delayed, truncated, perturbed or that of
#                       another episode
#   generated      (2)  the policy of two levels trained on the generated locks of sampled_train,
#                       under these and under those of sampled_test
#   reading        (4)  the policy that reads, under the twenty rules, also with a part that is turned
#                       back, the locks of sampled_test and written_test; there also agents that do
#                       not read or have the expert's motions; the expert under all written locks
#   four_rules     (2)  RDT and pi0 under four rules
#   additions      (6)  DP3 under rule_001 without what this project adds to it, on one safe and on
#                       ten
#   control       (<1)  tokens shuffled in time
#
# `memories`, `lengths`, `generated` (both its skills) and `robustness` (training 0 with tokens)
# require twenty_rules, `network_conditions` and `network_variants` network, and `control` one_rule
# with the memory vq.
# WORKERS (2) processes run at once. In the environment, DEMONSTRATIONS, STEPS and EPISODES reduce
# the work of each study; RULES, MEMORIES and SEEDS (separated by spaces) that of one_rule,
# twenty_rules and network, RULES and SEEDS also that of memories, RULES and MEMORIES also that of
# robustness, network_conditions and network_variants.
set -euo pipefail
export studies=${RULESAFE_STUDIES:-python -m rulesafe_studies}
shopt -s nullglob # with reduced MEMORIES or SEEDS, some results do not exist
out=${1:?usage: studies/study.sh OUT STUDY...}
shift
workers=${WORKERS:-2} results=$out/results policies=$out/policies logs=$out/logs
export RULESAFE_ALLOW_MODULES=rulesafe_studies # policies name its memories
export OMP_NUM_THREADS=1 # as many processes as cores
mkdir -p "$logs"

usage() { sed -n '/^# STUDY/,/^set/s/^# \{0,1\}//p' "$0" >&2; }

# Run the commands of stdin, one per line, in WORKERS processes; each has a log.
parallel() {
    # shellcheck disable=SC2016 # expanded by the process of each command
    xargs -P "$workers" -L 1 bash -c \
        'name=$*; log=$logs/${name//[^A-Za-z0-9_]/_}.log
        bash -euo pipefail -c "\"\$@\"" command "$@" >"$log" 2>&1 || {
            echo "failed: $*; see $log" >&2
            exit 1
        }' command
}

# Train a policy: trained NAME DATA CACHE OPTION...
trained() {
    name=$1 data=$2 cache=$3
    rulesafe policy train "$out/$data" --cache "$out/$cache" --out "$policies/$name" "${@:4}"
}

# Set `memory` to the options of a named memory.
memory_named() {
    local controls=rulesafe_studies.controls keyframes=rulesafe_studies.keyframes
    case $1 in
    time) memory=("$controls:ElapsedTime") ;;
    grasp) memory=("$controls:GraspBit") ;;
    counter) memory=("$controls:StepCounter" --length 1) ;;
    joints) memory=("$controls:QuantisedJoints") ;;
    random) memory=("$controls:RandomClusters") ;;
    actions) memory=("$controls:PastActions") ;;
    raw_robot_frame) memory=("$controls:RobotFrameJoints") ;;
    releases) memory=("$keyframes:GraspKeyframes") ;;
    release_tokens) memory=("$keyframes:GraspTokens") ;;
    token_changes) memory=("$keyframes:TokenKeyframes") ;;
    oracle) memory=("$keyframes:OraclePhases") ;;
    fsq) memory=(vq --memory-model "$out/fsq") ;;
    gru | transformer) memory=(raw --size "$1") ;;
    scenes | sparse_scenes) memory=(none --size "$1") ;;
    vq*)
        memory=(vq)
        if [[ $1 != *_all_joints* ]]; then memory+=(--memory-model all_rules_hand); fi
        if [[ $1 == *_J* ]]; then memory+=(--clusters "${1##*_J}"); fi
        if [[ $1 == *_M* ]]; then memory+=(--length "${1##*_M}"); fi
        ;;
    *) memory=("$1") ;;
    esac
}

# Evaluate a policy, on safe_02 by default: evaluated NAME SPLIT EPISODES RULES [SAFES]
evaluated() {
    rulesafe eval --policy "$policies/$1" --rules "$4" --safes "${5:-safe_02}" --split "$2" \
        --episodes "${EPISODES:-$3}" --step-seconds 12 --films 0 --out "$results/$1_$2"
}

# Evaluate a policy under all rules and on all safes of a split: all_rules NAME SPLIT OPTION...
# The last word of the options is part of the name of the results.
all_rules() {
    last=${*: -1}
    on_all "$policies/$1" "$2" "$results/$1_$2${3:+_${last#--}}" "${@:3}"
}

on_all() { # POLICY SPLIT OUT OPTION...
    $studies eval --policy "$1" --rules "$all" --safes all --split "$2" \
        --episodes "${EPISODES:-10}" --films 0 --out "$3" "${@:4}"
}

# Write a table of evaluations: table NAME RESULT...
table() {
    rulesafe eval table "${@:2}" --out "$out/$1.md"
}

# Demonstrations, on safe_02 by default, whose point clouds are decoded once, before trainings share
# the cache.
demonstrations() { # NAME RULES EPISODES [SAFES SPLIT]
    rulesafe demos generate --rules "$2" --episodes "${DEMONSTRATIONS:-$3}" \
        --safes "${4:-safe_02}" --split "${5:-varied}" --style strict --passes states \
        --workers "$workers" --out "$out/demos_$1"
    rulesafe demos render "$out/demos_$1" --observations points --workers "$workers"
    trained "warm_$1" "demos_$1" "cache_$1" --policy dp3 --memory none --steps 1
}

one_rule() {
    for rule in ${RULES:-rule_001 rule_020}; do
        demonstrations "$rule" "$rule" 100
    done
    for seed in ${SEEDS:-0 1}; do
        for rule in ${RULES:-rule_001 rule_020}; do
            for memory in ${MEMORIES:-none time raw vq_all_joints}; do
                echo "dp3 $rule $memory $seed varied shifted"
            done
        done
    done | parallel
    found=()
    for memory in ${MEMORIES:-none time raw vq_all_joints}; do
        found+=("$results"/rule_0??_"$memory"_[0-9]*_*)
    done
    table tables_1_and_2 "${found[@]}"
}

dp3() { # RULE MEMORY SEED SPLIT...
    name=$1_$2_$3 steps=8000
    if [[ $1 == rule_001 ]]; then steps=5000; fi
    memory_named "$2"
    trained "$name" "demos_$1" "cache_$1" --policy dp3 --memory "${memory[@]}" \
        --steps "${STEPS:-$steps}" --seed "$3"
    for split in "${@:4}"; do
        evaluated "$name" "$split" 50 "$1"
    done
}

additions() {
    demonstrations rule_001 rule_001 100
    demonstrations ten_safes rule_001 100 all nominal
    augmentation="--jitter 0 --hand-jitter 0 --memory-warp 0"
    for data in "rule_001 safe_02 varied" "ten_safes all nominal"; do
        echo "dp3_without $data nothing"
        echo "dp3_without $data safe_frame --no-safe-frame"
        echo "dp3_without $data augmentation $augmentation"
        echo "dp3_without $data network --size published"
        echo "dp3_without $data all --size published --actions absolute $augmentation"
    done | parallel
    table additions \
        "$results"/{rule_001,ten_safes}_without_{nothing,safe_frame,augmentation,network,all}_*
}

dp3_without() { # DATA SAFES SPLIT NAME OPTION...
    name=$1_without_$4
    trained "$name" "demos_$1" "cache_$1" --policy dp3 --memory vq \
        --memory-model all_rules_hand --steps "${STEPS:-5000}" "${@:5}"
    evaluated "$name" "$3" 50 rule_001 "$2"
}

control() {
    $studies eval --policy "$policies/rule_020_vq_1" --rules rule_020 \
        --safes safe_02 --split varied --step-seconds 12 --memory-control shuffled --episodes 12 \
        --out "$out/shuffled"
}

tokens() {
    demonstrations rule_020 rule_020 100
    for name in vq_all_joints{_J2,,_J32,_J256,_M20,_M60}; do
        echo "dp3 rule_020 $name 0 shifted"
    done | parallel
    table table_4 "$results"/rule_020_vq_all_joints{_J2,,_J32,_J256}_0_shifted
    table table_4_lengths "$results"/rule_020_vq_all_joints{_M20,,_M60}_0_shifted
}

models() {
    for rule in rule_001 rule_020; do
        demonstrations "$rule" "$rule" 100
    done
    {
        for family in rdt cogact pi0; do
            for memory in none time vq_all_joints; do
                echo "model $family rule_020 $memory"
            done
        done
        echo "model pi0 rule_020 raw"
        for memory in none vq_all_joints; do
            echo "model pi0 rule_001 $memory"
        done
    } | parallel
    table tables_1_and_2_models "$results"/*_{rdt,cogact,pi0}_0_varied
}

model() { # FAMILY RULE MEMORY
    name=$2_$3_$1_0
    memory_named "$3"
    trained "$name" "demos_$2" "cache_$2" --policy "$1" --memory "${memory[@]}" \
        --steps "${STEPS:-16000}" --batch 16
    evaluated "$name" varied 50 "$2"
    rulesafe policy open-loop "$policies/$name" "$out/demos_$2" --episodes 6
}

four=rule_001,rule_002,rule_003,rule_005
four_rules() {
    demonstrations four "$four" 50
    for family in rdt pi0; do
        for memory in none "vq --memory-model all_rules_hand"; do
            echo "model_of_four $family $memory"
        done
    done | parallel
    for family in rdt pi0; do
        rulesafe eval compare "$results"/four_${family}_{none,vq}_0_varied
    done
}

model_of_four() { # FAMILY MEMORY OPTION...
    name=four_$1_$2_0
    trained "$name" demos_four cache_four --policy "$1" --memory "${@:2}" \
        --steps "${STEPS:-12000}" --batch 16
    evaluated "$name" varied 25 "$four"
}

# Demonstrations on all safes, with a point cloud per second:
# on_all_safes NAME RULES EPISODES [OPTION...]
on_all_safes() {
    rulesafe demos generate --rules "$2" --episodes "${DEMONSTRATIONS:-$3}" --split nominal \
        --style strict --passes states --workers "$workers" --out "$out/demos_$1" "${@:4}"
    rulesafe demos render "$out/demos_$1" --observations points --camera-rate 1 \
        --workers "$workers" --out "$out/data_$1"
}

twenty_rules() {
    on_all_safes all "$all" 50
    trained skills data_all cache_all --policy skills --memory none
    {
        echo memoryless
        echo "all_rules skills nominal"
        for seed in ${SEEDS:-0 1 2}; do
            for memory in ${MEMORIES:-none raw vq}; do
                echo "two_levels $seed $memory"
            done
        done
    } | parallel
    found=("$results"/{memoryless,skills}_nominal)
    for memory in ${MEMORIES:-none raw vq}; do
        found+=("$results"/all_"$memory"_[0-9]*_nominal)
    done
    table twenty_rules "${found[@]}"
}

# Networks that learn from demonstrations with misses, and from the expert's corrections of a first
# network.
network() {
    on_all_safes misses "$all" 50 --misses 0.3 --seed 1
    STEPS=${STEPS:-10000} demos=misses train_network 0 first vq_all_joints
    RULESAFE_CORRECTED=$policies/network_first_0 on_all_safes corrected "$all" 25 --seed 2 \
        --by rulesafe_studies.corrections:CorrectedPolicy
    $studies join "$out"/data_{misses,corrected} --out "$out/data_network"
    trained warm_network data_network cache_network --policy bc --memory none --steps 1
    for seed in ${SEEDS:-0 1 2}; do
        for memory in ${MEMORIES:-none time raw vq vq_all_joints}; do
            echo "one_network $seed $memory"
        done
    done | parallel
    found=() # without those of network_conditions and network_variants
    for memory in ${MEMORIES:-none time raw vq vq_all_joints}; do
        found+=("$results"/network_"$memory"_[0-9]*_nominal)
    done
    table table_3 "${found[@]}"
}

# Train the network with a memory, which is disturbed in 0.3 of the windows:
# train_network SEED NAME MEMORY [OPTION...]
train_network() {
    memory_named "$3"
    trained "network_$2_$1" "data_${demos:-network}" "cache_${demos:-network}" --policy bc \
        --memory "${memory[@]}" --memory-disturbance "${disturbed:-0.3}" \
        --steps "${STEPS:-15000}" --learning-rate 2e-3 --seed "$1" "${@:4}"
}

# Evaluate a network; each training at other poses: on_network SEED NAME SPLIT [OPTION...]
# The last word of the options is part of the name of the results.
on_network() {
    last=${*: -1}
    EPISODES=${EPISODES:-10} on_all "$policies/network_$2_$1" "$3" \
        "$results/network_$2_$1_$3${4:+_${last#--}}" \
        --execute 6 --seed $((${EPISODES:-10} * $1)) "${@:4}"
}

one_network() { # SEED MEMORY
    train_network "$1" "$2" "$2"
    on_network "$1" "$2" nominal
}

network_conditions() {
    for memory in ${MEMORIES:-none raw vq_all_joints}; do
        rulesafe policy exchange "$policies/network_${memory}_0" --encoder ten_safes_images \
            --out "$policies/network_${memory}_images_0"
    done
    {
        for memory in ${MEMORIES:-raw vq_all_joints}; do
            echo "on_network 0 $memory nominal --turn-back"
            for control in delayed perturbed; do
                echo "on_network 0 $memory nominal --memory-control $control"
            done
        done
        for memory in ${MEMORIES:-none raw vq_all_joints}; do
            echo "on_network 0 ${memory}_images nominal"
            echo "on_network 0 $memory shifted"
        done
    } | parallel
    table network_conditions "$results"/network_*_0_{nominal,shifted}*
}

# Further trainings of the network: with other memories, without disturbed ones, at other speeds.
network_variants() {
    $studies join "$out/data_network" --low 0.7 --high 1.4 --out "$out/data_speeds"
    trained warm_speeds data_speeds cache_speeds --policy bc --memory none --steps 1
    {
        for memory in grasp raw_robot_frame; do echo "one_network 0 $memory"; done
        for memory in ${MEMORIES:-raw vq_all_joints}; do
            echo "undisturbed_memories 0 $memory"
        done
        for memory in ${MEMORIES:-none time raw vq vq_all_joints}; do
            echo "at_speeds 0 $memory"
        done
    } | parallel
    table network_variants "$results"/network_*_0_{nominal,shifted}*
}

# Train with demonstrations at other speeds, and evaluate at such speeds: at_speeds SEED MEMORY
at_speeds() {
    demos=speeds train_network "$1" "$2_speeds" "$2"
    on_network "$1" "$2_speeds" nominal --speeds 0.7 1.4
}

# Train without disturbed memories, and evaluate with such: undisturbed_memories SEED MEMORY
undisturbed_memories() {
    disturbed=0 train_network "$1" "$2_undisturbed" "$2"
    on_network "$1" "$2_undisturbed" nominal
    for control in delayed perturbed; do
        on_network "$1" "$2_undisturbed" nominal --memory-control "$control"
    done
}

memoryless() {
    on_all memoryless-oracle nominal "$results/memoryless_nominal"
}

memories() {
    $studies fsq "$out/demos_all" --sees hand --out "$out/fsq" \
        ${STEPS:+--steps "$STEPS"}
    names=(vq{_J{2,32,256},_M{20,60},_all_joints} time grasp counter joints random actions releases
        release_tokens token_changes oracle fsq gru transformer {,sparse_}scenes)
    for seed in ${SEEDS:-0 1 2}; do
        for memory in "${names[@]}"; do
            echo "two_levels $seed $memory"
        done
    done | parallel
    found=()
    for memory in none raw vq "${names[@]}"; do
        found+=("$results/all_${memory}"_[0-9]*_nominal)
    done
    table memories "${found[@]}"
}

long=sampled_083,sampled_148,sampled_151,sampled_158,sampled_169,sampled_174,sampled_179
lengths() {
    on_all_safes long "$long" 20
    for m in 20 40 60; do echo "long_locks $m"; done | parallel
    table lengths "$results"/long_vq_M{20,40,60}_0_nominal
}

long_locks() { # LENGTH
    train_two_levels long 0 "vq_M$1"
    all=$long all_rules "long_vq_M$1_0" nominal
}

generated() {
    on_all_safes generated sampled_train 6
    STEPS=${STEPS:-9000} train_two_levels generated 0 vq
    printf 'on_generated %s %s\n' sampled_test 4 sampled_train 1 | parallel
    for rules in sampled_test sampled_train; do
        table "generated_$rules" "$results/generated_vq_0_$rules"
    done
}

on_generated() { # RULES EPISODES
    rulesafe eval --policy "$policies/generated_vq_0" --rules "$1" --safes all --split nominal \
        --episodes "${EPISODES:-$2}" --films 0 --out "$results/generated_vq_0_$1"
}

reading() {
    on_all_safes all "$all" 50
    on_all_safes misses "$all" 50 --misses 0.3 --seed 1
    trained skills data_all cache_all --policy skills --memory none
    $studies reading_policy --data "$out/data_misses" --skills "$policies/skills" \
        --cache "$out/cache_misses" --out "$policies/reader"
    agents=rulesafe_studies.reading.agents
    {
        for rules in "$all" sampled_test; do
            echo "on_locks reader $policies/reader $rules 10"
        done
        echo "on_locks reader $policies/reader written_test 2"
        echo "on_locks reader $policies/reader $all 10 --turn-back"
        for name in ReaderWithExpert Cycle CycleOfTwenty FrequentPlan; do
            echo "on_locks $name $agents:$name $all 2"
        done
        for rules in sampled_test written_test; do
            echo "on_locks ReaderWithExpert $agents:ReaderWithExpert $rules 2"
            for name in Cycle FrequentPlan; do
                echo "on_locks $name $agents:$name $rules 1"
            done
            echo "on_locks two_level two_level_all_rules $rules 1"
        done
        echo "on_locks memoryless memoryless-oracle written 1"
        echo "on_locks expert expert written 1"
    } | parallel
    table reading "$results"/reading_*
}

on_locks() { # NAME POLICY RULES EPISODES [OPTION]
    EPISODES=${EPISODES:-$4} all=$3 \
        on_all "$2" nominal "$results/reading_$1_$3${5:+_${5#--}}" "${@:5}"
}

# Train the upper level with a memory.
train_two_levels() { # DATA SEED MEMORY
    memory_named "$3"
    trained "$1_$3_$2" "data_$1" "cache_$1" --policy two_level --skills "$policies/skills" \
        --memory "${memory[@]}" --steps "${STEPS:-6000}" --seed "$2"
}

# Train and evaluate the upper level with a memory, under all rules.
two_levels() { # SEED MEMORY
    train_two_levels all "$@"
    all_rules "all_$2_$1" nominal
}

robustness() {
    found=("$results/all_vq_0_nominal") runs=()
    for memory in ${MEMORIES:-none raw vq}; do
        rulesafe policy exchange "$policies/all_${memory}_0" --encoder ten_safes_images \
            --out "$policies/all_${memory}_images_0"
        found+=("$results/all_${memory}_images_0_nominal")
        runs+=("all_rules all_${memory}_images_0 nominal")
        conditions=(shifted "nominal --turn-back" "nominal --interference")
        if [[ $memory != none ]]; then
            for control in shuffled delayed truncated perturbed another; do
                conditions+=("nominal --memory-control $control")
            done
        fi
        for condition in "${conditions[@]}"; do
            read -r split options <<<"$condition"
            last=${options##* }
            found+=("$results/all_${memory}_0_$split${last:+_${last#--}}")
            runs+=("all_rules all_${memory}_0 $condition")
        done
    done
    printf '%s\n' "${runs[@]}" | parallel
    table robustness "${found[@]}"
}

paper() {
    cat <<'END'
Estimated hours on two cores without a GPU (an interrupted run is resumed by the same command):
    one_rule       4    tables 1 and 2: 16 trainings of DP3-SF
    models         6    tables 1 and 2: 12 trainings of RDT, CogACT and pi0
    network        7    table 3: 1500 episodes, 16 trainings of one network
    tokens         1    table 4: 5 more trainings of DP3-SF
END
    one_rule
    models
    network
    tokens
}

all=${RULES:-all} all=${all// /,}
export out results policies logs four long all
while read -r _ _ name; do export -f "${name?}"; done < <(declare -F)
for study in "${@:?usage: studies/study.sh OUT STUDY...}"; do
    case $study in
    paper | one_rule | models | twenty_rules | network | tokens) "$study" ;;
    network_conditions | network_variants | memories | lengths | generated | reading | robustness | four_rules | additions | control) "$study" ;;
    *)
        echo "unknown study '$study'" >&2
        usage
        exit 2
        ;;
    esac
done
