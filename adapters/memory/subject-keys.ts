import { createSecretKey, randomBytes } from 'node:crypto'
import { throwIfAborted } from '../../src/errors.js'
import { checkOptions, type OptionNames } from '../../src/options.js'
import type { KeyRing, KeyRow, KeyTable } from '../../src/privacy/keys/key-table.js'
import { createSubjectKeys } from '../../src/privacy/keys/keys.js'
import { readMaster } from '../../src/privacy/keys/master.js'
import type { KeyErasure, MasterKey, SubjectKeys } from '../../src/privacy/subject-keys.js'

export interface MemorySubjectKeysOptions {
  /** Wraps the keys. @default a random key */
  readonly master?: MasterKey
}

const OPTIONS: OptionNames<MemorySubjectKeysOptions> = { master: true }

/**
 * Keeps the keys of subjects in memory, for tests and trials: they end with the process, and the data that they have encrypted cannot be read after
 * that. Throws `INVALID_OPTION`.
 */
export function memorySubjectKeys(options: MemorySubjectKeysOptions = {}): SubjectKeys {
  checkOptions(options, OPTIONS, 'memorySubjectKeys')
  const { master = createSecretKey(randomBytes(32)) } = options
  return createSubjectKeys(memoryKeyTable(), readMaster(master, 'memorySubjectKeys'))
}

/** The tables of keys as maps. The readable definition of right answers. */
export function memoryKeyTable(): KeyTable {
  let ring: KeyRing | undefined
  const keys = new Map<string, KeyRow>()
  /** Refs of keys, by the HMACs of their subjects. */
  const refs = new Map<string, string>()
  const erasures = new Map<string, KeyErasure>()
  /** HMACs of the subjects of pending erasures, by ref. */
  const subjects = new Map<string, string>()

  const withMac = (mac: string): KeyRow | undefined => keys.get(refs.get(mac) ?? '')
  const pending = (mac: string): KeyErasure[] =>
    [...subjects].filter(([, of]) => of === mac).map(([ref]) => erasures.get(ref)!)

  return {
    name: 'memory',
    async ring(signal) {
      throwIfAborted(signal)
      return ring
    },
    isEmpty: async () => keys.size === 0 && erasures.size === 0,
    async replaceRing(next) {
      if ((ring?.version ?? 0) !== next.version - 1) return false
      ring = next
      return true
    },
    byMac: async (macs) => macs.map(withMac).filter((row) => row !== undefined),
    byRef: async (given) => ({
      keys: given.map((ref) => keys.get(ref)).filter((row) => row !== undefined),
      erasures: given.map((ref) => erasures.get(ref)).filter((row) => row !== undefined),
    }),
    async insert(wrapper, rows) {
      if (ring?.id !== wrapper) return undefined
      return rows.map((row) => {
        const stored = (row.mac !== null && withMac(row.mac)) || row
        keys.set(stored.ref, stored)
        if (row.mac !== null) refs.set(row.mac, stored.ref)
        return stored
      })
    },
    find: async (mac) => withMac(mac)?.ref ?? pending(mac).at(-1)?.ref,
    async erase({ wrapper, mac, erasure }) {
      if (ring?.id !== wrapper) return undefined
      const key = withMac(mac)
      if (!key) return pending(mac)[0] ?? null
      const begun = { ref: key.ref, ...erasure, events: null, isEnded: false }
      keys.delete(key.ref)
      refs.delete(mac)
      erasures.set(key.ref, begun)
      subjects.set(key.ref, mac)
      return begun
    },
    async endErasure(ref, events) {
      const erasure = erasures.get(ref)
      if (!erasure || erasure.isEnded) return
      erasures.set(ref, { ...erasure, events, isEnded: true })
      subjects.delete(ref)
    },
    erasures: async () => [...erasures.values()],
    wrappedBy: async (wrapper, limit) =>
      [...keys.values()].filter((row) => row.wrapper === wrapper).slice(0, limit),
    async rewrap({ former, wrapper, rows }, signal) {
      throwIfAborted(signal)
      if (ring?.id !== wrapper) return undefined
      const still = rows.filter(({ ref }) => keys.get(ref)?.wrapper === former)
      for (const { ref, wrapped } of still) keys.set(ref, { ...keys.get(ref)!, wrapper, wrapped })
      return still.length
    },
    close: async () => keys.clear(),
  }
}
