"""How numbers and heads are written in sentences, tables and figures.

One set of formats for all of them. Minus signs are true minus signs, what rounds to zero has no sign, and a number
that is missing or not finite is a dash.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

MINUS = "\u2212"
MISSING = "\u2013"


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with a fixed number of decimals.

    >>> decimal(-0.126), decimal(-0.004), decimal(12.34, 1), decimal(float("nan"))
    ('−0.13', '0.00', '12.3', '–')
    """
    number = _finite(value)
    return MISSING if number is None else _true_minus(f"{number:.{digits}f}")


def signed(value: float | None, digits: int = 2) -> str:
    """The same for changes and correlations: with a plus sign above zero.

    >>> signed(0.126), signed(-0.126), signed(0.004)
    ('+0.13', '−0.13', '0.00')
    """
    text = decimal(value, digits)
    return text if text[0] in MINUS + MISSING or float(text) == 0 else f"+{text}"


def fitting_digits(value: float | None, digits: int = 2) -> int:
    """Fewer decimals for larger numbers, where space is short, as in the cells of a figure.

    >>> [signed(value, fitting_digits(value)) for value in (1.234, 12.34, -123.4)]
    ['+1.23', '+12.3', '−123']
    """
    size = abs(_finite(value) or 0)
    return max(0, digits - (size >= 10) - (size >= 100))


def significant(value: float | None, digits: int = 3) -> str:
    """A number whose order of magnitude is not known beforehand.

    >>> significant(0.001234), significant(123.4), significant(-0.0000123, 2)
    ('0.00123', '123', '−1.2e−5')
    """
    number = _finite(value)
    if number is None:
        return MISSING
    mantissa, _, exponent = f"{number:.{digits}g}".partition("e")
    return _true_minus(mantissa) + (f"e{_true_minus(str(int(exponent)))}" if exponent else "")


def p_value(p: float | None) -> str:
    """A p-value or q-value with two significant digits.

    >>> p_value(0.0312), p_value(0.00001234), p_value(0.998), p_value(None)
    ('0.031', '1.2e−5', '1', '–')
    """
    return significant(p, 2)


def percent(share: float | None, digits: int | None = None) -> str:
    """A share of the whole. Unless told otherwise, one decimal below 10 % and none above.

    >>> percent(0.256), percent(0.0256), percent(0.256, 1), percent(0)
    ('26 %', '2.6 %', '25.6 %', '0 %')
    """
    number = _finite(share)
    if number is None:
        return MISSING
    if digits is None:
        digits = 0 if number == 0 or abs(number) >= 0.1 else 1
    return f"{decimal(100 * number, digits)} %"


def interval(low: float | None, high: float | None, digits: int = 2, sign: bool = False) -> str:
    """From one bound to the other; a dash unless both are known. `sign` puts a plus sign before positive bounds.

    >>> interval(-0.1, 0.4), interval(-0.1, 0.4, 1, sign=True), interval(0.1, float("nan"))
    ('−0.10 to 0.40', '−0.1 to +0.4', '–')
    """
    if _finite(low) is None or _finite(high) is None:
        return MISSING
    write = signed if sign else decimal
    return f"{write(low, digits)} to {write(high, digits)}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things. Give the plural where it is not the noun and an s.

    >>> count(1, "head"), count(1200, "head"), count(2, "query", "queries")
    ('1 head', '1,200 heads', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def elapsed(seconds: float | None) -> str:
    """A time that was measured, in the two largest of its units; empty where it is not known.

    >>> elapsed(4.2), elapsed(75), elapsed(3700), elapsed(None)
    ('4 s', '1 min 15 s', '1 h 2 min', '')
    """
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{minutes // 60} h {minutes % 60} min"


def rounded(number: float, digits: int = 2) -> str:
    """A number of which only the first digits are known.

    >>> rounded(1234567), rounded(56.7), rounded(0.04321)
    ('1,200,000', '57', '0.043')
    """
    short = float(f"{number:.{digits}g}")
    return f"{short:,.0f}" if short >= 10 ** (digits - 1) else f"{short:g}"


def duration(seconds: float) -> str:
    """A time that is known roughly.

    >>> duration(0.2), duration(75), duration(1400), duration(40_000), duration(4_000_000)
    ('0.2 s', '75 s', '23 min', '11 hours', '46 days')
    """
    for unit, size, least in (("days", 86_400, 48 * 3600), ("hours", 3600, 2 * 3600), ("min", 60, 90)):
        if seconds >= least:
            return f"{rounded(seconds / size)} {unit}"
    return f"{rounded(seconds)} s"


def gigabytes(size: float) -> str:
    """A size in memory.

    >>> gigabytes(538_000_000), gigabytes(282_000_000_000)
    ('0.54 GB', '280 GB')
    """
    return f"{rounded(size / 1e9)} GB"


def listed(words: Iterable[str]) -> str:
    """Words in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed([])
    ('a', 'a, b and c', 'none')
    """
    *first, last = [*words] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def some_of(names: Sequence[str], most: int = 3) -> str:
    """The first names of a list that may be long, and how many more there are.

    >>> some_of(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def head_name(layer: int, head: int) -> str:
    """The name of a head.

    >>> head_name(3, 1)
    'L3H1'
    """
    return f"L{int(layer)}H{int(head)}"


def head_list(heads: Sequence[tuple[int, int]], most: int = 6) -> str:
    """Heads by name, in the order given; those beyond `most` are only counted.

    >>> head_list([(3, 1), (7, 0)]), head_list([(3, 1), (7, 0), (9, 2), (9, 4)], most=2)
    ('L3H1, L7H0', 'L3H1, L7H0 and 2 more')
    """
    names = ", ".join(head_name(layer, head) for layer, head in heads[:most])
    return names + (f" and {len(heads) - most} more" if len(heads) > most else "")


def _finite(value: float | None) -> float | None:
    """None where a number is missing, not a number, or infinite."""
    return value if value is not None and math.isfinite(value) else None


def _true_minus(text: str) -> str:
    return text.replace("-", "" if float(text) == 0 else MINUS)
