"""Cells of a table as text: where they are, and their numbers, found by compiled code.

Rows are parted into cells as by `csv.reader` with ``skipinitialspace``. A number is the very one
that Python's ``float`` gives: mantissas below 2^53 times small powers of ten are exact with one
rounding (Clinger 1990), most others are settled by their first 128 bits (Lemire 2021, "Number
parsing at a gigabyte per second"), and what neither settles is left to ``float`` itself.
"""

import csv
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.functional.compiled import compiled

__all__ = ["Cells"]

NUMBER, EMPTY, OTHER, QUOTED = 0, 1, 2, 3  # what a cell is; the last has quotes to be resolved
FULL, SHORT, ODD = 0, 1, 2  # why no further row was found
SPACE, TAB, NEWLINE, RETURN, QUOTE, END = 32, 9, 10, 13, 34, 0
PLUS, MINUS, POINT, ZERO, NINE, EXPONENT = 43, 45, 46, 48, 57, 101
LONGEST = np.uint64(1 << 17)  # bytes of a cell; those of csv are characters
NO_ROWS = np.arange(0)
CHUNK = 1 << 20  # characters that are read at once

U0, U1, U2, U3, U9, U10, U32, U63 = (np.uint64(n) for n in (0, 1, 2, 3, 9, 10, 32, 63))
LOW_HALF = np.uint64((1 << 32) - 1)
NINE_BITS = np.uint64((1 << 9) - 1)
FRACTION_BITS, FRACTION = np.uint64(52), np.uint64((1 << 52) - 1)
EXACT = np.uint64(1 << 53)
LOWEST, HIGHEST = -342, 308
POWERS = 10.0 ** np.arange(23)  # these are exact


def _first_bits(power: int) -> tuple[int, int]:
    """The first 128 bits of a power of ten, cut off, in two halves."""
    if power < 0:
        divisor = 10**-power
        bits = (1 << divisor.bit_length() + 127) // divisor
    else:
        bits = (10**power << 128) >> (10**power).bit_length()
    return bits >> 64, bits & (1 << 64) - 1


MANTISSAS = np.array([_first_bits(power) for power in range(LOWEST, HIGHEST + 1)], dtype=np.uint64)


@compiled
def _product(a: Any, b: Any) -> Any:
    """The upper and the lower 64 bits of a product."""
    a0, a1, b0, b1 = a & LOW_HALF, a >> U32, b & LOW_HALF, b >> U32
    middle = a1 * b0 + ((a0 * b0) >> U32)
    other = (middle & LOW_HALF) + a0 * b1
    return a1 * b1 + (middle >> U32) + (other >> U32), a * b


@compiled
def _float(mantissa: Any, power: int) -> Any:
    """The product of a mantissa and 10^power, correctly rounded; and whether it is known."""
    if mantissa <= EXACT and -22 <= power <= 22:
        if power < 0:
            return np.float64(mantissa) / POWERS[-power], True
        return np.float64(mantissa) * POWERS[power], True
    if mantissa == U0:
        return 0.0, True
    if power < LOWEST or power > HIGHEST:
        return 0.0, False
    zeros, step = 0, 32
    while step:
        if mantissa >> np.uint64(64 - step) == U0:
            mantissa <<= np.uint64(step)
            zeros += step
        step >>= 1
    exponent: Any = ((217706 * power) >> 16) + 64 + 1023 - zeros
    upper, lower = MANTISSAS[power - LOWEST, 0], MANTISSAS[power - LOWEST, 1]
    high, low = _product(mantissa, upper)
    if high & NINE_BITS == NINE_BITS and low + mantissa < mantissa:
        more, least = _product(mantissa, lower)
        total = low + more
        if total < low:
            high += U1
        low = total
        if high & NINE_BITS == NINE_BITS and low + U1 == U0 and least + mantissa < mantissa:
            return 0.0, False
    first = high >> U63
    found = high >> (first + U9)
    exponent -= 1 - np.int64(first)
    if low == U0 and high & NINE_BITS == U0 and found & U3 == U1:
        return 0.0, False  # as near to one float as to the next
    found = (found + (found & U1)) >> U1
    if found >> np.uint64(53):
        found >>= U1
        exponent += 1
    if exponent < 1 or exponent > 2046:
        return 0.0, False
    bits = np.uint64((np.uint64(exponent) << FRACTION_BITS) | (found & FRACTION))
    return bits.view(np.float64), True


@compiled
def _number(text: Any, place: Any, point: int) -> Any:
    """The number that begins here, whether there is one, and where it ends."""
    negative = text[place] == MINUS
    if negative or text[place] == PLUS:
        place += U1
    power: Any = 0
    mantissa, begin = U0, place
    while ZERO <= text[place] <= NINE:
        mantissa = mantissa * U10 + np.uint64(text[place] - ZERO)
        place += U1
    digits = np.int64(place - begin)
    if text[place] == point:  # where that is a comma, cells with points are left to others
        place += U1
        after = place
        while ZERO <= text[place] <= NINE:
            mantissa = mantissa * U10 + np.uint64(text[place] - ZERO)
            place += U1
        power = -np.int64(place - after)
        digits -= power
    if digits == 0:
        return 0.0, False, place
    if digits > 19:
        while text[begin] == ZERO or text[begin] == point:
            digits -= text[begin] == ZERO
            begin += U1
        if digits > 19:
            return 0.0, False, place
    if text[place] | 32 == EXPONENT:
        place += U1
        lower = text[place] == MINUS
        if lower or text[place] == PLUS:
            place += U1
        if not ZERO <= text[place] <= NINE:
            return 0.0, False, place
        exponent = 0
        while ZERO <= text[place] <= NINE:
            exponent = min(exponent * 10 + text[place] - ZERO, 1_000_000)
            place += U1
        power += -exponent if lower else exponent
    value, known = _float(mantissa, power)
    return -value if negative else value, known, place


@compiled
def _quoted(text: Any, place: Any, delimiter: int) -> Any:
    """Of a cell that begins with a quote: the second quote, the end, lines inside, and its kind.

    It is of the kind QUOTED, if the quotes are not just around it.
    """
    stop, lines, kind = place, 0, OTHER
    while True:
        place += U1
        while text[place] != QUOTE:
            if text[place] == END:
                return stop, place, lines, QUOTED
            if text[place] == NEWLINE or (text[place] == RETURN and text[place + U1] != NEWLINE):
                lines += 1
            place += U1
        if kind == OTHER:
            stop = place
        place += U1
        if text[place] != QUOTE:
            break
        kind = QUOTED
    end = _cell_end(text, place, delimiter)
    return stop, end, lines, kind if end == place else QUOTED


@compiled
def _cell_end(text: Any, place: Any, delimiter: int) -> Any:
    """Where a cell ends, or the text."""
    while not (
        text[place] == delimiter
        or text[place] == NEWLINE
        or text[place] == RETURN
        or text[place] == END
    ):
        place += U1
    return place


@compiled
def _find(
    text: Any, place: Any, end: Any, final: bool, delimiter: int, point: int, row: int, height: int,
    begins: Any, ends: Any, kinds: Any, values: Any, odd: Any,
) -> Any:  # fmt: skip
    """Rows from a place on, up to ``height``: why it ends, rows, the place, and lines passed by.

    There is a zero behind the end of the text. Without ``final``, more may come behind it.
    """
    width, lines = len(odd), 0
    place, end = np.uint64(place), np.uint64(end)
    while row < height and place < end:
        row_place, row_lines, column = place, lines, 0
        at = np.uint64(row * width)
        while True:
            while text[place] == SPACE:
                place += U1
            begin = place
            if text[place] == QUOTE:
                stop, place, inside, kind = _quoted(text, place, delimiter)
                lines += inside
                if kind == QUOTED:
                    stop = place
                else:
                    begin += U1
                    value, known, behind = _number(text, begin, point)
                    if known and behind == stop:
                        kind = NUMBER
            else:
                value, known, place = _number(text, place, point)
                stop, kind = place, NUMBER
                if not known or text[place] != delimiter:
                    while (text[place] == SPACE or text[place] == TAB) and text[place] != delimiter:
                        place += U1
                    behind = _cell_end(text, place, delimiter)
                    if behind != place or not known:
                        place = stop = behind
                        kind = OTHER
            last = text[place]
            if place - begin > LONGEST:
                return ODD, row, row_place, row_lines
            if last != delimiter:
                if last == END and (place < end or (final and kind == QUOTED)):
                    return ODD, row, row_place, row_lines  # its quotes may be open
                if not final and (place == end or (last == RETURN and place + U1 == end)):
                    return SHORT, row, row_place, row_lines
            if kind == OTHER:
                while stop > begin and (text[stop - U1] == SPACE or text[stop - U1] == TAB):
                    stop -= U1
                if stop == begin:
                    kind = EMPTY
            if column < width:
                begins[at], ends[at], kinds[at] = begin, stop, kind
                values[at] = value if kind == NUMBER else np.nan
                if kind >= OTHER:
                    odd[column] = True
            elif column > width or kind != EMPTY:
                return ODD, row, row_place, row_lines
            column += 1
            at += U1
            if last != delimiter:
                break
            place += U1
        if last != END:
            place += U2 if last == RETURN and text[place + U1] == NEWLINE else U1
            lines += 1
        if column == 1 and kind != NUMBER:
            if kind == EMPTY:
                continue  # an empty line
            if kind == QUOTED or text[begin] <= SPACE or text[begin] > 127:
                return ODD, row, row_place, row_lines  # it may be blank
        if column < width:
            return ODD, row, row_place, row_lines
        row += 1
    return FULL if row == height else SHORT, row, place, lines


@compiled
def _gather(text: Any, begins: Any, ends: Any, found: Any) -> Any:
    """Pieces of a text, with a zero between."""
    at = 0
    for i in range(len(begins)):
        if i:
            found[at] = END
            at += 1
        for place in range(begins[i], ends[i]):
            found[at] = text[place]
            at += 1
    return at


class Cells:
    """The cells of a text, some rows at a time.

    Parameters
    ----------
    beginning : str
        What was already read of the text.
    file : file
        Where the rest comes from.
    shape : (int, int)
        The number of rows that may be asked for at once, and that of columns.

    Attributes
    ----------
    lines : int
        How many lines were passed by.
    """

    def __init__(
        self, beginning: str, file: Any, delimiter: str, decimal: str, shape: tuple[int, int]
    ) -> None:
        self._file, self._delimiter, self._point = file, delimiter, ord(decimal)
        self._text = np.zeros(1, dtype=np.uint8)
        self._place = self._end = self._rows = self.lines = 0
        self._final = False
        self._begins, self._ends = np.empty((2, *shape), dtype=np.int64)
        self._kinds, self._values = np.empty(shape, dtype=np.uint8), np.empty(shape)
        self._odd = np.zeros(shape[1], dtype=np.bool_)
        self._append(beginning)

    def read(self, height: int) -> int:
        """Go on to the next rows, and say how many there are: fewer only before an odd one."""
        self._text[: self._end - self._place] = self._text[self._place : self._end]
        self._end, self._place = self._end - self._place, 0
        self._text[self._end] = END
        self._odd[:] = False
        self._rows = 0
        while True:
            state, self._rows, self._place, lines = _find(
                self._text, self._place, self._end, self._final, ord(self._delimiter),
                self._point, self._rows, height, self._begins.ravel(), self._ends.ravel(),
                self._kinds.ravel(), self._values.ravel(), self._odd,
            )  # fmt: skip
            self.lines += lines
            if state != SHORT or self._final:
                return self._rows
            text = self._file.read(max(CHUNK, self._end - self._place))
            self._final = not text
            self._append(text)

    def numbers(self) -> NDArray[np.float64]:
        """Columns × rows: the numbers, and NaN for the other cells."""
        return self._values[: self._rows].T.copy()

    def others(self, column: int) -> NDArray[np.intp]:
        """Rows whose cells in a column are neither numbers nor empty."""
        if not self._odd[column]:
            return NO_ROWS
        return np.flatnonzero(self._kinds[: self._rows, column] >= OTHER)

    def texts(self, column: int, rows: NDArray[np.intp] | None = None) -> list[str]:
        """What the cells of a column hold, all or some."""
        if rows is None:
            rows = np.arange(self._rows)
        begins, ends = self._begins[rows, column], self._ends[rows, column]
        found = np.empty(int((ends - begins).sum()) + len(rows), dtype=np.uint8)
        length = _gather(self._text, begins, ends, found)
        texts = found[:length].tobytes().decode("utf-8", "surrogatepass").split("\0")
        for i in np.flatnonzero(self._kinds[rows, column] == QUOTED):
            texts[i] = next(csv.reader([texts[i]], delimiter=self._delimiter))[0]
        return texts

    def rest(self) -> str:
        """What was taken from the file, from the first row on that could not be read."""
        return self._text[self._place : self._end].tobytes().decode("utf-8", "surrogatepass")

    def _append(self, text: str) -> None:
        added = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        end = self._end + len(added)
        if end >= len(self._text):
            larger = np.empty(max(end + 1, 2 * len(self._text)), dtype=np.uint8)
            larger[: self._end] = self._text[: self._end]
            self._text = larger
        self._text[self._end : end] = added
        self._text[end] = END
        self._end = end
