#!/usr/bin/env bash
# The studies of docs/results/policies.md and twenty_rules.md: demonstrations, trainings,
# evaluations and their tables. They take hours; the same command resumes an interrupted run, and
# gives the same tables.
#
#     studies/study.sh OUT STUDY...
#
# STUDY                 (estimated hours on two cores)
#   paper         (21)  the paper's tables 1 to 4: one_rule, models, twenty_rules and tokens
#   one_rule       (8)  DP3-SF under one rule, on one safe: no memory, raw history, tokens (tables 1,
#                       2)
#   models         (8)  RDT, CogACT and pi0 under rule_020, with and without tokens, pi0 with the raw
#                       history, too (tables 1, 2)
#   twenty_rules   (3)  one policy of two levels for all rules and safes (table 3)
#   network       (17)  one network without stored demonstrations for all rules and safes, with each
#                       memory, 200 episodes for each of three trainings
#   network_conditions
#                 (12)  the same, one training: camera images, poses and speeds of the arm unlike those
#                       of the demonstrations, disturbed memories, a part that is turned back
#   tokens         (2)  vocabulary size J and memory length M (table 4)
#   memories      (10)  further memories and controls for the policy of twenty_rules
#   lengths        (1)  memory length M under the sampled locks with a plan of ten steps that
#                       requires two bits of memory
#   robustness     (4)  the policy of twenty_rules with camera images, out of distribution, after a
#                       part was turned back, after motions that have nothing to do with the task,
#                       and with a memory that is shuffled, delayed, truncated, perturbed or that of
#                       another episode
#   generated      (2)  the policy of two levels trained on the generated locks of sampled_train,
#                       under these and under those of sampled_test
#   reading        (6)  the policy that reads, under the twenty rules, the locks of sampled_test and
#                       written_test, and agents that do not read or have the expert's motions
#   four_rules     (2)  RDT and pi0 under four rules
#   additions      (6)  DP3 under rule_001 without what this project adds to it, on one safe and on
#                       ten
#   control       (<1)  tokens shuffled in time
#
# `memories`, `lengths`, `generated` (both its skills) and `robustness` (training 0 with tokens)
# require twenty_rules, `network_conditions` network, and `control` one_rule. WORKERS (2) processes
# run at once. In the environment, DEMONSTRATIONS, STEPS and EPISODES reduce the work of each study;
# RULES, MEMORIES and SEEDS (separated by spaces) that of one_rule, twenty_rules and network, RULES
# and SEEDS also that of memories, RULES and MEMORIES also that of robustness and network_conditions.
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
            for memory in ${MEMORIES:-none raw vq}; do
                echo "dp3 $rule $memory $seed"
            done
        done
    done | parallel
    found=()
    for memory in ${MEMORIES:-none raw vq}; do
        found+=("$results"/rule_0??_"$memory"_[0-9]*_*)
    done
    table tables_1_and_2 "${found[@]}"
}

dp3() { # RULE MEMORY SEED
    rule=$1 memory=$2 seed=$3 name=$1_$2_$3
    steps=8000 settings=()
    if [[ $rule == rule_001 ]]; then steps=5000; fi
    if [[ $memory == vq ]]; then settings=(--clusters 4); fi
    trained "$name" "demos_$rule" "cache_$rule" --policy dp3 --memory "$memory" \
        --steps "${STEPS:-$steps}" --seed "$seed" "${settings[@]}"
    for split in varied shifted; do
        evaluated "$name" "$split" 50 "$rule"
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
    trained "$name" "demos_$1" "cache_$1" --policy dp3 --memory vq --steps "${STEPS:-5000}" "${@:5}"
    evaluated "$name" "$3" 50 rule_001 "$2"
}

control() {
    $studies eval --policy "$policies/rule_020_vq_1" --rules rule_020 \
        --safes safe_02 --split varied --step-seconds 12 --memory-control shuffled --episodes 12 \
        --out "$out/shuffled"
}

tokens() {
    demonstrations rule_020 rule_020 100
    parallel <<<'dp3_tokens vq2_0 0 --clusters 2
dp3_tokens vq_0 0 --clusters 4
dp3_tokens vq32_0 0 --clusters 32
dp3_tokens vq256_0 0 --clusters 256
dp3_tokens vqM20_0 0 --clusters 4 --length 20
dp3_tokens vq_1 1 --clusters 4
dp3_tokens vqM60_1 1 --clusters 4 --length 60'
    table table_4 "$results"/rule_020_{vq2,vq,vq32,vq256}_0_shifted
    table lengths_20 "$results"/rule_020_{vqM20,vq}_0_shifted
    table lengths_60 "$results"/rule_020_{vq,vqM60}_1_shifted
}

dp3_tokens() { # NAME SEED OPTION...
    trained "rule_020_$1" demos_rule_020 cache_rule_020 --policy dp3 --memory vq \
        --steps "${STEPS:-8000}" --seed "$2" "${@:3}"
    evaluated "rule_020_$1" shifted 50 rule_020
}

models() {
    demonstrations rule_020 rule_020 100
    {
        for family in rdt cogact pi0; do
            for memory in none "vq --clusters 4"; do
                echo "model $family $memory"
            done
        done
        echo "model pi0 raw"
    } | parallel
    table table_2_models "$results"/rule_020_{rdt,cogact,pi0}b_{none,vq}_0_varied \
        "$results/rule_020_pi0b_raw_0_varied"
}

model() { # FAMILY MEMORY OPTION...
    name=rule_020_$1b_$2_0
    trained "$name" demos_rule_020 cache_rule_020 --policy "$1" --memory "${@:2}" \
        --steps "${STEPS:-16000}" --batch 16
    evaluated "$name" varied 50 rule_020
    rulesafe policy open-loop "$policies/$name" "$out/demos_rule_020" --episodes 6
}

four=rule_001,rule_002,rule_003,rule_005
four_rules() {
    demonstrations four "$four" 50
    for family in rdt pi0; do
        for memory in none "vq --clusters 4"; do
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
                echo "two_levels $seed $memory $memory"
            done
        done
    } | parallel
    found=("$results"/{memoryless,skills}_nominal)
    for memory in ${MEMORIES:-none raw vq}; do
        found+=("$results"/all_"$memory"_[0-9]*_nominal)
    done
    table table_3 "${found[@]}"
}

# Networks whose failures the expert corrects, twice; those of the study learn from the
# demonstrations and from these corrections.
network() {
    on_all_safes all "$all" 50
    on_all_safes misses "$all" 50 --misses 0.3
    demos=misses train_network 0 first vq_all_joints
    corrected first 1
    $studies join "$out"/data_{all,misses,corrected_first} --out "$out/data_second"
    demos=second train_network 0 second vq_all_joints
    corrected second 2
    $studies join "$out"/data_{all,misses,corrected_first,corrected_second} \
        --out "$out/data_network"
    trained warm_network data_network cache_network --policy bc --memory none --steps 1
    for seed in ${SEEDS:-0 1 2}; do
        for memory in ${MEMORIES:-none time raw vq vq_all_joints}; do
            echo "one_network $seed $memory"
        done
    done | parallel
    table network "$results"/network_*_[0-9]*_nominal
}

# Demonstrations of a network with the expert's corrections: corrected NAME SEED
corrected() {
    RULESAFE_CORRECTED=$policies/network_$1_0 \
        on_all_safes "corrected_$1" "$all" 25 --seed "$2" \
        --by rulesafe_studies.corrections:CorrectedPolicy
}

# Train the network with a memory, which is disturbed in 0.3 of the windows:
# train_network SEED NAME MEMORY [OPTION...]
train_network() {
    case $3 in
    time) memory=(rulesafe_studies.controls:ElapsedTime) ;;
    grasp) memory=(rulesafe_studies.controls:GraspBit) ;;
    raw_robot_frame) memory=(rulesafe_studies.controls:RobotFrameJoints) ;;
    vq_all_joints) memory=(vq --memory-model all_rules) ;;
    *) memory=("$3") ;;
    esac
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
    $studies join "$out/data_network" --low 0.7 --high 1.4 --out "$out/data_speeds"
    for memory in ${MEMORIES:-none raw vq}; do
        rulesafe policy exchange "$policies/network_${memory}_0" --encoder ten_safes_images \
            --out "$policies/network_${memory}_images_0"
        echo "on_network 0 ${memory}_images nominal"
    done | parallel
    trained warm_speeds data_speeds cache_speeds --policy bc --memory none --steps 1
    {
        for memory in grasp raw_robot_frame; do echo "one_network 0 $memory"; done
        for memory in ${MEMORIES:-none time raw vq vq_all_joints}; do
            echo "on_network 0 $memory shifted"
            echo "at_speeds 0 $memory"
        done
        for memory in ${MEMORIES:-raw vq}; do
            echo "on_network 0 $memory nominal --turn-back"
            echo "disturbed_memories 0 $memory"
        done
    } | parallel
    table network_conditions "$results"/network_*_0_{nominal,shifted}*
}

# Train with demonstrations at other speeds, and evaluate at such speeds: at_speeds SEED MEMORY
at_speeds() {
    demos=speeds train_network "$1" "$2_speeds" "$2"
    on_network "$1" "$2_speeds" nominal --speeds 0.7 1.4
}

# Train without disturbed memories; evaluate both networks with such: disturbed_memories SEED MEMORY
disturbed_memories() {
    disturbed=0 train_network "$1" "$2_undisturbed" "$2"
    on_network "$1" "$2_undisturbed" nominal
    for name in "$2" "$2_undisturbed"; do
        for control in delayed perturbed; do
            on_network "$1" "$name" nominal --memory-control "$control"
        done
    done
}

memoryless() {
    on_all memoryless-oracle nominal "$results/memoryless_nominal"
}

memories() {
    controls=rulesafe_studies.controls keyframes=rulesafe_studies.keyframes
    $studies fsq "$out/demos_all" --sees hand --out "$out/fsq" \
        ${STEPS:+--steps "$STEPS"}
    for seed in ${SEEDS:-0 1 2}; do
        for j in 2 32 256; do echo "two_levels $seed vq_J$j vq --clusters $j"; done
        for m in 20 60; do echo "two_levels $seed vq_M$m vq --length $m"; done
        echo "two_levels $seed vq_all_joints vq --memory-model all_rules"
        echo "two_levels $seed time $controls:ElapsedTime"
        echo "two_levels $seed grasp $controls:GraspBit"
        echo "two_levels $seed counter $controls:StepCounter --length 1"
        echo "two_levels $seed joints $controls:QuantisedJoints"
        echo "two_levels $seed random $controls:RandomClusters"
        echo "two_levels $seed actions $controls:PastActions"
        echo "two_levels $seed releases $keyframes:GraspKeyframes"
        echo "two_levels $seed release_tokens $keyframes:GraspTokens"
        echo "two_levels $seed token_changes $keyframes:TokenKeyframes"
        echo "two_levels $seed oracle $keyframes:OraclePhases"
        echo "two_levels $seed fsq vq --memory-model $out/fsq"
        for network in gru transformer; do
            echo "two_levels $seed $network raw --size $network"
        done
        for size in scenes sparse_scenes; do
            echo "two_levels $seed $size none --size $size"
        done
    done | parallel
    found=()
    for name in none raw vq{,_J{2,32,256},_M{20,60},_all_joints} time grasp counter joints random \
        actions releases release_tokens token_changes oracle fsq gru transformer {,sparse_}scenes; do
        found+=("$results/all_${name}"_[0-9]*_nominal)
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
    train_two_levels long 0 "vq_M$1" vq --length "$1"
    all=$long all_rules "long_vq_M$1_0" nominal
}

generated() {
    on_all_safes generated sampled_train 6
    STEPS=${STEPS:-9000} train_two_levels generated 0 vq vq
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
    on_all_safes misses "$all" 50 --misses 0.3
    trained skills data_all cache_all --policy skills --memory none
    $studies reading_policy --data "$out/data_misses" --skills "$policies/skills" \
        --cache "$out/cache_misses" --out "$policies/reader"
    agents=rulesafe_studies.reading.agents
    {
        echo "on_locks reader $policies/reader $all"
        for rules in sampled_test written_test; do
            echo "on_locks reader $policies/reader $rules"
            for name in ReaderWithExpert Cycle FrequentPlan; do
                echo "on_locks $name $agents:$name $rules"
            done
        done
    } | parallel
    table reading "$results"/reading_*
}

on_locks() { # NAME POLICY RULES
    all=$3 on_all "$2" nominal "$results/reading_$1_$3"
}

# Train the upper level with a memory.
train_two_levels() { # DATA SEED NAME MEMORY OPTION...
    trained "$1_$3_$2" "data_$1" "cache_$1" --policy two_level --skills "$policies/skills" \
        --memory "${@:4}" --steps "${STEPS:-6000}" --seed "$2"
}

# Train and evaluate the upper level with a memory, under all rules.
two_levels() { # SEED NAME MEMORY OPTION...
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
    one_rule       8    tables 1 and 2: 12 trainings of DP3-SF
    models         8    tables 1 and 2: 7 trainings of RDT, CogACT and pi0
    twenty_rules   3    table 3: 1000 demonstrations, 9 trainings of a policy of two levels
    tokens         2    table 4: 5 more trainings of DP3-SF
END
    one_rule
    models
    twenty_rules
    tokens
}

all=${RULES:-all} all=${all// /,}
export out results policies logs four long all
while read -r _ _ name; do export -f "${name?}"; done < <(declare -F)
for study in "${@:?usage: studies/study.sh OUT STUDY...}"; do
    case $study in
    paper | one_rule | models | twenty_rules | network | tokens) "$study" ;;
    network_conditions | memories | lengths | generated | reading | robustness | four_rules | additions | control) "$study" ;;
    *)
        echo "unknown study '$study'" >&2
        usage
        exit 2
        ;;
    esac
done
