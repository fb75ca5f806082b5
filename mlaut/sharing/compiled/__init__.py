"""Parts of learners that numba compiles."""
