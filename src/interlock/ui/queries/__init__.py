"""Documents over State: everything that the command line shows, as data. Pure: they read their arguments."""
