"""Studies as jobs of a batch system: submit, look at the queue, cancel."""
