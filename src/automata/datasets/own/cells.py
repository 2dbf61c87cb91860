"""How cells are spelled: numbers with their units, dates, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float32).max)

ISO = "ISO8601"
DATES = (
    *(ISO, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", ""),
    *("%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%b %Y", "%B %Y", "%m/%Y"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d", "%d %b %y"),
)
"""Formats of dates as in `strptime`, each with one of TIMES behind it; "" is a time alone."""
TIMES = ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")

_CURRENCY = r"US\$|[$€£¥₹₩₽]|EUR|USD|GBP|CHF|JPY|CNY|INR"
_AMOUNT = re.compile(
    rf"([-+]?)\s*(?:({_CURRENCY})\s*([-+]?))?"
    r"((?:\d[\d.,'\s]*)?\d\.?|\d?[.,]\d+)((?<=\d)[eE][-+]?\d+)?"
    r"\s*((?:[^\W\d_]|[%‰°$€£¥₹₩₽])\S{0,11}(?: [^\W\d_]\S{0,11})?)?"
)
"""Sign, unit, sign, digits, exponent, unit."""
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}([,'\s])\d{3}(?:\1\d{3})*(?:\.\d+)?")
_TYPED = {0x2212: "-", 0x2019: "'"}
"""The minus sign and the apostrophe of printers."""
COMMA = re.compile(r"\d([.'\u2019\s])\d{3}(?:\1\d{3}){0,9},\d")
"""A decimal comma that cannot separate thousands."""
_CODES = re.compile(r"^(?:0\d+|\d+[eE]\d+|\d{16,})$", re.MULTILINE)
_DIGITS = re.compile(r"(?:\d+(?:[eE]\d+)?\n)+")
_DATE = re.compile(r"\d+(?:[-/.:]\s*|\s+)\w.*|[A-Za-z]{3,9}[.,]?[\s-]*\d.*")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_ALIKE = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0+)?|true|false", re.IGNORECASE)
"""Whole numbers and truth values, which programs spell in several ways."""


def numbers(texts: Sequence[str], decimal: str) -> tuple[NDArray[np.float64], list[str]]:
    """Return texts (n,) as numbers, NaN for what is none, and the unit of each; (5) is -5."""
    if decimal == ".":
        with suppress(ValueError):  # plain numbers alone: ten times as fast
            plain = np.fromiter(map(float, texts), np.float64, len(texts))
            if (np.abs(plain) <= LARGEST).all() and "_" not in "".join(texts):
                return plain, [""] * len(texts)
    pairs = [_amount(text.strip(), decimal) for text in texts]
    values = np.array([value for value, _ in pairs], dtype=np.float64)
    return np.where(np.abs(values) <= LARGEST, values, np.nan), [unit for _, unit in pairs]


def _amount(text: str, decimal: str) -> tuple[float, str]:
    """Return a text as a number and its unit; NaN if it is none."""
    typed = text.translate(_TYPED)
    if typed[:1] + typed[-1:] == "()":
        typed = f"-{typed[1:-1]}"
    found = None if len(typed) > 99 else _AMOUNT.fullmatch(typed)  # long texts would take long
    if found is None:
        return np.nan, ""
    sign, before, second, digits, exponent, after = (part or "" for part in found.groups())
    if decimal == ",":
        digits = digits.translate({ord(","): ".", ord("."): ","})
    if _THOUSANDS.fullmatch(digits):
        digits = re.sub(r"[,'\s]", "", digits)
    if not _NUMBER.fullmatch(digits) or (before and after) or (sign and second):
        return np.nan, ""
    return float(sign + second + digits + exponent), before or after


def code_among(texts: Sequence[str]) -> str:
    """Return a code if all texts are digits: 01, 1E2, or more digits than a number holds; or ""."""
    if not _DIGITS.fullmatch(f"{texts[0]}\n"):
        return ""
    joined = "".join(f"{text}\n" for text in texts)
    found = _CODES.search(joined)
    return found[0] if found and _DIGITS.fullmatch(joined) else ""


def days(texts: Sequence[str], form: str) -> NDArray[np.float64]:
    """Return dates (n,) as days since 1970-01-01, times as shares of a day; NaN for others."""
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    plain = pd.Series([_plain_date(text) for text in place], dtype=object)
    found = np.full(len(plain), np.nan)
    for time in TIMES[:1] if form == ISO else TIMES:
        left = np.isnan(found)
        whole = f"{form} {time}".strip()
        if whole and left.any():
            stamps = pd.to_datetime(plain[left], format=whole, errors="coerce", utc=True)
            naive = stamps.dt.tz_localize(None).to_numpy("datetime64[us]")
            origin = np.datetime64("1970-01-01" if form else "1900-01-01", "us")
            found[left] = (naive - origin) / np.timedelta64(1, "D")
    return found[[place[text] for text in texts]]


def day_text(value: float) -> str:
    """Return days since 1970-01-01 as a date, with a time if it has one."""
    stamp = np.datetime64("1970-01-01", "s") + np.timedelta64(round(86400 * value), "s")
    return str(stamp).replace("T", " ").removesuffix(" 00:00:00")


def _plain_date(text: str) -> str:
    """Return a date without commas and marks beside names of months; years first with dashes."""
    text = re.sub(r"(?<=[A-Za-z])[-/.,]|[-/.,](?=[A-Za-z])|,", " ", text.strip())
    return _YEAR_FIRST.sub(r"\1-\2-\3", " ".join(text.split()))


def date_formats(texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return texts (n,) as days by format, for each format that most of the first ones have."""
    first = texts[:20]
    if 2 * sum(len(text) < 41 and bool(_DATE.fullmatch(text.strip())) for text in first) <= len(
        first
    ):
        return {}
    likely = [it for it in DATES if np.isfinite(days(first, it)).mean() > 0.5]
    return {it: days(texts, it) for it in likely}


def spelled(name: str) -> str:
    """Return a name as all its spellings have it: True for TRUE and true, 1 for 1.0."""
    alike = _ALIKE.fullmatch(name)
    return (alike[1] or name.capitalize()) if alike else name


def one_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the name of each text: whole numbers and truth values are spelled as most often."""
    if not all(map(_ALIKE.fullmatch, counts)):
        return {text: text for text in counts}
    best: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        best.setdefault(spelled(text), text)
    return {text: best[spelled(text)] for text in counts}


def matched(unknown: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return the known name of each unknown one that differs in case or spelling alone."""
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(spelled(name).casefold(), []).append(name)
    alike = {text: names.get(spelled(text).casefold(), []) for text in unknown}
    return {text: found[0] for text, found in alike.items() if len(found) == 1}
