"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.leaderboard.board import Board as Board
from mlaut.leaderboard.board import add_entry as add_entry
from mlaut.leaderboard.board import init_board as init_board
from mlaut.leaderboard.judging import judge_entry as judge_entry
from mlaut.leaderboard.refits import refit_entry as refit_entry
from mlaut.leaderboard.verdict import Verdict as Verdict
