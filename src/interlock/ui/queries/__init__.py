"""Documents over State: everything that the command line shows, as data. Nothing here writes."""
