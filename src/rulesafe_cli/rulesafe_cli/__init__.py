"""The `rulesafe` command: table of subcommands, dispatch, shell completion and benchmarks."""
