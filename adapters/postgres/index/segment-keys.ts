import type { Key } from '../../../src/store-kit/index/segment-source.js'

const SIGN = 0x80

/** The key as bytes, which sort as the numbers do, or as the texts do by code point. */
export function keyBytes(key: Key): Buffer {
  if (typeof key === 'string') return Buffer.from(key)
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(key)
  if (bytes[0]! < SIGN) bytes[0]! |= SIGN
  else for (let i = 0; i < bytes.length; i++) bytes[i]! ^= 0xff
  return bytes
}

/** The number that such bytes stand for. */
export function numberOfKey(key: Buffer): number {
  const bytes = Buffer.from(key)
  if (bytes[0]! >= SIGN) bytes[0]! &= SIGN - 1
  else for (let i = 0; i < bytes.length; i++) bytes[i]! ^= 0xff
  return bytes.readDoubleBE()
}
