import type { Key } from '../../../src/store-kit/index/segment-source.js'

/*
 * The states of segments, and the keys of their chunks, as their tables have them.
 */
export const State = {
  /** Being written, or left so by a process that died. */
  building: 0,
  visible: 1,
  /** Nobody begins to read it any more, and its rows are being removed. */
  gone: 2,
} as const

/** In place of the name where there is none. */
export const NO_NAME = 0

/** Beside the kinds of lists: the blocks of a segment's times. */
export const TIMES = 7

const SIGN = 0x80

/** Bytes that are in the order of the numbers, or of the texts by code point. */
export function keyBytes(key: Key): Buffer {
  if (typeof key === 'string') return Buffer.from(key)
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(key)
  if (bytes[0]! < SIGN) bytes[0]! |= SIGN
  else for (let i = 0; i < bytes.length; i++) bytes[i]! ^= 0xff
  return bytes
}

/** The number of such bytes. */
export function numberOfKey(key: Buffer): number {
  const bytes = Buffer.from(key)
  if (bytes[0]! >= SIGN) bytes[0]! &= SIGN - 1
  else for (let i = 0; i < bytes.length; i++) bytes[i]! ^= 0xff
  return bytes.readDoubleBE()
}
