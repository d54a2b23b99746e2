import { MAX_TIMER_MS } from '../../async/timers.js'
import type { ErasureRequest, Subject, SubjectKey, SubjectKeys } from '../subject-keys.js'
import { createCalls } from './calls.js'
import { type KeyClock, systemKeyClock } from './key-cache.js'
import type { OpenRing } from './key-ring.js'
import type { ErasureChange, KeyTable } from './key-table.js'
import { createLookups, macOf, textOf } from './lookups.js'
import { createLimits } from './limits.js'
import { type Master, readMaster } from './master.js'
import { createRings } from './rings.js'
import { hmac } from './wrapping.js'

function erasureOf(
  ring: OpenRing,
  subject: Subject,
  { reason, username }: ErasureRequest,
): ErasureChange {
  const { id, created_at } = ring.row
  // An erasure counts as complete if a rotation is later. The rotation that made this ring must be earlier.
  const time = Math.max(Date.now(), Date.parse(created_at) + 1)
  const erasure = { erased_at: new Date(time).toISOString(), reason, username }
  return { wrapper: id, mac: macOf(ring, subject), erasure }
}

/** Internals that tests set. */
export interface KeyInternals {
  readonly clock?: KeyClock
}

/** The keys of a table, wrapped by a master key. */
export function createSubjectKeys(
  table: KeyTable,
  master: Master,
  { clock = systemKeyClock }: KeyInternals = {},
): SubjectKeys {
  const limits = createLimits()
  const rings = createRings(table, master, limits)
  const lookups = createLookups(table, rings, limits, clock)
  const { cache } = lookups
  let closed: Promise<void> | undefined
  const call = createCalls(table.name, limits)

  const cached = (subject: Subject): SubjectKey | undefined =>
    subject.id === undefined || limits.isClosed() ? undefined : cache.bySubject(textOf(subject))

  return {
    name: table.name,
    cached,

    obtain: (subjects, options) =>
      call(options, async () => {
        const found = subjects.map(cached)
        const missing = subjects.filter((_, i) => !found[i])
        const obtained = [...(await lookups.obtain(missing))].toReversed()
        return found.map((key) => key ?? obtained.pop()!)
      }),

    read: (refs, options) => call(options, () => lookups.read(refs)),

    async find(subject, options) {
      if (subject.id === undefined) return undefined
      const ring = await call(options, () => rings.use(async (ring) => ring))
      return call(options, (signal) => table.find(macOf(ring, subject), signal))
    },

    fingerprint: (text, options) =>
      call(options, () => rings.use(async ({ secret }) => hmac(secret, `text ${text}`))),

    async beginErasure(subject, request, options) {
      if (subject.id === undefined) return undefined
      lookups.forget(subject)
      try {
        const begun = await call(options, (signal) =>
          rings.use((ring) => table.erase(erasureOf(ring, subject, request), signal)),
        )
        return begun ?? undefined
      } finally {
        lookups.forget(subject)
      }
    },

    endErasure: (ref, { events }, options) =>
      call(options, (signal) => table.endErasure(ref, events, signal)),
    erasures: (options) => call(options, (signal) => table.erasures(signal)),
    rotate: (next, options) => {
      const nextMaster = readMaster(next, 'rotate')
      return call(options, (signal) => rings.rotate(nextMaster, signal), MAX_TIMER_MS)
    },
    rotatedAt: (options) =>
      call(options, async (signal) => (await table.ring(signal))?.rotated_at ?? undefined),

    close: () =>
      (closed ??= (async () => {
        limits.close()
        lookups.clear()
        rings.forget()
        await table.close()
      })()),
  }
}
