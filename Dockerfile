# RuleSafe in a container: `make demo` without touching your machine.
#
#     docker build -t rulesafe .
#     docker run --rm --shm-size=1g -v "$PWD/runs:/rulesafe/runs" rulesafe make demo
#     docker run --rm -it --shm-size=1g -p 127.0.0.1:8080:8080 rulesafe bash
#
# Written with care and never built by the maintainers: please tell us what is wrong with it.
#
# With an NVIDIA GPU (and its container toolkit): --gpus all. ROS 2 nodes of one container find each
# other; for those of other containers or of the host: --network host --ipc host. The sandbox for
# generated programs wants seccomp, which Docker's default profile allows.
FROM debian:bookworm-slim

# For PyTorch and for cameras with `renderer: sapien`; harmless without a GPU.
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility \
    DEBIAN_FRONTEND=noninteractive \
    LANG=C.UTF-8

RUN apt-get update \
    && apt-get install -y --no-install-recommends bash ca-certificates git make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /rulesafe

# First what a change of the code leaves as it is: system packages, Python packages, messages. The
# set-up runs once more below, where it finds all of that in place.
COPY constraints.txt requirements.lock ./
COPY scripts/setup.sh scripts/
COPY src/rulesafe_interfaces src/rulesafe_interfaces
COPY src/unitree_hg src/unitree_hg
COPY src/control_msgs src/control_msgs
COPY src/tf2_msgs src/tf2_msgs
COPY src/unitree_go src/unitree_go
RUN scripts/setup.sh dependencies && rm -rf /var/lib/apt/lists/* /root/.cache

COPY . .
RUN scripts/setup.sh && .venv/bin/rulesafe rules solve rule_001

ENV PATH=/rulesafe/.venv/bin:$PATH \
    ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST \
    RMW_IMPLEMENTATION=rmw_fastrtps_cpp
CMD ["rulesafe", "doctor"]
