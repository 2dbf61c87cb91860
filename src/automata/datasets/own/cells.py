"""Parse the cells of a table: numbers with units, dates, and names in several spellings."""

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
"""Formats of dates for `strptime`. One of TIMES follows each; "" is a time without a date."""
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
_TYPOGRAPHIC = {0x2212: "-", 0x2019: "'"}
"""Typographic minus sign and apostrophe, and their plain forms."""
DECIMAL_COMMA = re.compile(r"\d([.'\u2019\s])\d{3}(?:\1\d{3}){0,9},\d")
"""A number with a decimal comma, where commas also separate cells."""
NO_THOUSANDS = re.compile(r",(?!\d{3}(?!\d))|(?<!\d),|(?<!\d)0\d*,|\d{4},|[.'\u2019\s]\d{3},\d")
"""A comma that cannot separate thousands."""
_CODE = re.compile(r"^(?:0\d+|\d+[eE]\d+|\d{16,})$", re.MULTILINE)
_DIGIT_LINES = re.compile(r"(?:\d+(?:[eE]\d+)?\n)+")
_DATE = re.compile(r"\d+(?:[-/.:]\s*|\s+)\w.*|[A-Za-z]{3,9}[.,]?[\s-]*\d.*")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_RESPELLED = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0+)?|true|false", re.IGNORECASE)
"""Whole numbers and truth values, which programs spell in several ways."""


def parse_numbers(texts: Sequence[str], decimal: str) -> tuple[NDArray[np.float64], list[str]]:
    """Return texts (n,) as numbers with their units; other texts become NaN, and (5) is -5."""
    if decimal == ".":
        with suppress(ValueError):  # ten times as fast if all are plain numbers
            plain = np.fromiter(map(float, texts), np.float64, len(texts))
            if (np.abs(plain) <= LARGEST).all() and "_" not in "".join(texts):
                return plain, [""] * len(texts)
    pairs = [_parse_number(text.strip(), decimal) for text in texts]
    values = np.array([value for value, _ in pairs], dtype=np.float64)
    return np.where(np.abs(values) <= LARGEST, values, np.nan), [unit for _, unit in pairs]


def _parse_number(text: str, decimal: str) -> tuple[float, str]:
    """Return the number in a text and its unit; NaN if the text is not a number."""
    text = text.translate(_TYPOGRAPHIC)
    if text[:1] + text[-1:] == "()":
        text = f"-{text[1:-1]}"
    match = _AMOUNT.fullmatch(text) if len(text) < 100 else None  # long texts take long
    if match is None:
        return np.nan, ""
    sign, before, second_sign, digits, exponent, after = (part or "" for part in match.groups())
    if decimal == ",":
        digits = digits.translate({ord(","): ".", ord("."): ","})
    if _THOUSANDS.fullmatch(digits):
        digits = re.sub(r"[,'\s]", "", digits)
    if not _NUMBER.fullmatch(digits) or (before and after) or (sign and second_sign):
        return np.nan, ""
    return float(sign + second_sign + digits + exponent), before or after


def find_code(texts: Sequence[str]) -> str:
    """Return a code, such as 01, 1E2 or 16 digits, if all texts are digits; otherwise ""."""
    if not _DIGIT_LINES.fullmatch(f"{texts[0]}\n"):
        return ""
    lines = "".join(f"{text}\n" for text in texts)
    code = _CODE.search(lines)
    return code[0] if code and _DIGIT_LINES.fullmatch(lines) else ""


def parse_dates(texts: Sequence[str], form: str) -> NDArray[np.float64]:
    """Return dates (n,) as days since 1970-01-01, times as fractions of a day, others as NaN."""
    position = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    plain = pd.Series([_plain_date(text) for text in position], dtype=object)
    days = np.full(len(plain), np.nan)
    for time in TIMES[:1] if form == ISO else TIMES:
        unread = np.isnan(days)
        date_and_time = f"{form} {time}".strip()
        if date_and_time and unread.any():
            stamps = pd.to_datetime(plain[unread], format=date_and_time, errors="coerce", utc=True)
            naive = stamps.dt.tz_localize(None).to_numpy("datetime64[us]")
            origin = np.datetime64("1970-01-01" if form else "1900-01-01", "us")
            days[unread] = (naive - origin) / np.timedelta64(1, "D")
    return days[[position[text] for text in texts]]


def date_text(days: float) -> str:
    """Return days since 1970-01-01 as a date, with a time if it is not midnight."""
    stamp = np.datetime64("1970-01-01", "s") + np.timedelta64(round(86400 * days), "s")
    return str(stamp).replace("T", " ").removesuffix(" 00:00:00")


def _plain_date(text: str) -> str:
    """Return a date without commas and without marks beside month names; year first has dashes."""
    text = re.sub(r"(?<=[A-Za-z])[-/.,]|[-/.,](?=[A-Za-z])|,", " ", text.strip())
    return _YEAR_FIRST.sub(r"\1-\2-\3", " ".join(text.split()))


def dates_by_format(texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return texts (n,) as days for each format that fits most of the first texts."""
    first = texts[:20]
    dates = [text for text in first if len(text) < 41 and _DATE.fullmatch(text.strip())]
    if 2 * len(dates) <= len(first):
        return {}
    likely = [form for form in DATES if np.isfinite(parse_dates(first, form)).mean() > 0.5]
    return {form: parse_dates(texts, form) for form in likely}


def spelled(name: str) -> str:
    """Return one spelling for all spellings of a name: True for TRUE and true, 1 for 1.0."""
    match = _RESPELLED.fullmatch(name)
    return (match[1] or name.capitalize()) if match else name


def most_frequent_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Return for each text its most frequent spelling if all are whole numbers or truth values."""
    if not all(map(_RESPELLED.fullmatch, counts)):
        return {text: text for text in counts}
    best: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        best.setdefault(spelled(text), text)
    return {text: best[spelled(text)] for text in counts}


def match_names(unknown: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return the known name for each unknown one that differs only in case or spelling."""
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(spelled(name).casefold(), []).append(name)
    matches = {text: names.get(spelled(text).casefold(), []) for text in unknown}
    return {text: same[0] for text, same in matches.items() if len(same) == 1}
