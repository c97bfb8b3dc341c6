"""Rows put in order: a radix sort of keys, with the position of each element beside its key.

A *key* is a signed number that is as large as its element: that of a float has all bits but the sign turned where the
number is negative, every nan has the largest key of all, and both zeros have the key 0. What differs though its keys
are equal (zeros, nan) is read from its row again in the end, so that nothing is lost.

In the room that belongs to the call a key and its position are one *word*, 32 bits each; those of 64-bit elements are
two words side by side (`wide`). Words are sorted by digits of eight bits, the lowest first, each time without changing
the order of equal ones. If few words have many bits, only the highest digits are looked at, and what is not in order
then is moved one by one, unless that is too much. A row that does not fit the cache is spread into bins by its highest
bits first, and then bin after bin is sorted and written.

Rows are shared by threads. Of few long rows all threads sort one, phase by phase: none begins a phase before all have
ended the one before.

An element type is told by three numbers more: `magnitude`, the bits of a float without its sign (0 for whole numbers),
`infinity`, and `bias`, which makes unsigned numbers signed. These, and whether values are `wanted` and `where` they
were, are constants when the routine becomes machine code.
"""

from __future__ import annotations

from mycelia.routines.words import Elements, Longs, under

DIGIT = 256  # bins of a digit of eight bits
SHORT = 32  # words that are sorted by moving them one by one
FIRST = 11  # bits of the bins into which long rows are spread
BINS = 1 << FIRST
LONG = 1 << 17  # elements of a row that is spread into bins first
MORE = 96  # words that are collected beside the first, before they are put in order
POSITION = (1 << 32) - 1

PHASES, THREADS, OUTER, LENGTH, INNER, KEPT, FLIP, LANE, PARTS = range(9)  # places in `sizes`
TOGETHER = 4  # phases of a row that several threads sort
# behind the words, for each part of a row: its least and largest key, counts and beginnings of bins, counts of digits
LEAST, LARGEST, COUNTS, STARTS, INNER_COUNTS, DIGITS = 0, 1, 8, 8 + BINS, 8 + 2 * BINS, 8 + 3 * BINS
PART = DIGITS + 9 * DIGIT


def put_in_order(
    x: Elements, values: Elements, positions: Longs, room: Longs, sizes: Longs, phase: int, me: int, all: int,
    wanted: int, where: int, wide: int, magnitude: int, infinity: int, bias: int,
) -> int:  # fmt: skip
    """The first `kept` elements in order of each row, and where they were, as far as they are wanted."""
    length, inner, kept, parts = sizes[LENGTH], sizes[INNER], sizes[KEPT], sizes[PARTS]
    if length == 0:
        return 0
    if parts == 0:
        rows = sizes[OUTER] * inner
        for row in range(rows * me // all, rows * (me + 1) // all):
            before = row // inner
            begin, to = (before * length - before) * inner + row, (before * kept - before) * inner + row
            at = me * sizes[LANE]
            if length >= LONG and kept == length:
                for now in range(TOGETHER):
                    sort_part(
                        x, values, positions, room, sizes, begin, to, at, now, 0, 1,
                        wanted, where, wide, magnitude, infinity, bias,
                    )  # fmt: skip
            else:
                sort_row(
                    x, values, positions, room, sizes, begin, to, at, wanted, where, wide, magnitude, infinity, bias
                )
        return 0
    row = phase // TOGETHER
    before = row // inner
    begin, to = (before * length - before) * inner + row, (before * kept - before) * inner + row
    part = me
    while part < parts:
        sort_part(
            x, values, positions, room, sizes, begin, to, 0, phase - row * TOGETHER, part, parts,
            wanted, where, wide, magnitude, infinity, bias,
        )  # fmt: skip
        part += all
    return 0


def sort_part(
    x: Elements, values: Elements, positions: Longs, room: Longs, sizes: Longs, begin: int, to: int, at: int,
    phase: int, part: int, parts: int,
    wanted: int, where: int, wide: int, magnitude: int, infinity: int, bias: int,
) -> int:  # fmt: skip
    """One phase of a part of a long row, with room from `at` on for all parts."""
    length, inner, flip = sizes[LENGTH], sizes[INNER], sizes[FLIP]
    first, last = length * part // parts, length * (part + 1) // parts
    other = at + length * wide
    all_parts = other + length * wide
    own = all_parts + part * PART
    if phase == 0:
        load(x, room, at, own, begin, inner, first, last, flip, wide, magnitude, infinity, bias)
        return 0
    least, largest = room[all_parts + LEAST], room[all_parts + LARGEST]
    for p in range(1, parts):
        least = min(least, room[all_parts + p * PART + LEAST])
        largest = max(largest, room[all_parts + p * PART + LARGEST])
    lift = 64 - 32 * wide  # where a key begins in its word
    base = least << lift
    bits = max(bits_of(largest - least) - bin_bits(length), 0)  # of which bins are sorted
    if phase == 1:
        count_bins(room, at, first, last, own + COUNTS, lift + bits, base, wide)
    elif phase == 2:
        total = 0
        for b in range(BINS):
            for p in range(parts):
                if p == part:
                    room[own + STARTS + b] = total
                total += room[all_parts + p * PART + COUNTS + b]
        spread(room, at, other, first, last, lift + bits, BINS - 1, base, own + STARTS, wide)
    else:
        start = 0
        for b in range(BINS):
            count = 0
            for p in range(parts):
                count += room[all_parts + p * PART + COUNTS + b]
            if count > 0 and start >= first and start < last:  # the bins that begin in its part
                sort_bin(
                    x, values, positions, room, other + start * wide, at + start * wide, own, begin,
                    to + start * inner, inner, count, bits, base, flip, wanted, where, wide, magnitude, bias,
                )  # fmt: skip
            start += count
    return 0


def sort_bin(
    x: Elements, values: Elements, positions: Longs, room: Longs, here: int, spare: int, own: int, begin: int, to: int,
    step: int, length: int, bits: int, base: int, flip: int,
    wanted: int, where: int, wide: int, magnitude: int, bias: int,
) -> int:  # fmt: skip
    """Put a bin in order and unload it. One that does not fit the cache is spread into bins of its own."""
    if length < LONG or bits <= 8:
        turned = sort_words(room, here, spare, length, bits, base, own + DIGITS, wide, magnitude)
        unload(
            x, values, positions, room, spare if turned else here, begin, to, step, length,
            flip, wanted, where, wide, magnitude, bias,
        )  # fmt: skip
        return 0
    lift = 64 - 32 * wide
    inner_bits = max(bits - bin_bits(length), 0)
    count_bins(room, here, 0, length, own + INNER_COUNTS, lift + inner_bits, base, wide)
    total = 0
    for b in range(BINS):
        room[own + STARTS + b] = total
        total += room[own + INNER_COUNTS + b]
    spread(room, here, spare, 0, length, lift + inner_bits, BINS - 1, base, own + STARTS, wide)
    start = 0
    for b in range(BINS):
        count = room[own + INNER_COUNTS + b]
        if count > 0:
            source, target = spare + start * wide, here + start * wide
            turned = sort_words(room, source, target, count, inner_bits, base, own + DIGITS, wide, magnitude)
            unload(
                x, values, positions, room, target if turned else source, begin, to + start * step, step, count,
                flip, wanted, where, wide, magnitude, bias,
            )  # fmt: skip
        start += count
    return 0


def bin_bits(length: int) -> int:
    """How many bits tell the bins of so many words: a thousand words are worth one."""
    return min(max(bits_of(length) - 10, 5), FIRST)


def count_bins(room: Longs, source: int, first: int, last: int, counts: int, shift: int, base: int, wide: int) -> int:
    """How many words go into each bin."""
    for b in range(BINS):
        room[counts + b] = 0
    for i in range(first, last):
        room[counts + (under(room[source + i * wide] - base, shift) & (BINS - 1))] += 1
    return 0


def sort_row(
    x: Elements, values: Elements, positions: Longs, room: Longs, sizes: Longs, begin: int, to: int, at: int,
    wanted: int, where: int, wide: int, magnitude: int, infinity: int, bias: int,
) -> int:  # fmt: skip
    """One row by one thread, with room from `at` on."""
    length, inner, kept, flip = sizes[LENGTH], sizes[INNER], sizes[KEPT], sizes[FLIP]
    other = at + length * wide
    own = other + length * wide
    turned = 0
    if 2 * kept + MORE <= length:
        if kept > 0:
            turned = first_words(
                x, room, at, other, own, begin, inner, length, kept, flip, wide, magnitude, infinity, bias
            )
    else:
        load(x, room, at, own, begin, inner, 0, length, flip, wide, magnitude, infinity, bias)
        least = room[own + LEAST]
        bits, base = bits_of(room[own + LARGEST] - least), least << (64 - 32 * wide)
        turned = sort_words(room, at, other, length, bits, base, own + DIGITS, wide, magnitude)
    unload(
        x, values, positions, room, other if turned else at, begin, to, inner, kept,
        flip, wanted, where, wide, magnitude, bias,
    )  # fmt: skip
    return 0


def key_of(element: int, magnitude: int, infinity: int, bias: int) -> int:
    """The key of an element, whose bits are those of a signed number."""
    key = element ^ ((element >> 63) & magnitude) ^ bias
    if magnitude != 0:
        key = 0 if key == -1 else key
        key = magnitude if key > infinity else key
        key = magnitude if key < -1 - infinity else key
    return key


def bits_of(span: int) -> int:
    """How many bits a number has that is not negative, or that is beyond 63 bits."""
    bits = 0
    while bits < 64 and under(span, bits) != 0:
        bits += 1
    return bits


def load(
    x: Elements, room: Longs, at: int, own: int, begin: int, step: int, first: int, last: int, flip: int,
    wide: int, magnitude: int, infinity: int, bias: int,
) -> int:  # fmt: skip
    """Keys and positions of a part of a row, and what the least and the largest of the keys are."""
    least = key_of(x[begin + min(first, last - 1) * step], magnitude, infinity, bias) ^ flip
    largest = least
    for i in range(first, last):
        key = key_of(x[begin + i * step], magnitude, infinity, bias) ^ flip
        least, largest = min(key, least), max(key, largest)
        if wide == 2:
            room[at + 2 * i] = key
            room[at + 2 * i + 1] = i
        else:
            room[at + i] = (key << 32) | i
    room[own + LEAST] = least
    room[own + LARGEST] = largest
    return 0


def first_words(
    x: Elements, room: Longs, at: int, other: int, own: int, begin: int, step: int, length: int, kept: int, flip: int,
    wide: int, magnitude: int, infinity: int, bias: int,
) -> int:  # fmt: skip
    """The words of the first `kept` elements in order; whether they are in `other`. Those are collected that come
    before the last of the first so far; when they are too many for their room, they are put in order, and the first
    stay.
    """
    most = 2 * kept + MORE
    load(x, room, at, own, begin, step, 0, most, flip, wide, magnitude, infinity, bias)
    turned = sort_found(room, at, other, most, own, wide, magnitude)
    found, here = kept, other if turned else at
    bound = room[here + (kept - 1) * wide] >> (64 - 32 * wide)
    for i in range(most, length):
        key = key_of(x[begin + i * step], magnitude, infinity, bias) ^ flip
        if key < bound:
            if wide == 2:
                room[here + 2 * found] = key
                room[here + 2 * found + 1] = i
            else:
                room[here + found] = (key << 32) | i
            found += 1
            if found == most:
                turned = turned ^ sort_found(room, here, other if here == at else at, found, own, wide, magnitude)
                found, here = kept, other if turned else at
                bound = room[here + (kept - 1) * wide] >> (64 - 32 * wide)
    return turned ^ sort_found(room, here, other if here == at else at, found, own, wide, magnitude)


def sort_found(room: Longs, at: int, other: int, length: int, own: int, wide: int, magnitude: int) -> int:
    """Words in order; whether they are in `other` then."""
    lift = 64 - 32 * wide
    least = room[at] >> lift
    largest = least
    for i in range(length):
        key = room[at + i * wide] >> lift
        least, largest = min(key, least), max(key, largest)
    return sort_words(room, at, other, length, bits_of(largest - least), least << lift, own + DIGITS, wide, magnitude)


def sort_words(
    room: Longs, at: int, other: int, length: int, bits: int, base: int, counts: int, wide: int, magnitude: int
) -> int:
    """Words in order of the lowest bits of their keys, in which alone they differ; whether they are in `other` then."""
    if length <= SHORT:
        insert(room, at, length, wide, SHORT * SHORT)
        return 0
    digits = 0
    apart = (4096 if magnitude != 0 else 32) * length  # floats are close together where they are many
    while 8 * digits < bits and (1 << (8 * digits)) < apart:
        digits += 1
    low = max(bits - 8 * digits, 0)
    turned = by_digits(room, at, other, length, low, digits, base, counts, wide)
    if low > 0:
        source, target = at, other
        if turned:
            source, target = other, at
        if insert(room, source, length, wide, 8 * length) == 0:
            turned = turned ^ by_digits(room, source, target, length, 0, (bits + 7) >> 3, base, counts, wide)
    return turned


def by_digits(
    room: Longs, at: int, other: int, length: int, low: int, digits: int, base: int, counts: int, wide: int
) -> int:
    """Words in order of digits from the bit `low` of their keys on; whether they are in `other` then."""
    shift = 64 - 32 * wide + low
    for b in range(digits * DIGIT):
        room[counts + b] = 0
    for i in range(length):
        word = room[at + i * wide] - base
        for d in range(digits):
            room[counts + d * DIGIT + (under(word, shift + 8 * d) & 255)] += 1
    turned, source, target = 0, at, other
    starts = counts + digits * DIGIT
    for d in range(digits):
        one = under(room[source] - base, shift + 8 * d) & 255
        if room[counts + d * DIGIT + one] < length:  # else the digit is the same everywhere
            total = 0
            for b in range(DIGIT):
                room[starts + b] = total
                total += room[counts + d * DIGIT + b]
            spread(room, source, target, 0, length, shift + 8 * d, 255, base, starts, wide)
            turned, source, target = 1 - turned, target, source
    return turned


def spread(
    room: Longs, source: int, target: int, first: int, last: int, shift: int, mask: int, base: int, starts: int,
    wide: int,
) -> int:  # fmt: skip
    """Words to where those of their digit go."""
    for i in range(first, last):
        word = room[source + i * wide]
        place = starts + (under(word - base, shift) & mask)
        to = room[place]
        room[place] = to + 1
        room[target + to * wide] = word
        if wide == 2:
            room[target + 2 * to + 1] = room[source + 2 * i + 1]
    return 0


def insert(room: Longs, at: int, length: int, wide: int, most: int) -> int:
    """Words in order, each moved to where it belongs; 0 if more than so many moves are needed."""
    left = most
    for i in range(1, length):
        word = room[at + i * wide]
        if room[at + (i - 1) * wide] > word:
            place = room[at + i * wide + wide - 1]
            j = i
            while j > 0 and room[at + (j - 1) * wide] > word:
                room[at + j * wide] = room[at + (j - 1) * wide]
                if wide == 2:
                    room[at + 2 * j + 1] = room[at + 2 * j - 1]
                j -= 1
            room[at + j * wide] = word
            if wide == 2:
                room[at + 2 * j + 1] = place
            left -= i - j
            if left < 0:
                return 0
    return 1


def unload(
    x: Elements, values: Elements, positions: Longs, room: Longs, source: int, begin: int, to: int, step: int,
    count: int, flip: int, wanted: int, where: int, wide: int, magnitude: int, bias: int,
) -> int:  # fmt: skip
    """What is wanted of words that are in order."""
    for i in range(count):
        word = room[source + i * wide]
        key, place = (word >> 32) ^ flip, word & POSITION
        if wide == 2:
            key, place = word ^ flip, room[source + 2 * i + 1]
        if where:
            positions[to + i * step] = place
        if wanted:
            if magnitude != 0 and (key == 0 or key == magnitude):
                values[to + i * step] = x[begin + place * step]
            else:
                values[to + i * step] = key ^ ((key >> 63) & magnitude) ^ bias
    return 0
