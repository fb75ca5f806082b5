"""Tables of results of any form: grids of cells, what is printed in them, what columns are."""
