import fs from 'node:fs'
import { AuditLog, type AuditEvent } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { parseEventId } from '../../src/event/event-id.js'
import type { LedgerVerification } from '../../src/ledger/verification.js'
import type { LeafRow } from '../../src/store/ledger.js'
import { type LedgerKey, ORIGIN } from './ledger-key.js'
import { type LedgerPlace, originalPlaces, type PlaceOptions } from './ledger-places.js'

/* A log with all kinds of events, for attacks. Each attack gets a log of its own: a copy, where the store can be copied. */

export type StoreName = keyof typeof originalPlaces

export interface World {
  readonly store: StoreName
  readonly place: LedgerPlace
  readonly key: LedgerKey
  /** Events by name: `0` to `548` in order, `live`, `imported`, `captured 0` to `captured 2`, and `old 0` to `old 559`, which were removed. */
  readonly events: ReadonlyMap<string, AuditEvent>
  /** Heads that were kept outside. */
  readonly heads: readonly string[]
  /** Rows of leaves as they were before events were removed. */
  readonly rows: readonly LeafRow[]
  /** The log as it was before events were removed. */
  readonly older?: LedgerPlace | undefined
}

const types = { 'info:job': {} }
const IMPORTED: AuditEvent = {
  id: '0196b3c2-0000-4000-8000-000000000001',
  created_at: '2025-05-01T10:00:00.000001Z',
  username: 'ann',
  system: true,
  type: 'legacy:done',
  source: null,
  attributes: { n: 'imported' },
}
const OLD_TYPES = {
  name: 'old types',
  target: 'events',
  maxRows: 0,
  filter: 'filter[type_eq]=test:old',
} as const

/** The log as the process with the key opens it. A signer that `forgets` keeps no note, as that of a key service. */
export const openSealing = (
  { place, key }: Pick<World, 'place' | 'key'>,
  { forgets = false, ...options }: PlaceOptions & { readonly forgets?: boolean } = {},
): AuditLog =>
  new AuditLog({
    store: place.open(options),
    types,
    ledger: { origin: ORIGIN, signer: forgets ? key.forgetful : keyFile(key.file) },
    cleaning: { rules: [OLD_TYPES], scheduled: false },
  })

/** The log as an auditor opens it. */
export const openReading = ({ place, key }: World): AuditLog =>
  new AuditLog({
    store: place.open({ readOnly: true }),
    types,
    ledger: { origin: ORIGIN, key: key.vkey },
  })

/** Records events with successive numbers as their names. */
async function recordMore(
  audit: AuditLog,
  events: Map<string, AuditEvent>,
  { count, first, type = 'test:event', prefix = '' }: Recorded,
): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `${prefix}${first + i}`)
  const calls = names.map((n) => audit.recordCustom(type, { n }))
  for (const [i, event] of (await Promise.all(calls)).entries()) events.set(names[i]!, event!)
}

interface Recorded {
  readonly count: number
  readonly first: number
  readonly type?: string
  readonly prefix?: string
}

/** Records three events of captured rows, or of drafts where the store captures nothing. */
async function recordCaptured(
  place: LedgerPlace,
  audit: AuditLog,
  events: Map<string, AuditEvent>,
): Promise<void> {
  await place.capture?.()
  for (const n of [0, 1, 2])
    await (place.execute?.(`INSERT INTO orders VALUES (${n}, 10)`) ??
      audit.recordCustom('test:captured', { n: `captured ${n}` }))
  await recordMore(audit, events, { count: 1, first: 300 })
  const { events: captured } = await audit.list(
    'filter[type_in][]=audit:orders:create&filter[type_in][]=test:captured&filter[sorts]=created_at',
  )
  for (const [n, event] of captured.entries()) events.set(`captured ${n}`, event)
}

/** Makes a world, and closes its log. */
async function createWorld(store: StoreName, key: LedgerKey): Promise<World> {
  fs.writeFileSync(`${key.file}.note`, key.firstNote)
  const place = await originalPlaces[store]()
  const events = new Map<string, AuditEvent>()
  const first = openSealing({ place, key })
  await recordMore(first, events, { count: 560, first: 0, type: 'test:old', prefix: 'old ' })
  await recordMore(first, events, { count: 100, first: 0 })
  const live = await first.recordLive('info:job', { n: 'live' })
  events.set('live', live.event!)
  await recordMore(first, events, { count: 200, first: 100 })
  const heads = [await first.ledger.checkpoint()]
  await live.close()
  await first.ledger.checkpoint()
  await first.importEvents([IMPORTED])
  events.set('imported', IMPORTED)
  await first.ledger.checkpoint()
  await recordCaptured(place, first, events)
  await recordMore(first, events, { count: 198, first: 301 })
  await first.ledger.checkpoint()
  await first.close()
  const older = await place.copy?.()
  const second = openSealing({ place, key })
  const rows = await second.store.ledger!.rows(0, 100)
  const [cleaned] = await second.cleaning.run()
  if (cleaned!.removed_count !== 560) throw new Error(`not cleaned: ${cleaned!.error}`)
  await recordMore(second, events, { count: 50, first: 499 })
  heads.push(await second.ledger.checkpoint())
  await second.close()
  return { store, place, key, events, heads, rows, older }
}

/** Makes worlds that are alike. Those of stores that can be copied are copies of the first one. */
export function createWorlds(store: StoreName, key: LedgerKey) {
  const places: LedgerPlace[] = []
  let original: Promise<World> | undefined
  let note: string
  const kept = (place: LedgerPlace): LedgerPlace => {
    places.push(place)
    return place
  }
  const make = async (): Promise<World> => {
    const world = await createWorld(store, key)
    kept(world.place)
    if (world.older) kept(world.older)
    note = fs.readFileSync(`${key.file}.note`, 'utf8')
    return world
  }
  return {
    async next(): Promise<World> {
      original ??= make()
      const world = await original
      if (!world.place.copy) {
        original = undefined
        return world
      }
      fs.writeFileSync(`${key.file}.note`, note)
      return { ...world, place: kept(await world.place.copy()) }
    },
    async remove(): Promise<void> {
      for (const place of places.toReversed()) await place.remove()
    },
  }
}

/** The names of the events, or the leaves, of a finding. */
function subjectOf({ events }: World, { created_at, id, leaves }: Finding): string {
  const suffix = id && parseEventId(id)?.suffix
  for (const [name, event] of events)
    if (
      event.id === id ||
      event.created_at === created_at ||
      (suffix && parseEventId(event.id)?.suffix === suffix)
    )
      return ` ${name}`
  if (id !== undefined || created_at !== undefined) return ' another'
  return leaves ? ` ${leaves.join('-')}` : ''
}

type Finding = LedgerVerification['findings'][number]

/** The findings with the names of their events. */
export const namesOf = (world: World, { findings }: LedgerVerification): string[] =>
  findings.map((one) => `${one.kind}${subjectOf(world, one)}`).toSorted()
