import { hkdfSync } from 'node:crypto'
import type { AuditEvent } from '../event/event.js'
import { bodyOf, eventEntry, type EventKind } from './entry.js'
import { sha256Base64 } from './sha256.js'
import { leafHash } from './tree.js'

/** Number of successive leaves whose salts come from one seed. Rows begin at multiples of it. */
export const ROW_LEAVES = 256
/** Bytes of the seed of a row. It is random and secret. */
export const SEED_BYTES = 32
/** Bytes of the salt of an event. */
export const SALT_BYTES = 16

/** The salts of a row, one after the other: HKDF with SHA-256 (RFC 5869), no salt of its own, and this text as its info. */
const SALT_INFO = 'daybook ledger salts v1'

/** Bytes of a bit for each leaf of a row, the lowest first. */
const MAP_BYTES = ROW_LEAVES / 8

const isSeed = (kept: Uint8Array): boolean => kept.length === SEED_BYTES

/**
 * True if the row has the salt of this leaf. After events were removed, a row keeps a bit for each leaf and the salts of those whose bit is
 * set, and nothing if no salt is left: so a hash that is left does not confirm a guess about a removed event.
 */
export function hasSalt(kept: Uint8Array, leaf: number): boolean {
  const place = leaf % ROW_LEAVES
  return isSeed(kept) || (((kept[Math.floor(place / 8)] ?? 0) >> (place % 8)) & 1) === 1
}

/** The salts of a row, from its seed, or from what was kept of them. Salts that were not kept are zeros. */
export function saltsOf(kept: Uint8Array): Uint8Array {
  if (isSeed(kept))
    return new Uint8Array(hkdfSync('sha256', kept, '', SALT_INFO, ROW_LEAVES * SALT_BYTES))
  const salts = new Uint8Array(ROW_LEAVES * SALT_BYTES)
  let at = MAP_BYTES
  for (let leaf = 0; leaf < ROW_LEAVES; leaf++)
    if (hasSalt(kept, leaf)) {
      salts.set(kept.subarray(at, at + SALT_BYTES), leaf * SALT_BYTES)
      at += SALT_BYTES
    }
  return salts
}

/** A row of salts without those of some leaves: the form that {@link saltsOf} reads. */
export function keepSalts(
  kept: Uint8Array,
  isKept: (place: number) => boolean,
): Uint8Array<ArrayBuffer> {
  const salts = saltsOf(kept)
  const bits = new Uint8Array(MAP_BYTES)
  const parts: Uint8Array[] = [bits]
  for (let place = 0; place < ROW_LEAVES; place++)
    if (hasSalt(kept, place) && isKept(place)) {
      bits[Math.floor(place / 8)]! |= 1 << (place % 8)
      parts.push(saltAt(salts, place))
    }
  return parts.length === 1 ? new Uint8Array() : new Uint8Array(Buffer.concat(parts))
}

/** The salt of a leaf, of the salts of its row. */
export function saltAt(salts: Uint8Array, leaf: number): Uint8Array {
  const start = (leaf % ROW_LEAVES) * SALT_BYTES
  return salts.subarray(start, start + SALT_BYTES)
}

/** The hash of the leaf of an event. `json` is the stored JSON text of its attributes, if the event does not have it. */
export const eventLeaf = (
  kind: EventKind,
  event: AuditEvent,
  salt: Uint8Array,
  json?: string,
): Uint8Array => leafHash(eventEntry(kind, event, sha256Base64(salt, bodyOf(event, json))))
