"""Groups of strategies that do not differ, as letters: the table of pairs in one column."""

import numpy as np

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letter_groups(alike: np.ndarray) -> list[str]:
    """Return the letters of each strategy: two strategies share one exactly if they are alike.

    Parameters
    ----------
    alike : ndarray of bool, shape (K, K)
        Whether two strategies do not differ; symmetric. The order of the strategies is the order
        of the letters.

    Notes
    -----
    Each letter is a set of strategies that are all alike. For each pair that shares no letter yet,
    in order, a new set is grown by all strategies that are like all of it. These sets are fewer
    than the pairs, while all largest sets can be too many to list.

    Examples
    --------
    >>> like = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    >>> letter_groups(like)
    ['a', 'ab', 'b']
    """
    k = len(alike)
    shared, texts = np.zeros((k, k), dtype=bool), [""] * k
    count = 0
    for i in range(k):
        for j in range(i, k):
            alone = i == j and not texts[i] and not np.delete(alike[i], i).any()
            if alone or (j > i and alike[i, j] and not shared[i, j]):
                members = _grown([i, j], alike)
                shared[np.ix_(members, members)] = True
                for member in members:
                    texts[member] += _name(count)
                count += 1
    return texts


def _grown(members: list[int], alike: np.ndarray) -> list[int]:
    """Return the members and, in order, all strategies that are like all members so far."""
    members = sorted(set(members))
    for strategy in range(len(alike)):
        if strategy not in members and alike[strategy, members].all():
            members.append(strategy)
    return members


def _name(count: int) -> str:
    """Return a letter, with a number after the first 26: a to z, a1 to z1, ..."""
    turn, place = divmod(count, len(_LETTERS))
    return _LETTERS[place] + (str(turn) if turn else "")
