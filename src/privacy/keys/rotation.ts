import { type OpenRing, openRing, ringAfter, untilUnchanged } from './key-ring.js'
import type { KeyTable } from './key-table.js'
import type { Master } from './master.js'
import { keysUnavailable, unwrap, wrap } from './wrapping.js'

/** Keys that one transaction wraps. */
const PAGE_SIZE = 500

/** Stores a ring of the next master key, unless that was done before. From then on no key is made that a former store key wraps. */
export const beginRotation = (
  table: KeyTable,
  master: Master,
  next: Master,
  signal: AbortSignal,
): Promise<OpenRing> =>
  untilUnchanged(async () => {
    const row = await table.ring(signal)
    if (row?.master === next.id) return openRing(row, next)
    const before = row && (await openRing(row, master))
    await table.replaceRing(await ringAfter(before, next), signal)
    return undefined
  })

/** Wraps the keys of all former store keys with that of the ring, in pages. Returns their number. */
export async function rewrapKeys(
  table: KeyTable,
  ring: OpenRing,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  for (const { id } of ring.row.formers) count += await rewrapFormer(table, ring, id, signal)
  return count
}

async function rewrapFormer(
  table: KeyTable,
  { row: { id: wrapper }, storeKeys }: OpenRing,
  former: string,
  signal: AbortSignal,
): Promise<number> {
  const from = storeKeys.get(former)!
  const by = storeKeys.get(wrapper)!
  let count = 0
  for (;;) {
    const found = await table.wrappedBy(former, PAGE_SIZE, signal)
    if (found.length === 0) return count
    const rows = found.map(({ ref, wrapped }) => {
      const key = unwrap(from, ref, wrapped)
      if (!key) throw keysUnavailable(`the key ${ref} is damaged; restore it, or delete its row`)
      const rewrapped = { ref, wrapped: wrap(by, ref, key) }
      key.fill(0)
      return rewrapped
    })
    const changed = await table.rewrap({ former, wrapper, rows }, signal)
    if (changed === undefined) throw keysUnavailable('another process rotates the master key now')
    count += changed
  }
}

/** Forgets the former store keys, which wrap nothing any more. */
export const endRotation = (
  table: KeyTable,
  { row: { id } }: OpenRing,
  signal: AbortSignal,
): Promise<true> =>
  untilUnchanged(async () => {
    const row = await table.ring(signal)
    if (row?.id !== id || row.formers.length === 0) return true
    const version = row.version + 1
    const next = { ...row, version, rotated_at: row.created_at, formers: [] }
    return (await table.replaceRing(next, signal)) || undefined
  })
