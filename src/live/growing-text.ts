import { storableText } from '../event/json-copy.js'

/** Size of the text as JSON, without its quotation marks. */
export function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** The longest end of the text, in whole characters, that takes at most `bytes` as JSON. */
export function newestText(text: string, bytes: number): string {
  const newest = lastBytes(text, bytes)
  // Each byte removed now removes at least one byte of JSON text.
  return lastBytes(newest, bytes - Math.max(0, escapedBytes(newest) - bytes))
}

function lastBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text)
  let start = encoded.length - Math.max(0, bytes)
  if (start <= 0) return text
  while ((encoded[start]! & 0xc0) === 0x80) start++
  return encoded.toString('utf8', start)
}

/** A text that grows by appending, with its unwritten part. */
export class GrowingText {
  text = ''
  /** Size as JSON. */
  bytes = 0
  /** Text that has to be written. */
  pending = ''
  /** True if `pending` replaces the text in the store, false if it is appended. */
  replaces: boolean
  /** A high surrogate. Its other half may come with the next addition. */
  private highSurrogate = ''

  constructor(replaces: boolean) {
    this.replaces = replaces
  }

  /** Returns false if characters were replaced, because they cannot be stored. */
  add(addition: string): boolean {
    const joined = this.highSurrogate + addition
    const endsHigh = /[\uD800-\uDBFF]$/.test(joined)
    this.highSurrogate = endsHigh ? joined.slice(-1) : ''
    return this.grow(endsHigh ? joined.slice(0, -1) : joined)
  }

  /** Ends the text. Returns false if a character was replaced. */
  end(): boolean {
    const { highSurrogate } = this
    this.highSurrogate = ''
    return this.grow(highSurrogate)
  }

  set(text: string): void {
    this.highSurrogate = ''
    if (text.startsWith(this.text)) {
      this.grow(text.slice(this.text.length))
      return
    }
    this.text = text
    this.bytes = escapedBytes(text)
    this.pending = text
    this.replaces = true
  }

  markWritten(): void {
    this.pending = ''
    this.replaces = false
  }

  private grow(addition: string): boolean {
    const stored = storableText(addition)
    this.text += stored
    this.bytes += escapedBytes(stored)
    this.pending += stored
    return stored === addition
  }
}
