"""The methods of Lacoste, Laviolette and Marchand (2012)."""
