import { StringDecoder } from 'node:string_decoder'
import type { JsonObject, JsonValue } from './event.js'
import { type Copier, jsonPointer } from './json-copy.js'

interface StringLeaf {
  readonly holder: JsonObject | JsonValue[]
  readonly key: string | number
  readonly path: readonly string[]
  readonly bytes: number
}

function stringLeaves(value: JsonValue, path: readonly string[], found: StringLeaf[]): void {
  if (value === null || typeof value !== 'object') return
  for (const key of Object.keys(value)) {
    const holder = value as JsonObject
    const member = holder[key]!
    if (typeof member === 'string')
      found.push({ holder, key, path: [...path, key], bytes: Buffer.byteLength(member) })
    else stringLeaves(member, [...path, key], found)
  }
}

/** The beginning of the text in at most `bytes` bytes of UTF-8, without partial characters. */
export function cutText(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  return new StringDecoder('utf8').write(Buffer.from(text).subarray(0, bytes))
}

/**
 * Cuts the attributes in place until their JSON text fits. It first cuts the longest texts, all to the
 * same length, so that short attributes stay searchable, and then removes whole attributes, the largest
 * first.
 */
export function cutToSize(attributes: JsonObject, maxBytes: number, copier: Copier): string {
  const noted = new Set<string>()
  const note = (path: readonly string[]): void => {
    const pointer = jsonPointer(path)
    if (!noted.has(pointer)) copier.note(path)
    noted.add(pointer)
  }
  const leaves: StringLeaf[] = []
  stringLeaves(attributes, [], leaves)
  leaves.sort((a, b) => b.bytes - a.bytes)
  let json = JSON.stringify(attributes)
  let bytes = Buffer.byteLength(json)
  for (let cap = maxBytes; cap >= 64 && bytes > maxBytes; cap = Math.floor(cap / 2)) {
    const long = leaves.filter((leaf) => leaf.bytes > cap)
    if (long.length === 0) continue
    for (const leaf of long) {
      const holder = leaf.holder as Record<string | number, string>
      holder[leaf.key] = cutText(holder[leaf.key]!, cap)
      note(leaf.path)
    }
    json = JSON.stringify(attributes)
    bytes = Buffer.byteLength(json)
  }
  if (bytes <= maxBytes) return json
  const sizes = Object.keys(attributes)
    .map((key) => ({
      key,
      bytes: Buffer.byteLength(JSON.stringify({ [key]: attributes[key] })) - 1,
    }))
    .toSorted((a, b) => b.bytes - a.bytes)
  for (const size of sizes) {
    if (bytes <= maxBytes) break
    delete attributes[size.key]
    bytes -= size.bytes
    note([size.key])
  }
  return JSON.stringify(attributes)
}
