import { storableText } from '../event/json-copy.js'

/** How many bytes of JSON text a text takes, without its quotation marks. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** The end of the text, whole characters only, that takes so many bytes of JSON text at most. */
export function newestText(text: string, bytes: number): string {
  const newest = lastBytes(text, bytes)
  // Each byte that goes now takes a byte of JSON text or more with it.
  return lastBytes(newest, bytes - Math.max(0, jsonBytes(newest) - bytes))
}

function lastBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text)
  let start = encoded.length - Math.max(0, bytes)
  if (start <= 0) return text
  while ((encoded[start]! & 0xc0) === 0x80) start++
  return encoded.toString('utf8', start)
}

/** A text that grows, and what of it is not written yet. */
export class GrowingText {
  text = ''
  /** Of JSON text. */
  bytes = 0
  /** What is added to what is written, or takes its place. */
  pending = ''
  replaces: boolean
  /** The first half of a character, whose other half may come with the next addition. */
  private half = ''

  constructor(replaces: boolean) {
    this.replaces = replaces
  }

  /** Gives whether it could be kept as it is. */
  add(addition: string): boolean {
    const joined = this.half + addition
    const isHalved = /[\uD800-\uDBFF]$/.test(joined)
    this.half = isHalved ? joined.slice(-1) : ''
    return this.keep(isHalved ? joined.slice(0, -1) : joined)
  }

  /** No other half will come. Gives whether all could be kept as it is. */
  end(): boolean {
    const { half } = this
    this.half = ''
    return this.keep(half)
  }

  set(text: string): void {
    this.half = ''
    if (text.startsWith(this.text)) {
      this.keep(text.slice(this.text.length))
      return
    }
    this.text = text
    this.bytes = jsonBytes(text)
    this.pending = text
    this.replaces = true
  }

  written(): void {
    this.pending = ''
    this.replaces = false
  }

  private keep(addition: string): boolean {
    const kept = storableText(addition)
    this.text += kept
    this.bytes += jsonBytes(kept)
    this.pending += kept
    return kept === addition
  }
}
