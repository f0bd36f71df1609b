"""`rulesafe topic`, `rulesafe service`, `rulesafe param`: a look at a running graph, on machines
without `ros2` too. docs/ros.md has an example of each."""
