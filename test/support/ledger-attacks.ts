import type { AuditEvent, EventStore } from 'daybook'
import { eventId, parseEventId } from '../../src/event/event-id.js'
import { formatTimestamp, parseTimestamp } from '../../src/event/timestamp.js'
import { splitHashes } from '../../src/ledger/edge.js'
import { statementEntry } from '../../src/ledger/entry.js'
import { eventLeaf, keepSalts, saltAt, saltsOf } from '../../src/ledger/leaf.js'
import { readPlaces } from '../../src/ledger/places.js'
import { nodeOver } from '../../src/ledger/read-nodes.js'
import { leafHash } from '../../src/ledger/tree.js'
import { levelsOf } from '../../src/ledger/verify-tree.js'
import {
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerAddition,
  type LedgerState,
  type LedgerStore,
  ROW_LEVEL,
} from '../../src/store/ledger.js'
import { draft } from '../../src/testing/conformance/helpers.js'
import type { LedgerPlace } from './ledger-places.js'
import { openSealing, type StoreName, type World } from './ledger-world.js'

/*
 * Somebody who can write to the database, and has no key, changes a log. `docs/reference/ledger-attacks.md` has a table of what a verification finds
 * then. `ledger-attacks.test.ts` makes the attacks.
 */

export interface Attack {
  /** Changes the log. Returns the log that takes the place of this one, if there is another one. */
  readonly attack: (world: World) => Promise<LedgerPlace | void> | LedgerPlace | void
  /** The findings of a verification with heads from outside. */
  readonly found: readonly string[]
  /** Those without such a head. @default the same */
  readonly alone?: readonly string[]
  /** The stores that can be attacked so. @default all */
  readonly on?: readonly StoreName[]
}

const TABLES: readonly StoreName[] = ['SQLite', 'Postgres']

const eventOf = ({ events }: World, name: string): AuditEvent => {
  const event = events.get(name)
  if (!event) throw new Error(`there is no event ${name}`)
  return event
}

const timeOf = ({ created_at }: AuditEvent): number => parseTimestamp(created_at)!

async function withLedger(
  { place }: World,
  act: (ledger: LedgerStore, state: LedgerState, store: EventStore) => Promise<unknown>,
): Promise<void> {
  const store = place.open()
  await act(store.ledger!, (await store.ledger!.state())!, store)
  await store.close()
}

/** Writes to the tables of the ledger as a database writer can. */
const rewrite = (
  world: World,
  change: (ledger: LedgerStore, state: LedgerState) => Promise<Partial<LedgerAddition>>,
): Promise<void> =>
  withLedger(world, async (ledger, before) => {
    const nothing = { before, after: before, rows: [], nodes: [], statements: [], late: [] }
    const isDone = await ledger.append({ ...nothing, ...(await change(ledger, before)) })
    if (!isDone) throw new Error('the ledger was not written')
  })

/** The row of an event, in which the leaf of another event replaces its leaf. */
async function rowWith(
  ledger: LedgerStore,
  event: AuditEvent,
  other: AuditEvent,
): Promise<LeafRow> {
  const [leaf] = await ledger.leavesOf([timeOf(event)])
  const [row] = await ledger.rows(Math.floor(leaf! / LEAVES_PER_ROW), 1)
  const hashes = Uint8Array.from(row!.hashes)
  const salt = saltAt(saltsOf(row!.seed), leaf! % LEAVES_PER_ROW)
  hashes.set(eventLeaf('event', other, salt), 32 * (leaf! % LEAVES_PER_ROW))
  return { ...row!, hashes }
}

/** All nodes above the rows, as they follow from these. */
async function nodesOver(ledger: LedgerStore, { size }: LedgerState, changed: LeafRow) {
  const rows = new Map((await ledger.rows(0, 100)).map((row) => [row.row, row]))
  rows.set(changed.row, changed)
  const hashes: Uint8Array[] = []
  for (let index = 0; (index + 1) * LEAVES_PER_ROW <= size; index++) {
    const row = rows.get(index)
    const [stored] = await ledger.nodes([{ level: ROW_LEVEL, index }])
    hashes.push(row ? nodeOver(splitHashes(row.hashes), ROW_LEVEL)! : stored!)
  }
  return levelsOf(hashes).flatMap((nodes, level) =>
    nodes.map((hash, index) => ({ level, index, hash })),
  )
}

const withAttributes = (event: AuditEvent): AuditEvent => ({
  ...event,
  attributes: { ...event.attributes, amount: 1_000_000 },
})

/** The event at another time, with the id of that time. */
const movedTo = (event: AuditEvent, time: number): AuditEvent => ({
  ...event,
  id: eventId(time, parseEventId(event.id)!.suffix),
  created_at: formatTimestamp(time),
})

/** A time between two sealed events. */
const timeAfter = (world: World, name: string): number => timeOf(eventOf(world, name)) + 1

/** Another event, just behind a sealed one. */
const inserted = (world: World): AuditEvent => ({
  ...movedTo(eventOf(world, '99'), timeAfter(world, '99')),
  id: eventId(timeAfter(world, '99'), 'b000000000000000'),
  attributes: { n: 'new' },
})

const edit =
  (name: string, change: (event: AuditEvent) => AuditEvent | undefined) =>
  (world: World): void | Promise<void> =>
    world.place.edit(eventOf(world, name), change(eventOf(world, name)))

const changed = (name: string, change: (event: AuditEvent) => AuditEvent): Attack => ({
  attack: edit(name, change),
  found: [`changed ${name}`],
})

const removed = (name: string): Attack => ({
  attack: edit(name, () => undefined),
  found: [`removed ${name}`],
})

const putBack = (name: string): Attack => ({
  attack: ({ place, events }) => place.edit(undefined, events.get(name)),
  found: [`unsealed ${name}`],
})

const bySql = (
  sql: string | Partial<Record<StoreName, string>>,
  found: Attack['found'],
): Attack => ({
  async attack({ place, store }) {
    await place.execute!(typeof sql === 'string' ? sql : sql[store]!)
  },
  found,
  on: TABLES,
})

/** Lets a process with the key go on for a moment. */
async function goOn(world: World, forgets = false): Promise<void> {
  const audit = openSealing(world, { forgets })
  await Promise.all(Array.from({ length: 60 }, () => audit.recordCustom('test:later', {})))
  await audit.ledger.checkpoint()
  await audit.close()
}

/** Changes an event together with its leaf, and perhaps with all nodes above and the head. */
const withLeaf =
  (name: string, { nodes = false, head = true } = {}) =>
  async (world: World): Promise<void> => {
    const event = eventOf(world, name)
    const other = withAttributes(event)
    await world.place.edit(event, other)
    await rewrite(world, async (ledger, state) => {
      const row = await rowWith(ledger, event, other)
      return {
        rows: [row],
        ...(nodes && { nodes: await nodesOver(ledger, state, row) }),
        ...(!head && { after: { ...state, head: undefined } }),
      }
    })
  }

const changedLeaf = (name: string) => (world: World) =>
  rewrite(world, async (ledger) => {
    const event = eventOf(world, name)
    return { rows: [await rowWith(ledger, event, withAttributes(event))] }
  })

const changedRow = (index: number, change: (row: LeafRow) => Partial<LeafRow>) => (world: World) =>
  rewrite(world, async (ledger) => {
    const [row] = await ledger.rows(index, 1)
    return { rows: [{ ...row!, ...change(row!) }] }
  })

const removedEntry = (first: number, last: number): string =>
  statementEntry({
    kind: 'removed',
    rule: null,
    policy: null,
    cutoff: null,
    ranges: [[first, last]],
    archive: null,
  })

const setHighWater = async ({ place, store }: World, time: number): Promise<void> =>
  place.execute!(
    store === 'SQLite'
      ? `UPDATE %high_water SET created_at = ${time}`
      : `SELECT setval('%high_water', ${time})`,
  )

const eventAttacks: Readonly<Record<string, Attack>> = {
  nothing: { attack: () => {}, found: [], alone: [] },
  'an attribute changed': changed('150', withAttributes),
  'the username changed': changed('151', (event) => ({ ...event, username: 'eve' })),
  'the type changed': changed('152', (event) => ({ ...event, type: 'test:other' })),
  'the source changed': changed('153', (event) => ({ ...event, source: '/api/x' })),
  '`system` changed': changed('154', (event) => ({ ...event, system: true })),
  'the id changed': changed('155', (event) => ({
    ...event,
    id: eventId(timeOf(event), 'b00000000000000f'),
  })),
  'the text of a live event changed': changed('live', withAttributes),
  'an imported event changed': changed('imported', withAttributes),
  'the event of a captured row changed': {
    ...changed('captured 1', withAttributes),
    on: TABLES,
  },
  'the oldest event removed': removed('0'),
  'an event in the middle removed': removed('256'),
  'the newest event removed': removed('548'),
  'a live event removed': removed('live'),
  'an imported event removed': removed('imported'),
  'the event of a captured row removed': { ...removed('captured 2'), on: TABLES },
  'three events removed and two changed': {
    async attack({ place, events }) {
      for (const n of ['10', '11', '300']) await place.edit(events.get(n), undefined)
      for (const n of ['12', '500']) await place.edit(events.get(n), withAttributes(events.get(n)!))
    },
    found: ['changed 12', 'changed 500', 'removed 10', 'removed 11', 'removed 300'],
  },
  'an event removed, and put back as it was': {
    async attack({ place, events }) {
      await place.edit(events.get('10'), undefined)
      await place.edit(undefined, events.get('10'))
    },
    found: [],
  },
  'two events exchanged': {
    async attack({ place, events }) {
      const [left, right] = [events.get('20')!, events.get('21')!]
      await place.edit(left, { ...left, attributes: right.attributes })
      await place.edit(right, { ...right, attributes: left.attributes })
    },
    found: ['changed 20', 'changed 21'],
  },
  'an event moved': {
    attack: (world) =>
      world.place.edit(eventOf(world, '30'), movedTo(eventOf(world, '30'), timeAfter(world, '99'))),
    found: ['removed 30', 'unsealed 30'],
  },
  'an event inserted': {
    attack: (world) => world.place.edit(undefined, inserted(world)),
    found: ['unsealed another'],
  },
  'an event inserted and listed as late, and then sealed': {
    async attack(world) {
      await world.place.edit(undefined, inserted(world))
      await world.place.listLate(inserted(world))
      await goOn(world)
    },
    found: ['late another'],
  },
  'an event inserted, and given the leaf of another one': {
    async attack(world) {
      const event = inserted(world)
      await world.place.edit(undefined, event)
      await world.place.execute!(
        `INSERT INTO %ledger_late (id, created_at, leaf) SELECT max(id) + 1, ${timeOf(event)}, max(leaf) FROM %ledger_late`,
      )
      await goOn(world)
    },
    found: ['unsealed another'],
    on: TABLES,
  },
  'the high-water mark set back': {
    async attack(world) {
      await setHighWater(world, timeOf(eventOf(world, '99')))
      await goOn(world)
    },
    // The next event has the time of the clock.
    found: [],
    on: TABLES,
  },
  'the high-water mark set back, and the clock of a process too': {
    async attack(world) {
      const time = timeAfter(world, '99')
      await setHighWater(world, time - 1)
      const store = world.place.open({ clock: () => time })
      await store.append([draft({ n: 'new' })])
      await store.close()
    },
    found: ['unsealed another'],
    // Postgres takes the time of the server.
    on: ['SQLite'],
  },
}

/** Changes the type of an event to one that a cleaning rule removes, and then cleans. */
const editedForRule =
  (name: string, isLeafToo: boolean) =>
  async (world: World): Promise<void> => {
    const event = eventOf(world, name)
    const other = { ...event, type: 'test:old' }
    await world.place.edit(event, other)
    if (isLeafToo)
      await rewrite(world, async (ledger) => ({ rows: [await rowWith(ledger, event, other)] }))
    const audit = openSealing(world)
    const [result] = await audit.cleaning.run()
    await audit.close()
    if (result!.removed_count > 0 || !/not as sealed, and not removed/.test(result!.error ?? ''))
      throw new Error(`the rule has removed ${result!.removed_count}: ${result!.error}`)
  }

const removalAttacks: Readonly<Record<string, Attack>> = {
  'an event removed, and its removal stated without a signature': {
    async attack(world) {
      await edit('256', () => undefined)(world)
      await rewrite(world, async (ledger, state) => {
        const [leaf] = await ledger.leavesOf([timeOf(eventOf(world, '256'))])
        const row = (await ledger.rows(0, 100)).at(-1)!
        const entry = removedEntry(leaf!, leaf!)
        return {
          after: { ...state, size: state.size + 1 },
          rows: [
            {
              ...row,
              hashes: Uint8Array.from([...row.hashes, ...leafHash(entry)]),
              places: Uint8Array.from([...row.places, 0]),
            },
          ],
          statements: [{ leaf: state.size, entry }],
        }
      })
    },
    found: ['removed 256'],
  },
  'an event removed, and its salt forgotten': {
    async attack(world) {
      const event = eventOf(world, '256')
      await world.place.edit(event, undefined)
      await rewrite(world, async (ledger) => {
        const [leaf] = await ledger.leavesOf([timeOf(event)])
        const [row] = await ledger.rows(Math.floor(leaf! / LEAVES_PER_ROW), 1)
        const seed = keepSalts(row!.seed, (place) => place !== leaf! % LEAVES_PER_ROW)
        return { rows: [{ ...row!, seed }] }
      })
    },
    found: ['removed 256'],
  },
  'all events of a row of leaves removed, and the row too': {
    attack: (world) =>
      withLedger(world, async (ledger, before) => {
        const [row] = await ledger.rows(2, 1)
        const times = readPlaces(row!).flatMap((place) =>
          place.kind === 'event' ? [place.time] : [],
        )
        await ledger.remove({ before, after: before, times, rows: [], dropped: [2] })
      }),
    found: ['ledger 512-767'],
  },
  'an event removed, and marked as removed for the index': {
    async attack(world) {
      await edit('256', () => undefined)(world)
      const time = timeOf(eventOf(world, '256'))
      await world.place.execute!(
        world.store === 'SQLite'
          ? `INSERT INTO %removed VALUES (${time}, 1); UPDATE %index SET removed = removed + 1`
          : `INSERT INTO %removed_events VALUES (${time}, 1); UPDATE %index_state SET removed = removed + 1`,
      )
    },
    found: ['removed 256'],
    on: TABLES,
  },
  'an event changed so that a cleaning rule takes it, which then runs': {
    attack: editedForRule('150', false),
    found: ['changed 150'],
  },
  'the same, and its leaf changed': {
    attack: editedForRule('150', true),
    found: ['rewritten 512-767'],
  },
  'the statement of the removal widened': {
    attack: (world) =>
      rewrite(world, async (ledger) => {
        const statements = await ledger.statements(0, 10_000)
        const { leaf } = statements.find(({ entry }) => entry.startsWith('removed'))!
        return { statements: [{ leaf, entry: removedEntry(1, 650) }] }
      }),
    found: ['ledger 1068-1068', 'removed 1-560'],
  },
  'a removed event put back, whose row of leaves is gone': putBack('old 300'),
  'a removed event put back, whose row has other events': putBack('old 540'),
  'a removed event put back, whose row has a statement': putBack('old 10'),
  'a removed event put back with its row of leaves': {
    async attack(world) {
      await world.place.edit(undefined, eventOf(world, 'old 300'))
      await rewrite(world, async () => ({ rows: world.rows.filter(({ row }) => row === 1) }))
    },
    found: [],
  },
}

const ledgerAttacks: Readonly<Record<string, Attack>> = {
  'an event and its leaf changed': {
    attack: withLeaf('150'),
    found: ['rewritten 512-767'],
  },
  'an event, its leaf and all nodes above changed': {
    attack: withLeaf('350', { nodes: true }),
    found: ['removed 1-560', 'rewritten 862-1119'],
    alone: ['rewritten 0-1119'],
  },
  'the same, and the head removed': {
    attack: withLeaf('350', { nodes: true, head: false }),
    found: ['removed 1-560', 'rewritten 862-1119'],
    alone: ['removed 1-560'],
  },
  'the head replaced by one without a valid signature': {
    attack: (world) =>
      rewrite(world, async (_, state) => {
        const head = world.heads[1]!.replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) - 1}\n`)
        return { after: { ...state, head } }
      }),
    found: ['head'],
    alone: ['head', 'removed 1-560'],
  },
  'all heads removed': {
    attack: (world) =>
      rewrite(world, async (_, state) => ({ after: { ...state, head: undefined } })),
    found: [],
    alone: ['removed 1-560'],
  },
  'the tree cut to the first head': {
    attack: (world) =>
      rewrite(world, async (ledger, state) => {
        const [row] = await ledger.rows(2, 1)
        return { after: { ...state, size: 768, sealedTo: row!.last, head: world.heads[0] } }
      }),
    found: ['cut 768-1119', 'ledger 256-511', 'removed 1-255', 'removed 512-560'],
    alone: ['cut 768-861', 'ledger 256-511', 'removed 1-255', 'removed 512-560'],
  },
  'the hash of a leaf changed': { attack: changedLeaf('150'), found: ['ledger 711-711'] },
  'the hash of a leaf at the end changed': {
    attack: changedLeaf('540'),
    found: ['ledger 1111-1111'],
  },
  'the times of a row changed': {
    attack: changedRow(2, () => ({ places: Uint8Array.of(255, 255) })),
    found: ['ledger 512-767'],
  },
  'the salts of a row changed': {
    attack: changedRow(3, () => ({ seed: new Uint8Array(32) })),
    found: ['ledger 768-1023'],
  },
  'the nodes changed': {
    attack: (world) =>
      rewrite(world, async () => ({
        nodes: [0, 2].map((index) => ({ level: ROW_LEVEL, index, hash: new Uint8Array(32) })),
      })),
    found: ['ledger 0-255', 'ledger 512-767'],
  },
  'a row of leaves removed': {
    attack: (world) =>
      withLedger(world, (ledger, before) =>
        ledger.remove({ before, after: before, times: [], rows: [], dropped: [3] }),
      ),
    found: ['ledger 768-1023'],
  },
  'the row of leaves that has the statement of a removal removed': {
    attack: (world) =>
      withLedger(world, (ledger, before) =>
        ledger.remove({ before, after: before, times: [], rows: [], dropped: [4] }),
      ),
    found: ['ledger 1024-1119', 'removed 1-560'],
  },
  'the nodes removed': bySql('DELETE FROM %ledger_nodes', ['rewritten 0-1119']),
  'all hashes removed': bySql('DELETE FROM %ledger_rows', [
    'ledger 0-255',
    'ledger 1024-1119',
    'ledger 512-767',
    'ledger 768-1023',
    'removed 256-511',
  ]),
  'the statements removed': bySql('DELETE FROM %ledger_statements', [
    'late live',
    'ledger 0-0',
    'ledger 1067-1067',
    'ledger 1068-1068',
    'ledger 256-511',
    'ledger 861-861',
    'removed 1-255',
    'removed 512-560',
  ]),
  'the time up to which events are sealed set ahead': bySql(
    {
      SQLite: 'UPDATE %ledger SET sealed_to = sealed_to + 1000000',
      Postgres: 'UPDATE %ledger_state SET sealed_to = sealed_to + 1000000',
    },
    ['ledger 1119-1119'],
  ),
  'the list of late events emptied': bySql('DELETE FROM %ledger_late', [
    'ledger 862-862',
    'ledger 863-863',
  ]),
  'the ledger dropped': {
    ...bySql(
      {
        SQLite: `${['', '_rows', '_nodes', '_statements', '_late'].map((name) => `DROP TABLE %ledger${name};`).join('')} DROP TRIGGER %ledger_late_insert`,
        Postgres: `DROP TABLE ${['state', 'rows', 'nodes', 'statements', 'late', 'new_late'].map((name) => `%ledger_${name}`).join(', ')} CASCADE`,
      },
      ['cut 0-1119'],
    ),
    alone: ['NO_LEDGER'],
  },
  'an older copy put back': {
    attack: ({ older }) => older!.copy!(),
    found: ['cut 1067-1119'],
    alone: [],
    on: TABLES,
  },
  'an older copy put back, and a process with a key service goes on': {
    async attack(world) {
      const place = await world.older!.copy!()
      await goOn({ ...world, place }, true)
      return place
    },
    found: ['rewritten 862-1119'],
    alone: [],
    on: TABLES,
  },
}

/** Changes that come before events are sealed. */
const earlyAttacks: Readonly<Record<string, Attack>> = {
  'an event changed before it is sealed': {
    async attack(world) {
      const writer = world.place.open()
      const [event] = await writer.append([draft({ n: 'early' })])
      await writer.close()
      await world.place.edit(event, withAttributes(event!))
      await goOn(world)
    },
    found: [],
  },
  'a draft in the outbox changed before it moves': {
    async attack(world) {
      await world.place.execute!('INSERT INTO orders VALUES (3, 10)')
      await world.place.execute!(
        world.store === 'SQLite'
          ? `UPDATE %outbox SET username = 'eve'`
          : `UPDATE %outbox SET username = 'eve', checksum = NULL`,
      )
      await goOn(world)
    },
    found: [],
    on: TABLES,
  },
}

export const attacks: Readonly<Record<string, Readonly<Record<string, Attack>>>> = {
  Events: eventAttacks,
  Removals: removalAttacks,
  'The ledger itself': ledgerAttacks,
  'Before the event is sealed': earlyAttacks,
}

export const allAttacks: readonly (readonly [name: string, attack: Attack])[] = Object.values(
  attacks,
).flatMap((group) => Object.entries(group))
