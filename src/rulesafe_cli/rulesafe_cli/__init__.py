"""The rulesafe command: the table of its subcommands, dispatch and shell completion."""
