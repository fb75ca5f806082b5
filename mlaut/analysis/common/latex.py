"""Tables in LaTeX as papers print them."""

from collections.abc import Sequence

from mlaut.helpers.markup import printable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}
_ESCAPES = str.maketrans(_SPECIAL)


def escape(text: str) -> str:
    r"""Escape text so that LaTeX prints it literally.

    Examples
    --------
    >>> print(escape("K_Neighbours: 50 % of $x^2$"))
    K\_Neighbours: 50 \% of \$x\textasciicircum{}2\$
    """
    return printable(" ".join(text.split())).translate(_ESCAPES)


def table_environment(
    head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str
) -> str:
    r"""Return a floating table with booktabs rules; the first column is on the left.

    Cells and head are LaTeX already, the caption is text.

    Examples
    --------
    >>> print(table_environment(["", "rank"], [["A", "\\textbf{1}"]], "Ranks.", "tab:a"))
    \begin{table}
    \centering
    \caption{Ranks.}\label{tab:a}
    \begin{tabular}{lr}
    \toprule
     & rank \\
    \midrule
    A & \textbf{1} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{escape(caption)}}}\\label{{{label}}}",
        f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        "\\toprule",
        " & ".join(head) + r" \\",
        "\\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines)
