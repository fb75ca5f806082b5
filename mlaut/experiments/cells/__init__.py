"""Do one cell: assemble, fit, predict, check, measure, and hand the outcome over."""
