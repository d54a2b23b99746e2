/*
 * Arrays in the binary format of the protocol, in which pg sends a Buffer. Twice as fast as text, which has two
 * characters for each byte and escapes quotes. See `array_recv` in
 * https://github.com/postgres/postgres/blob/master/src/backend/utils/adt/arrayfuncs.c
 */
const Type = { bytea: 17, int8: 20, int4: 23, text: 25 } as const

const HEAD = 20

function arrayOf(
  type: number,
  count: number,
  bytes: number,
  put: (array: Buffer, at: number, index: number) => number,
): Buffer {
  const array = Buffer.allocUnsafe(HEAD + 4 * count + bytes)
  // One dimension, no NULLs, the element type, the length, and the lower bound 1.
  let at = 0
  for (const number of [1, 0, type, count, 1]) at = array.writeInt32BE(number, at)
  for (let i = 0; i < count; i++) {
    const length = put(array, at + 4, i)
    array.writeInt32BE(length, at)
    at += 4 + length
  }
  return array
}

/** For `$1::int4[]`. */
export const int4Array = (numbers: readonly number[]): Buffer =>
  arrayOf(Type.int4, numbers.length, 4 * numbers.length, (array, at, i) => {
    array.writeInt32BE(numbers[i]!, at)
    return 4
  })

const HIGH = 2 ** 32

/** For `$1::int8[]`; takes safe integers. */
export const int8Array = (numbers: ArrayLike<number>): Buffer =>
  arrayOf(Type.int8, numbers.length, 8 * numbers.length, (array, at, i) => {
    const high = Math.floor(numbers[i]! / HIGH)
    array.writeInt32BE(high, at)
    array.writeUInt32BE(numbers[i]! - high * HIGH, at + 4)
    return 8
  })

const sum = (lengths: readonly number[]): number => lengths.reduce((all, one) => all + one, 0)

/** For `$1::bytea[]`. */
export const byteaArray = (all: readonly Uint8Array[]): Buffer =>
  arrayOf(Type.bytea, all.length, sum(all.map(({ length }) => length)), (array, at, i) => {
    array.set(all[i]!, at)
    return all[i]!.length
  })

/** For `$1::text[]`; the texts must not contain U+0000. */
export function textArray(texts: readonly string[]): Buffer {
  const bytes = sum(texts.map((text) => Buffer.byteLength(text)))
  return arrayOf(Type.text, texts.length, bytes, (array, at, i) => array.write(texts[i]!, at))
}
