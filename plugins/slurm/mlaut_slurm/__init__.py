"""Studies of MLaut as jobs of Slurm: submit, look at the queue, cancel."""
