import assert from 'node:assert/strict'
import { writePlaces } from '../../ledger/places.js'
import type { LeafRow, LedgerState, LedgerStore } from '../../store/ledger.js'
import type { EventStore } from '../../store/store.js'
import type { Microseconds } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import { draft, drafts, FAR, importedSome, range, rejectsWith, timeOf } from './helpers.js'

/* The changes of a ledger that remove something: removals of events, cuts, and a new beginning. */

const seed = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)

const rowOf = (
  row: number,
  after: Microseconds,
  times: readonly Microseconds[],
  fill = 1,
): LeafRow => ({
  row,
  after,
  last: times.at(-1)!,
  places: writePlaces(
    times.map((time) => ({ kind: 'event', time })),
    after,
  ),
  hashes: new Uint8Array(32 * times.length).fill(fill),
  seed: seed(fill),
})

const seeds = async (ledger: LedgerStore): Promise<[row: number, seed: number][]> =>
  (await ledger.rows(0, 10)).map(({ row, seed: [first = 0] }) => [row, first])

interface Sealed {
  readonly ledger: LedgerStore
  readonly state: LedgerState
  readonly times: readonly Microseconds[]
}

/** A ledger with 258 leaves of events. */
async function sealed(store: EventStore): Promise<Sealed> {
  const ledger = store.ledger!
  const { state: before } = await ledger.begin(0)
  const times = (await store.append(drafts(258))).map(timeOf)
  const state = { ...before, size: 258, sealedTo: times.at(-1)! }
  const rows = [rowOf(0, 0, times.slice(0, 256)), rowOf(1, times[255]!, times.slice(256))]
  const nodes = [{ level: 8, index: 0, hash: seed(7) }]
  const addition = { before, after: state, rows, nodes, statements: [], late: [] }
  assert.equal(await ledger.append(addition), true)
  return { ledger, state, times }
}

const count = async (store: EventStore): Promise<number> =>
  (await store.excess({ from: FAR })).count

const removals = cases(
  {
    async 'ledger: events are removed together with the rows of their leaves'({ store }) {
      const { ledger, state, times } = await sealed(store)
      const rows = [rowOf(1, times[255]!, times.slice(256), 9)]
      const after = { ...state, revision: 'removed' }
      const removal = { before: state, after, times: times.slice(0, 257), rows, dropped: [0] }
      assert.equal(await ledger.remove(removal), 257)
      assert.deepEqual(await seeds(ledger), [[1, 9]])
      assert.deepEqual(await ledger.leavesOf([times[0]!, times[257]!]), [undefined, 257])
      const [node] = await ledger.nodes([{ level: 8, index: 0 }])
      assert.deepEqual(node && Array.from(node), Array.from(seed(7)))
      assert.equal(await count(store), 1)
      assert.deepEqual(await ledger.state(), after)
      assert.equal(await ledger.remove(removal), undefined)
      assert.equal(await ledger.remove({ ...removal, before: after, rows: [] }), 0)
    },

    async 'ledger: nothing is removed in another state'({ store }) {
      const { ledger, state, times } = await sealed(store)
      const before = { ...state, size: 257 }
      const rows = [rowOf(0, 0, times.slice(0, 256), 9)]
      const removal = { before, after: state, times, rows, dropped: [1] }
      assert.equal(await ledger.remove(removal), undefined)
      assert.deepEqual(await seeds(ledger), [
        [0, 1],
        [1, 1],
      ])
      assert.equal(await count(store), 258)
    },

    async 'ledger: imported events are removed with their leaves, and open live events stay'({
      store,
    }) {
      const ledger = store.ledger!
      const { state } = await ledger.begin(0)
      const [live] = await store.append([draft({ n: 1 }, { live: true })])
      const events = importedSome(2)
      await store.importEvents(
        events.map((event) => ({
          event,
          time: timeOf(event),
          json: JSON.stringify(event.attributes),
        })),
      )
      const late = await ledger.late(0, 10)
      const after = { ...state, size: late.length, lateTo: late.at(-1)!.id }
      const leaves = late.map(({ id }, leaf) => ({ id, leaf }))
      const rows = [rowOf(0, 0, range(1, late.length))]
      const addition = { before: state, after, rows, nodes: [], statements: [], late: leaves }
      assert.equal(await ledger.append(addition), true)
      const times = events.map(timeOf)
      assert.deepEqual(new Set(await ledger.leavesOf(times)), new Set([0, 1]))
      const removed = [...times, timeOf(live)]
      const removal = { before: after, after, times: removed, rows: [], dropped: [] }
      assert.equal(await ledger.remove(removal), 2)
      assert.deepEqual(await ledger.leavesOf(times), [undefined, undefined])
      for (const { id } of events) assert.equal(await store.get(id), undefined)
      assert.ok(await store.get(live!.id))
      // An id that was removed can be imported again.
      const again = { event: events[0]!, time: times[0]!, json: '{}' }
      assert.equal((await store.importEvents([again])).imported, 1)
    },

    async 'ledger: events from before it are given leaves'({ store }) {
      const times = (await store.append(drafts(2))).map(timeOf)
      const ledger = store.ledger!
      const { state } = await ledger.begin(FAR)
      const adopted = times.map((time, leaf) => ({ time, leaf: leaf + 3 }))
      const after = { ...state, size: 5 }
      const addition = {
        before: state,
        after,
        rows: [],
        nodes: [],
        statements: [],
        late: [],
        adopted,
      }
      assert.equal(await ledger.append(addition), true)
      assert.deepEqual(await ledger.leavesOf(times), [3, 4])
      assert.equal((await ledger.waiting()).events, 0)
    },

    async 'ledger: a cut removes all leaves after it'({ store }) {
      const { ledger, state, times } = await sealed(store)
      await store.importEvents(
        importedSome(1).map((event) => ({ event, time: timeOf(event), json: '{}' })),
      )
      const [late] = await ledger.late(0, 1)
      const longer = { ...state, size: 260, lateTo: late!.id, head: 'x' }
      const statements = [{ leaf: 258, entry: 'waited {}' }]
      const leaves = [{ id: late!.id, leaf: 259 }]
      await ledger.append({
        before: state,
        after: longer,
        rows: [],
        nodes: [],
        statements,
        late: leaves,
      })
      const shorter = { ...state, size: 3, sealedTo: times[2]!, lateTo: 0, head: 'y' }
      const rows = [rowOf(0, 0, times.slice(0, 3))]
      const nothing = { nodes: [], statements: [], late: [] }
      assert.equal(await ledger.append({ before: longer, after: shorter, rows, ...nothing }), true)
      assert.deepEqual(await ledger.state(), shorter)
      assert.deepEqual(await seeds(ledger), [[0, 1]])
      assert.deepEqual(await ledger.statements(0, 1000), [])
      const found = await ledger.leavesOf([times[2]!, times[3]!, late!.time])
      assert.deepEqual(found, [2, undefined, undefined])
      assert.equal(await count(store), 259)
    },

    async 'ledger: it begins anew, and events stay'({ store }) {
      const { ledger, state, times } = await sealed(store)
      const other = { ...state, size: 1 }
      assert.equal(await ledger.restart(other, FAR), undefined)
      assert.deepEqual(await ledger.state(), state)
      const begun = await ledger.restart(state, FAR)
      const { size, sealedTo, head } = begun!.state
      assert.deepEqual([size, sealedTo, head], [0, times.at(-1), undefined])
      assert.deepEqual(await ledger.state(), begun!.state)
      assert.deepEqual(await ledger.rows(0, 10), [])
      assert.deepEqual(await ledger.nodes([{ level: 8, index: 0 }]), [undefined])
      assert.deepEqual(await ledger.leavesOf([times[0]!]), [undefined])
      assert.equal((await ledger.waiting()).events, 0)
      assert.equal(await count(store), 258)
      await rejectsWith(store.removeBefore(FAR), 'SIGNER_REQUIRED')
    },
  },
  'ledger',
)

export const ledgerChangeCases: readonly Case[] = removals
