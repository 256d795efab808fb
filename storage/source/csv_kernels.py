"""Rows of CSV text that need no second look, found over its bytes."""

from anon_core.jit.kernel import kernel

QUOTE, LINE, RETURN = 34, 10, 13


@kernel
def _end_line(text, at, final):
    """Return the place behind a line end at `at`, `at` where there is none, -1 where it is odd.

    -2: the text breaks off before it can be told.
    """
    if text[at] == LINE:
        return at + 1
    if text[at] != RETURN:
        return at
    if at + 1 == len(text):
        return -1 if final else -2
    return at + 2 if text[at + 1] == LINE else -1


@kernel
def _end_quoted_field(text, at, final):
    """Return the place behind the closing quote of a field, -1 and -2 as `_end_line`, and lines.

    `at` is the place behind the opening quote.
    """
    lines = 0
    while at < len(text):
        sign = text[at]
        if sign == QUOTE:
            if at + 1 == len(text):
                return at + 1 if final else -2, lines
            if text[at + 1] != QUOTE:
                return at + 1, lines
            at += 2
        elif sign in (LINE, RETURN):
            at = _end_line(text, at, final)
            if at < 0:
                return at, lines
            lines += 1
        elif sign == 0:
            return -1, lines
        else:
            at += 1
    return -1 if final else -2, lines


@kernel
def find_plain_rows(text, separator, fields, comment, most, final):
    r"""Find the leading rows that any reader of CSV takes for the same rows.

    They have the right number of fields, quotes around whole fields only, line ends of \n or
    \r\n, and no NUL bytes. No such row: a blank line, a comment, a field of more than `most`
    bytes, the single field of blanks.

    Shapes: text and comment uint8; `final`: the text ends where the file does.
    Returns the end of the last such row, the rows, their lines, and whether another row follows
    that is whole or the last one.
    """
    at = end = rows = lines = 0
    while at < len(text):
        if len(comment) and at + len(comment) > len(text) and not final:
            return end, rows, lines, False
        if len(comment) and at + len(comment) <= len(text):
            alike = True
            for place in range(len(comment)):
                alike &= text[at + place] == comment[place]
            if alike:
                return end, rows, lines, True
        field, inside, blank, begin = 1, 0, True, at
        while True:
            if at < len(text) and text[at] == QUOTE:
                at, more = _end_quoted_field(text, at + 1, final)
                if at < 0:
                    return end, rows, lines, at == -1
                inside += more
                blank = False
            else:
                while at < len(text):
                    sign = text[at]
                    if sign in (separator, LINE, RETURN):
                        break
                    if sign in (0, QUOTE):
                        return end, rows, lines, True
                    blank &= sign <= 32
                    at += 1
            if at - begin > most:
                return end, rows, lines, True
            if at == len(text):
                if not final:
                    return end, rows, lines, False
                break
            if text[at] != separator:
                after = _end_line(text, at, final)
                if after < 0 or after == at:
                    return end, rows, lines, after != -2
                at = after
                break
            at += 1
            field += 1
            begin = at
        if field != fields or (blank and fields == 1):
            return end, rows, lines, True
        end = at
        rows += 1
        lines += inside + 1
    return end, rows, lines, False
