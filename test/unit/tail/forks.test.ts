import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

/*
 * A log that reads from an old primary that continues after a standby has taken over, and then from the new primary.
 * Both servers have the same first events, and different later ones.
 */

const BEGIN = '2026-01-01T00:00:00Z'
const HOUR = 3_600_000

const openLog = (store: EventStore): AuditLog => {
  const audit = new AuditLog({ store, types: {} })
  onTestFinished(() => audit.close())
  return audit
}

interface Forked {
  /** Reads from the old server, and after `takeOver` from the new one. */
  readonly audit: AuditLog
  readonly old: AuditLog
  readonly next: AuditLog
  takeOver(): void
}

/** `aheadMs` is the time by which the clock of the new server is ahead when both have the events `a` and `b`. */
async function fork(aheadMs: number): Promise<Forked> {
  const clocks = [manualClock(BEGIN), manualClock(BEGIN)] as const
  const stores = clocks.map((clock) => memoryStore({ clock })) as [EventStore, EventStore]
  const [old, next] = [openLog(stores[0]), openLog(stores[1])]
  const common = [await old.recordCustom('a'), await old.recordCustom('b')]
  clocks[0].advance(HOUR)
  clocks[1].advance(HOUR + aheadMs)
  await next.importEvents(common.map((event) => event!))
  let current = stores[0]
  const audit = openLog({
    ...stores[0],
    list: (...call) => current.list(...call),
    openEvents: (...call) => current.openEvents(...call),
    ...(stores[0].consistencyToken && { consistencyToken: () => current.consistencyToken!() }),
    watch(hint) {
      const stops = stores.map((store) => store.watch(hint))
      return () => stops.forEach((stop) => stop())
    },
  })
  return { audit, old, next, takeOver: () => void (current = stores[1]) }
}

const record = async (audit: AuditLog, ...types: readonly string[]): Promise<void> => {
  for (const type of types) await audit.recordCustom(type)
}

/** The types of the next `count` events. */
async function take(tail: AsyncIterator<unknown>, count: number): Promise<string> {
  const types: string[] = []
  while (types.length < count) types.push(((await tail.next()).value as AuditEvent).type)
  return types.join(' ')
}

describe.each([
  ['later', HOUR],
  ['earlier', -HOUR / 2],
])('a tail of a log that has lost events, and whose next events are %s', (_, aheadMs) => {
  it.each([
    ['of all events', '', false],
    ['with a filter', 'filter[type_not_start]=other', false],
    ['with changes', '', true],
  ])('goes back to the last existing event: %s', async (__, query, changes) => {
    const { audit, old, next, takeOver } = await fork(aheadMs)
    await using tail = audit.tail(query, { after: '2000-01-01', changes })
    expect(await take(tail, 2)).toBe('a b')
    await record(old, 'lost1', 'lost2')
    expect(await take(tail, 2)).toBe('lost1 lost2')
    takeOver()
    await record(next, 'c', 'd')
    expect(await take(tail, 2)).toBe('c d')
    await record(next, 'e')
    expect(await take(tail, 1)).toBe('e')
  })
})

it('a tail that begins on the old server continues on the new server', async () => {
  const { audit, old, next, takeOver } = await fork(HOUR)
  await using tail = audit.tail()
  await record(old, 'lost')
  expect(await take(tail, 1)).toBe('lost')
  takeOver()
  await record(next, 'c')
  expect(await take(tail, 1)).toBe('c')
})

it.each([false, true])(
  'a tail that begins at a lost event goes back like an earlier tail, with changes: %s',
  async (changes) => {
    const { audit, old, next, takeOver } = await fork(-HOUR / 2)
    const first = audit.tail('', { after: '2000-01-01', changes })
    expect(await take(first, 2)).toBe('a b')
    await record(old, 'lost')
    const { value: lost } = await first.next()
    takeOver()
    await record(next, 'c')
    expect(await take(first, 1)).toBe('c')
    const second = audit.tail('', { after: (lost as AuditEvent).created_at, changes })
    expect(await take(second, 1)).toBe('c')
    await Promise.all([first.return(), second.return()])
  },
)

it('a tail continues after its last events even if they were removed', async () => {
  const { audit, old } = await fork(0)
  await using tail = audit.tail('', { after: '2000-01-01' })
  expect(await take(tail, 2)).toBe('a b')
  await record(old, 'c')
  const { value } = await tail.next()
  await old.store.remove([(value as AuditEvent).id])
  await record(old, 'd')
  expect(await take(tail, 1)).toBe('d')
  const { events } = await old.list()
  await old.store.remove(events.map(({ id }) => id))
  await record(old, 'e')
  expect(await take(tail, 1)).toBe('e')
})
