import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { KeyRing, StoreKeyRow } from './key-table.js'
import type { Master } from './master.js'
import { KEY_BYTES, keysUnavailable, newName, unwrap, wrap } from './wrapping.js'

/** A ring whose keys are unwrapped. */
export interface OpenRing {
  readonly row: KeyRing
  /** The store key of the ring, and former ones, by their ids. */
  readonly storeKeys: ReadonlyMap<string, KeyObject>
  /** The secret of HMACs. It stays the same for ever. */
  readonly secret: KeyObject
}

/** How often to begin again when another process has changed the ring. */
const MAX_ATTEMPTS = 10

const SECRET = 'secret'

const now = (): string => new Date().toISOString()

/** Makes a key of the bytes, and overwrites them. */
function keyOf(bytes: Uint8Array): KeyObject {
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}

function wrapKey(by: KeyObject, name: string, key: KeyObject): string {
  const bytes = key.export()
  const wrapped = wrap(by, name, bytes)
  bytes.fill(0)
  return wrapped
}

/** Unwraps a key of a ring, by its name. */
function opened(by: KeyObject, name: string, wrapped: string, ring: KeyRing): KeyObject {
  const bytes = unwrap(by, name, wrapped)
  if (bytes?.length === KEY_BYTES) return keyOf(bytes)
  throw keysUnavailable(
    `the master key ${ring.master} has given another key than it has wrapped, or the stored keys are damaged`,
  )
}

/** Unwraps a ring. A wrong key is always found, because the secret is authenticated. */
export async function openRing(row: KeyRing, master: Master): Promise<OpenRing> {
  if (row.master !== master.id)
    throw keysUnavailable(
      `they are wrapped with the master key ${row.master}, and this process has the master key ${master.id}; if the master key was rotated, start again with the new one`,
    )
  const storeKey = keyOf(await master.unwrap(row.wrapped))
  const storeKeys = new Map([[row.id, storeKey]])
  const secret = opened(storeKey, SECRET, row.secret, row)
  for (const { id, wrapped } of row.formers) storeKeys.set(id, opened(storeKey, id, wrapped, row))
  return { row, storeKeys, secret }
}

/** A ring with a new store key, which wraps the secret and the store keys of the ring before it. */
export async function ringAfter(before: OpenRing | undefined, master: Master): Promise<KeyRing> {
  const bytes = new Uint8Array(randomBytes(KEY_BYTES))
  const wrapped = await master.wrap(bytes)
  const storeKey = keyOf(bytes)
  const formers: StoreKeyRow[] = []
  for (const [id, key] of before?.storeKeys ?? [])
    formers.push({ id, wrapped: wrapKey(storeKey, id, key) })
  const row: KeyRing = {
    version: (before?.row.version ?? 0) + 1,
    id: newName(),
    master: master.id,
    wrapped,
    secret: wrapKey(storeKey, SECRET, before?.secret ?? keyOf(randomBytes(KEY_BYTES))),
    created_at: now(),
    rotated_at: before?.row.rotated_at ?? null,
    formers,
  }
  // A service that does not give back what it has wrapped would make all keys unreadable.
  await openRing(row, master)
  return row
}

/** Repeats `act` while it returns `undefined`, because another process has changed the ring meanwhile. */
export async function untilUnchanged<Result>(
  act: (attempt: number) => Promise<Result | undefined>,
): Promise<Result> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const result = await act(attempt)
    if (result !== undefined) return result
  }
  throw keysUnavailable('other processes keep changing the ring of keys; try again')
}
