"""Do one cell: assemble, fit, predict, check, measure, and return the outcome."""
