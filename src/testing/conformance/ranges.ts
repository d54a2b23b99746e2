import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import type { EventRange, EventStore, RemovableRanges } from '../../store/store.js'
import { type Case, cases } from './context.js'
import { allEvents, imported, range, recordSome, timeOf } from './helpers.js'

/* Cases for stores that remove ranges at once. Other stores pass these cases. */

type RangeStore = EventStore &
  Required<Pick<EventStore, 'removableRanges' | 'readRange' | 'removeRange'>>

const hasRanges = (store: EventStore): store is RangeStore => store.removableRanges !== undefined

const importedAt = (n: number, created_at: string): AuditEvent =>
  imported({
    id: `0196b3c2-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created_at,
    attributes: { n },
  })

const HOURS = 5
const DAYS = ['2024-11-30', '2025-03-01', '2025-03-02', '2025-12-24']

const oldEvents = (): AuditEvent[] =>
  DAYS.flatMap((day, d) =>
    range(0, HOURS - 1).map((hour) =>
      importedAt(d * HOURS + hour, `${day}T0${hour}:00:00.000001Z`),
    ),
  )

const isIn =
  ({ from, to }: EventRange) =>
  (event: AuditEvent): boolean =>
    timeOf(event) >= from && timeOf(event) < to

const WITHIN_MS = 60_000

/** The ranges that end before the time, and a snapshot that has all of their events. */
async function openRanges(
  store: RangeStore,
  time: number,
  events: readonly AuditEvent[],
): Promise<RemovableRanges> {
  for (const end = performance.now() + WITHIN_MS; ; await delay(20)) {
    const opened = await store.removableRanges(time)
    const { snapshot, ranges } = opened
    let read = 0
    for (const one of ranges) read += (await readAll(store, one, snapshot)).length
    const expected = events.filter((event) => ranges.some((one) => isIn(one)(event)))
    // A snapshot may leave out the latest events.
    if (read === expected.length || performance.now() > end) return opened
  }
}

/** All events of the range that are in the snapshot, two at a time. */
async function readAll(
  store: RangeStore,
  one: EventRange,
  snapshot: string,
): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for (let after = 0; ;) {
    const page = await store.readRange(one, { snapshot, after, limit: 2 })
    assert.ok(page, 'the range cannot be read')
    assert.ok(page.length <= 2, 'readRange returned more events than the limit')
    if (page.length === 0) return events
    events.push(...page)
    after = timeOf(page.at(-1))
  }
}

/** Old events and some of today, and the ranges of the old ones. */
async function fillRanges(
  store: RangeStore,
  audit: AuditLog,
  now: number,
): Promise<RemovableRanges & { readonly events: readonly AuditEvent[] }> {
  await audit.importEvents(oldEvents())
  await recordSome(audit, 3)
  const events = await allEvents(audit)
  return { events, ...(await openRanges(store, now, events)) }
}

export const rangeCases: readonly Case[] = cases({
  async 'ranges: have exactly the events of their times, and end before the time'({
    store,
    audit,
    clock,
  }) {
    if (!hasRanges(store)) return
    const { events, snapshot, ranges } = await fillRanges(store, audit, clock())
    let last = -Infinity
    for (const one of ranges) {
      assert.ok(last <= one.from && one.from < one.to && one.to <= clock(), 'ranges overlap')
      last = one.to
      assert.deepEqual(await readAll(store, one, snapshot), events.filter(isIn(one)))
    }
    const { ranges: before } = await store.removableRanges(timeOf(events[HOURS]))
    for (const { to } of before) assert.ok(to <= timeOf(events[HOURS]))
  },

  async 'ranges: a removed range is gone from every read, and the rest stays'({
    store,
    audit,
    clock,
  }) {
    if (!hasRanges(store)) return
    const { events, snapshot, ranges } = await fillRanges(store, audit, clock())
    let left = events
    for (const one of ranges) {
      const removed = left.filter(isIn(one))
      left = left.filter((event) => !removed.includes(event))
      assert.equal(await store.removeRange(one, { snapshot }), removed.length)
      assert.deepEqual(await allEvents(audit), left)
      for (const { id } of removed) assert.equal(await store.get(id), undefined)
      for (const event of left.slice(0, 1)) assert.deepEqual(await store.get(event.id), event)
      assert.equal((await audit.count('filter[n_not_null]=1')).total, left.length)
    }
    assert.deepEqual((await store.removableRanges(clock())).ranges, [])
  },

  async 'ranges: an event that is imported after the snapshot is neither read nor removed'({
    store,
    audit,
    clock,
  }) {
    if (!hasRanges(store)) return
    await audit.importEvents(oldEvents())
    const { snapshot, ranges } = await openRanges(store, clock(), oldEvents())
    const [first] = ranges
    if (!first) return
    const known = (await allEvents(audit)).filter(isIn(first))
    const late = importedAt(100, known[0]!.created_at.replace('000001Z', '000002Z'))
    await audit.importEvents([late])
    assert.deepEqual(await readAll(store, first, snapshot), known)
    assert.equal((await store.removableRanges(clock(), { snapshot })).snapshot, snapshot)
    assert.equal(await store.removeRange(first, { snapshot }), known.length)
    assert.deepEqual(await store.get(late.id), late)
    assert.deepEqual((await allEvents(audit)).filter(isIn(first)), [late])
  },
})
