import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { attributesJson } from '../../event/lazy-event.js'
import { eventLeaf, saltAt, saltsOf } from '../../ledger/leaf.js'
import { writePlaces } from '../../ledger/places.js'
import type {
  LeafRow,
  LedgerAddition,
  LedgerState,
  LedgerStore,
  UnsealedEvents,
} from '../../store/ledger.js'
import type { EventStore } from '../../store/store.js'
import type { Microseconds } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import {
  draft,
  drafts,
  exactData,
  FAR,
  imported,
  importedSome,
  range,
  rejectsWith,
  timeOf,
} from './helpers.js'

const ledgerOf = ({ ledger }: EventStore): LedgerStore => {
  assert.ok(ledger)
  return ledger
}

const seed = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)

const seeds = range(1, 40).map(seed)

const bytes = (data: Uint8Array): number[] => Array.from(data)

/** A ledger that began before the first event. */
async function begun(store: EventStore): Promise<{ ledger: LedgerStore; state: LedgerState }> {
  const ledger = ledgerOf(store)
  const { state } = await ledger.begin(0)
  return { ledger, state }
}

const unsealed = (
  ledger: LedgerStore,
  after: Microseconds,
  { leaf = 0, limit = 1000 } = {},
): Promise<UnsealedEvents> => ledger.unsealed({ after, leaf, seeds, limit })

const hashesOf = (events: readonly AuditEvent[], leaf: number): number[] =>
  events.flatMap((event, i) => {
    const row = Math.floor((leaf + i) / 256) - Math.floor(leaf / 256)
    return bytes(eventLeaf('event', event, saltAt(saltsOf(seeds[row]!), leaf + i)))
  })

/** A row of events at these times. Its hashes are no hashes. */
const rowOf = (row: number, after: Microseconds, times: readonly Microseconds[]): LeafRow => ({
  row,
  after,
  last: times.at(-1)!,
  places: writePlaces(
    times.map((time) => ({ kind: 'event', time })),
    after,
  ),
  hashes: new Uint8Array(32 * times.length).fill(row + 1),
  seed: seed(row + 1),
})

const nothing = { rows: [], nodes: [], statements: [], late: [] } as const

const addition = (before: LedgerState, given: Partial<LedgerAddition>): LedgerAddition => ({
  before,
  after: before,
  ...nothing,
  ...given,
})

const importOne = (store: EventStore, event: AuditEvent): Promise<unknown> =>
  store.importEvents([{ event, time: timeOf(event), json: JSON.stringify(event.attributes) }])

const times = (events: readonly AuditEvent[]): number[] => events.map(timeOf)

const stateCases = cases(
  {
    async 'ledger: a log has none until it begins'({ store }) {
      const ledger = ledgerOf(store)
      await store.append(drafts(2))
      assert.equal(await ledger.state(), undefined)
      const calls: readonly (() => Promise<unknown>)[] = [
        () => unsealed(ledger, 0),
        () => ledger.late(0, 1),
        () => ledger.rows(0, 1),
        () => ledger.nodes([{ level: 8, index: 0 }]),
        () => ledger.statements(0, 1),
        () => ledger.leavesOf([1]),
        () => ledger.events({ from: 0, to: FAR, limit: 1 }),
        () => ledger.waiting(),
      ]
      for (const call of calls) await rejectsWith(call(), 'NO_LEDGER')
    },

    async 'ledger: it begins once, after the given time or the newest event'({ store }) {
      const [, second] = await store.append(drafts(2))
      const ledger = ledgerOf(store)
      const { state, open } = await ledger.begin(FAR)
      const { revision, ...values } = state
      assert.deepEqual(values, {
        size: 0,
        sealedTo: timeOf(second),
        lateTo: 0,
        head: undefined,
        voucher: undefined,
      })
      assert.ok(revision)
      assert.deepEqual(open, [])
      await store.append(drafts(1))
      assert.deepEqual((await ledger.begin(0)).state, state)
      assert.deepEqual(await ledger.state(), state)
    },

    async 'ledger: it begins at a time before the newest event'({ store }) {
      const [first, second] = await store.append(drafts(2))
      const ledger = ledgerOf(store)
      const { state } = await ledger.begin(timeOf(first))
      assert.equal(state.sealedTo, timeOf(first))
      assert.deepEqual((await unsealed(ledger, state.sealedTo)).times, [timeOf(second)])
    },

    async 'ledger: the live events that are open when it begins are named'({ store }) {
      const [live] = await store.append([draft({ n: 1 }, { live: true })])
      const { open } = await ledgerOf(store).begin(FAR)
      assert.deepEqual(open, [{ id: live!.id, time: timeOf(live) }])
    },

    async 'ledger: events are not removed'({ store }) {
      const events = await store.append(drafts(2))
      await begun(store)
      await rejectsWith(store.removeBefore(FAR), 'SIGNER_REQUIRED')
      await rejectsWith(store.remove([events[0]!.id]), 'SIGNER_REQUIRED')
      assert.ok(await store.get(events[0]!.id))
    },

    async 'ledger: an aborted signal changes nothing'({ store }) {
      const ledger = ledgerOf(store)
      const signal = AbortSignal.abort()
      await rejectsWith(ledger.begin(0, { signal }), 'ABORTED')
      assert.equal(await ledger.state(), undefined)
      const { state } = await ledger.begin(0)
      const after = { ...state, size: 1 }
      await rejectsWith(ledger.append(addition(state, { after }), { signal }), 'ABORTED')
      assert.deepEqual(await ledger.state(), state)
    },
  },
  'ledger',
)

const readCases = cases(
  {
    async 'ledger: unsealed events come in order, with the hashes of their leaves'({ store }) {
      const { ledger } = await begun(store)
      const events = await store.append([draft(exactData), ...drafts(700)])
      for (const leaf of [0, 1, 255, 256, 300]) {
        const found = await unsealed(ledger, 0, { leaf })
        assert.deepEqual(found.times, times(events))
        assert.deepEqual(bytes(found.hashes), hashesOf(events, leaf))
      }
      const some = await unsealed(ledger, timeOf(events[1]), { leaf: 7, limit: 3 })
      assert.deepEqual(some.times, times(events.slice(2, 5)))
      assert.deepEqual(bytes(some.hashes), hashesOf(events.slice(2, 5), 7))
      const none = await unsealed(ledger, timeOf(events.at(-1)))
      assert.deepEqual([none.times, none.hashes.length, none.open], [[], 0, []])
    },

    async 'ledger: an open live event is named where it stands, and late when it closes'({
      store,
    }) {
      const { ledger } = await begun(store)
      const [live] = await store.append([draft({ n: 1 }, { live: true })])
      assert.deepEqual((await unsealed(ledger, 0)).open, [])
      const after = await store.append(drafts(2))
      const [newest] = await store.append([draft({ n: 2 }, { live: true })])
      const found = await unsealed(ledger, 0)
      assert.deepEqual(found.times, times(after))
      assert.deepEqual(found.open, [{ id: live!.id, time: timeOf(live) }])
      const all = { from: 0, to: FAR, limit: 10 }
      assert.deepEqual(
        (await ledger.events(all)).map(({ time }) => time),
        times(after),
      )
      assert.deepEqual(await ledger.late(0, 10), [])
      await store.closeLive(live!.id, { revision: 1, json: '{"n":3}' })
      const late = await ledger.late(0, 10)
      assert.deepEqual(
        late.map(({ time }) => time),
        [timeOf(live)],
      )
      await store.closeLive(newest!.id, { revision: 1 })
      assert.equal((await ledger.late(late[0]!.id, 10)).length, 1)
      assert.deepEqual((await ledger.events(all))[0]!.event!.attributes, { n: 3 })
    },

    async 'ledger: imported events are late, in the order of their imports'({ store }) {
      await importOne(store, imported())
      const { ledger } = await begun(store)
      assert.deepEqual(await ledger.late(0, 10), [])
      const events = importedSome(3).slice(1)
      for (const event of events.toReversed()) await importOne(store, event)
      const late = await ledger.late(0, 10)
      assert.deepEqual(
        late.map(({ time }) => time),
        times(events.toReversed()),
      )
      assert.ok(late[0]!.id < late[1]!.id)
      assert.deepEqual(await ledger.late(0, 1), late.slice(0, 1))
      assert.deepEqual(await ledger.late(late[0]!.id, 10), late.slice(1))
      await importOne(store, events[0]!)
      assert.equal((await ledger.late(0, 10)).length, 2)
    },

    async 'ledger: events have the JSON text that is stored'({ store }) {
      const { ledger } = await begun(store)
      const [first, second, third] = await store.append([draft(exactData), ...drafts(2)])
      const all = await ledger.events({ from: 0, to: FAR, limit: 10 })
      assert.equal(attributesJson(all[0]!.event!), JSON.stringify(exactData))
      assert.deepEqual(
        all.map(({ event }) => event!.id),
        [first!.id, second!.id, third!.id],
      )
      const [from, to] = [timeOf(second), timeOf(third)]
      const some = await ledger.events({ from, to, limit: 10 })
      assert.deepEqual(
        some.map(({ time }) => time),
        [from, to],
      )
      assert.equal((await ledger.events({ from, to, limit: 1 })).length, 1)
      assert.deepEqual(await ledger.events({ from: to + 1, to: FAR, limit: 1 }), [])
      const [live] = await store.append([draft({ n: 1 }, { live: true })])
      const at = await ledger.eventsAt([to, from + 1, timeOf(live), timeOf(first)])
      assert.deepEqual(new Set(at.map(({ event }) => event!.id)), new Set([first!.id, third!.id]))
      const exact = at.find(({ time }) => time === timeOf(first))
      assert.equal(attributesJson(exact!.event!), JSON.stringify(exactData))
      assert.deepEqual(await ledger.eventsAt([]), [])
    },
  },
  'ledger',
)

const appendCases = cases(
  {
    async 'ledger: everything that is appended is read back'({ store }) {
      const { ledger, state } = await begun(store)
      await importOne(store, imported())
      const [late] = await ledger.late(0, 1)
      const full = rowOf(0, 0, range(1, 256))
      const part = rowOf(1, 256, [300, 400])
      const after: LedgerState = {
        size: 259,
        sealedTo: 400,
        lateTo: late!.id,
        head: 'a\nb\n',
        voucher: '259 x',
        revision: 'other',
      }
      const nodes = [0, 3, 2 ** 40].map((index) => ({ level: 8, index, hash: seed(9) }))
      const statements = [{ leaf: 258, entry: 'began {"after":"x"}' }]
      const lateLeaves = [{ id: late!.id, leaf: 257 }]
      const given = { after, rows: [full, part], nodes, statements, late: lateLeaves }
      assert.equal(await ledger.append(addition(state, given)), true)
      assert.deepEqual(await ledger.state(), after)
      const rows = await ledger.rows(0, 10)
      assert.deepEqual(rows.map(plain), [full, part].map(plain))
      assert.deepEqual((await ledger.rows(1, 10)).map(plain), [plain(part)])
      assert.equal((await ledger.rows(0, 1)).length, 1)
      const places = [...nodes, { level: 9, index: 0 }, { level: 8, index: 1 }]
      const found = await ledger.nodes(places)
      assert.deepEqual(
        found.map((hash) => hash && bytes(hash)),
        [...nodes.map(({ hash }) => bytes(hash)), undefined, undefined],
      )
      assert.deepEqual(
        (await ledger.statements(0, 259)).map(({ ...one }) => one),
        statements,
      )
      assert.deepEqual(await ledger.statements(0, 258), [])
      const leaves = await ledger.leavesOf([1, 256, 300, 400, 299, 401, late!.time])
      assert.deepEqual(leaves, [0, 255, 256, 257, undefined, undefined, 257])
    },

    async 'ledger: the last row is replaced while it grows'({ store }) {
      const { ledger, state } = await begun(store)
      const one = { ...state, size: 1, sealedTo: 10 }
      const two = { ...state, size: 2, sealedTo: 20 }
      await ledger.append(addition(state, { after: one, rows: [rowOf(0, 0, [10])] }))
      await ledger.append(addition(one, { after: two, rows: [rowOf(0, 0, [10, 20])] }))
      const rows = await ledger.rows(0, 10)
      assert.deepEqual(rows.map(plain), [plain(rowOf(0, 0, [10, 20]))])
      assert.deepEqual(await ledger.leavesOf([10, 20]), [0, 1])
    },

    async 'ledger: nothing is appended to another state'({ store }) {
      const { ledger, state } = await begun(store)
      const after = { ...state, size: 1, sealedTo: 10 }
      const given = {
        after,
        rows: [rowOf(0, 0, [10])],
        nodes: [{ level: 8, index: 0, hash: seed(1) }],
        statements: [{ leaf: 0, entry: 'x' }],
      }
      const others = [
        { size: 1 },
        { sealedTo: 1 },
        { lateTo: 1 },
        { head: 'x' },
        { voucher: 'x' },
        { revision: 'x' },
      ]
      for (const other of others)
        assert.equal(await ledger.append(addition({ ...state, ...other }, given)), false)
      assert.deepEqual(await ledger.state(), state)
      assert.deepEqual(await ledger.rows(0, 1), [])
      assert.deepEqual(await ledger.nodes(given.nodes), [undefined])
      assert.deepEqual(await ledger.statements(0, 1), [])
    },

    async 'ledger: nothing is appended after a state that has come back'({ store }) {
      const { ledger, state } = await begun(store)
      const longer = { ...state, size: 1, revision: 'second' }
      const back = { ...state, revision: 'third' }
      assert.equal(await ledger.append(addition(state, { after: longer })), true)
      assert.equal(await ledger.append(addition(longer, { after: back })), true)
      assert.equal(await ledger.append(addition(state, { after: longer })), false)
      const removal = { before: state, after: longer, times: [], rows: [], dropped: [] }
      assert.equal(await ledger.remove(removal), undefined)
      assert.equal(await ledger.restart(state, 0), undefined)
      const again = await ledger.restart(back, 0)
      assert.ok(![state, longer, back].some(({ revision }) => revision === again!.state.revision))
    },

    async 'ledger: one of several concurrent appends succeeds'({ store }) {
      const { ledger, state } = await begun(store)
      const calls = range(1, 5).map((n) =>
        ledger.append(addition(state, { after: { ...state, size: n } })),
      )
      const results = await Promise.all(calls)
      assert.equal(results.filter((isDone) => isDone).length, 1)
      assert.equal((await ledger.state())!.size, results.indexOf(true) + 1)
    },

    async 'ledger: the events that wait are counted'({ store }) {
      const { ledger, state } = await begun(store)
      assert.deepEqual(await ledger.waiting(), { events: 0, oldest: undefined })
      const [first, second] = await store.append(drafts(2))
      await importOne(store, imported())
      const [late] = await ledger.late(0, 1)
      // The imported event is also one of those in order, as nothing is sealed yet.
      assert.deepEqual(await ledger.waiting(), { events: 3, oldest: late!.time })
      const after = { ...state, size: 1, sealedTo: timeOf(first) }
      const rows = [rowOf(0, 0, [timeOf(first)])]
      await ledger.append(addition(state, { after, rows }))
      assert.deepEqual(await ledger.waiting(), { events: 2, oldest: timeOf(second) })
      const sealed = { ...after, size: 2, lateTo: late!.id }
      await ledger.append(addition(after, { after: sealed, late: [{ id: late!.id, leaf: 1 }] }))
      assert.deepEqual(await ledger.waiting(), { events: 1, oldest: timeOf(second) })
    },
  },
  'ledger',
)

const sharedCases = cases(
  {
    async 'ledger: another process has the same ledger, and its late events are listed'({
      store,
      reopen,
    }) {
      const { ledger, state } = await begun(store)
      const other = await reopen()
      const after = { ...state, size: 1, sealedTo: 10, head: 'x' }
      await ledger.append(addition(state, { after, rows: [rowOf(0, 0, [10])] }))
      assert.deepEqual(await other.store.ledger!.state(), after)
      await importOne(other.store, imported())
      assert.equal((await ledger.late(0, 10)).length, 1)
      await rejectsWith(other.store.removeBefore(FAR), 'SIGNER_REQUIRED')
      assert.equal(await other.store.ledger!.append(addition(state, {})), false)
    },
  },
  'ledger',
  'reopen',
)

/** A row without the kinds of its buffers. */
function plain({ row, after, last, places, hashes, seed }: LeafRow): object {
  return { row, after, last, places: bytes(places), hashes: bytes(hashes), seed: bytes(seed) }
}

export const ledgerCases: readonly Case[] = [
  ...stateCases,
  ...readCases,
  ...appendCases,
  ...sharedCases,
]
