"""The words everything else speaks: ids, events, commands, step values, errors. Values only, no I/O."""
