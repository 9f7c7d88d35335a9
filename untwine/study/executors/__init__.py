"""Where the cells of a study run: in this process, in processes of this machine, or on a Ray cluster."""
