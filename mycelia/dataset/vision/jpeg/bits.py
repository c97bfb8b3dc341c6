"""From the bit stream of a JPEG file to planes of luma and chroma: Huffman codes, blocks, their inverse transform."""

from __future__ import annotations

from mycelia.routines.words import Bytes, Longs, Words, dropped, eight, full_byte, mirror, under, upper, word

LOOK = 11  # bits that one look into a table decides
CODES = 1 << LOOK  # where in a table the codes begin that are longer with their extra bits
LAST = 2 << LOOK  # the last code of every length
MOVE = LAST + 17  # from a code to its symbol
SYMBOLS = MOVE + 17
TABLE = SYMBOLS + 256  # numbers in one table
END = 128  # a run that ends the block
FRAME = 8  # numbers about the picture; then PART for each component
PART = 7

ZIGZAG = (
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
)  # fmt: skip


def signed(bits: int, size: int) -> int:
    """The number that `size` extra bits stand for: those that begin with 0 are the negative ones.

    >>> [signed(b, 2) for b in range(4)]
    [-3, -2, 2, 3]
    """
    return bits if bits >> (size - 1) else bits + 1 - (1 << size)


def huffman(counts: Bytes, symbols: Bytes, tables: Words, at: int, direct: int) -> int:
    """Fill the table at `at`: for each next LOOK bits the whole coefficient (length, run, value) if they hold it, else
    the code alone, else nothing. In a `direct` table (DC) symbols are sizes without a run. A code of ones only is none.
    """
    for i in range(TABLE):
        tables[at + i] = 0
    code, k = 0, 0
    for length in range(1, 17):
        tables[at + MOVE + length] = k - code
        for _ in range(counts[length - 1]):
            if code + 1 >> length or k > 255:
                return -1
            symbol = symbols[k]
            run, size = symbol >> 4, symbol & 15
            if direct:
                run, size = 0, symbol
                if symbol > 15:
                    return -1
            elif size == 0 and run != 15:
                run = END
            tables[at + SYMBOLS + k] = symbol
            if length <= LOOK:
                for rest in range(1 << (LOOK - length)):
                    place = at + (code << (LOOK - length)) + rest
                    tables[CODES + place] = length | symbol << 8
                    left = LOOK - length - size
                    if left >= 0:
                        value = signed(rest >> left, size) if size else 0
                        tables[place] = value * 65536 + (run << 8) + length + size
            code += 1
            k += 1
        tables[at + LAST + length] = code - 1 if counts[length - 1] else -1
        code = code << 1
    return 0


def block(
    data: Bytes, frame: Longs, tables: Words, quant: Words, coefs: Words, state: Longs, part: int, keep: int
) -> int:
    """Read one block of the component `part`, into `coefs` if it is to be kept: the place of its last coefficient.

    -1 if the bits mean nothing, or if a coefficient is beyond 14 bits: libraries then count in 16 bits, which overflow.
    """
    bits, count, place, false = state[0], state[1], state[2], state[3]
    scale = frame[part + 4]
    last = frame[1]
    if keep:
        for i in range(64):
            coefs[i] = 0
    k, end, byte, value, wild = 0, 0, 0, 0, 0
    table = frame[part + 2]
    while k < 64:
        coming = -1
        if place <= last:
            coming = eight(data, place)
        if full_byte(coming):
            while count <= 56:
                byte, after = 255, 255
                if place < last + 7:  # both lie within the file; behind its end there is a marker, so to say
                    byte, after = data[place], data[place + 1]
                if byte == 255 and after != 0:
                    byte = 0  # a marker: zeros from here on, which must not be used
                    false += 8
                else:
                    place += 2 if byte == 255 else 1
                bits = bits | under(byte << 56, count)
                count += 8
        else:
            bits = bits | under(coming, count)
            place += (63 - count) >> 3
            count = count | 56
        for turn in range(4):  # as many short ones as 56 bits surely hold, or one long one
            entry = tables[table + upper(bits, LOOK)]
            length = entry & 255
            run = entry >> 8 & 255
            value = entry >> 16
            if entry == 0:
                if turn > 0:
                    break
                code = tables[table + CODES + upper(bits, LOOK)]
                length = code & 255
                symbol = code >> 8
                if code == 0:
                    length = LOOK + 1
                    while length < 17 and upper(bits, length) > tables[table + LAST + length]:
                        length += 1
                    if length > 16:
                        return -1
                    symbol = tables[table + SYMBOLS + (upper(bits, length) + tables[table + MOVE + length] & 255)]
                size = symbol & 15
                run = symbol >> 4
                if size:
                    value = signed(upper(dropped(bits, length), size), size)
                    length += size
                elif run != 15 and k > 0:
                    run = END
            bits = dropped(bits, length)
            count -= length
            if k == 0:
                state[part] += value
                value = state[part]
                table = frame[part + 3]
            k += run
            if k > 63:
                if k < END:
                    return -1
                break
            end = k
            if keep:
                value = value * quant[scale + k]
                wild = wild | value + 8192
                coefs[ZIGZAG[k]] = value
            k += 1
            if k > 63 or length > LOOK:
                break
    if count < false or wild >> 14:
        return -1
    state[0], state[1], state[2], state[3] = bits, count, place, false
    return end


def spread(coefs: Words, work: Words, shift: int) -> int:
    """The inverse cosine transform of all columns of a block, in whole numbers; `shift` bits are rounded off.

    The answer has more than 15 bits if one of the numbers has.
    """
    down, wild = word(shift), word(0)
    half = word(1 << (shift - 1))
    for i in range(8):
        z2, z3 = coefs[16 + i], coefs[48 + i]
        z1 = (z2 + z3) * 4433
        t2, t3 = z1 - z3 * 15137, z1 + z2 * 6270
        t0, t1 = (coefs[i] + coefs[32 + i]) << 13, (coefs[i] - coefs[32 + i]) << 13
        a0, a1, a2, a3 = t0 + t3 + half, t1 + t2 + half, t1 - t2 + half, t0 - t3 + half
        b0, b1, b2, b3 = coefs[56 + i], coefs[40 + i], coefs[24 + i], coefs[8 + i]
        s0, s1, s2, s3 = b0 + b3, b1 + b2, b0 + b2, b1 + b3
        s4 = (s2 + s3) * 9633
        s0, s1 = s0 * -7373, s1 * -20995
        s2, s3 = s4 - s2 * 16069, s4 - s3 * 3196
        b0, b1 = b0 * 2446 + s0 + s2, b1 * 16819 + s1 + s3
        b2, b3 = b2 * 25172 + s1 + s2, b3 * 12299 + s0 + s3
        work[i], work[56 + i] = (a0 + b3) >> down, (a0 - b3) >> down
        work[8 + i], work[48 + i] = (a1 + b2) >> down, (a1 - b2) >> down
        work[16 + i], work[40 + i] = (a2 + b1) >> down, (a2 - b1) >> down
        work[24 + i], work[32 + i] = (a3 + b0) >> down, (a3 - b0) >> down
        for k in range(8):
            wild = wild | work[8 * k + i] + 16384
    return wild


def transform(coefs: Words, work: Words, planes: Bytes, at: int, stride: int) -> int:
    """The pixels of a block: transformed along the columns, and then along the rows; -1 if numbers grow too large."""
    if spread(coefs, work, 11) >> 15:
        return -1
    mirror(work)
    spread(work, coefs, 18)
    mirror(coefs)
    for i in range(8):
        for j in range(8):
            planes[at + i * stride + j] = min(max(coefs[i * 8 + j] + 128, 0), 255)
    return 0


def flat(planes: Bytes, at: int, stride: int, value: int) -> int:
    """A block of one colour."""
    for i in range(8):
        for j in range(8):
            planes[at + i * stride + j] = value
    return 0


def scan(
    data: Bytes, frame: Longs, tables: Words, quant: Words, coefs: Words, work: Words, planes: Bytes, state: Longs
) -> int:
    """Read all MCUs down to the last row that is needed, and make the blocks of those within the rectangle."""
    for i in range(FRAME + 3 * PART):
        state[i] = 0
    state[2] = frame[0]
    for y in range(frame[3]):
        for x in range(frame[2]):
            keep = 1 if y >= frame[4] and x >= frame[5] and x < frame[6] else 0
            for c in range(frame[7]):
                part = FRAME + c * PART
                for v in range(frame[part + 1]):
                    for h in range(frame[part]):
                        end = block(data, frame, tables, quant, coefs, state, part, keep)
                        if end < 0:
                            return -1
                        if keep:
                            row = (y - frame[4]) * frame[part + 1] + v
                            column = (x - frame[5]) * frame[part] + h
                            at = frame[part + 5] + row * 8 * frame[part + 6] + column * 8
                            if end == 0:
                                level = min(max((coefs[0] + 4 >> 3) + 128, 0), 255)
                                flat(planes, at, frame[part + 6], level)
                            elif transform(coefs, work, planes, at, frame[part + 6]) < 0:
                                return -1
    return 0
