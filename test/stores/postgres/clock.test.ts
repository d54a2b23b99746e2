import { AuditLog, parseTimestamp } from 'daybook'
import { expect, it } from 'vitest'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { useSchemas } from '../../support/schemas.js'
import { shiftClock as shiftClockOf } from '../../support/shifted-clock.js'

const { database, schema, openStore } = useSchemas('clock')

const shiftClock = (interval: string): Promise<void> =>
  shiftClockOf(database().pool, `interval '${interval}'`)

it('a jump of the server to a wrong time moves no event, until it is accepted', async () => {
  await shiftClock('0')
  const store = openStore({ partitions: 'none' })
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const yearOf = async (type: string): Promise<number> => {
    const event = await audit.recordCustom(type)
    return new Date(parseTimestamp(event!.created_at)! / 1000).getUTCFullYear()
  }
  try {
    const year = await yearOf('before')
    await shiftClock('60 years')
    expect(await yearOf('meanwhile')).toBe(year)
    expect(await yearOf('meanwhile')).toBe(year)
    await audit.flush()
    const { events } = await audit.list('filter[type_eq]=warn:audit_log:clock')
    expect(events.map(({ attributes }) => attributes['reason'])).toEqual(['jump'])
    audit.acceptClock()
    expect(await yearOf('after')).toBe(year + 60)
  } finally {
    await audit.close()
  }
})

it.each([
  ['jumps while a process runs', 0, 29],
  ['was ahead before a process started', 400, 0],
])('rules by age wait if the clock of the server %s', async (_, atStart, later) => {
  await shiftClock('0')
  const openLog = (): AuditLog =>
    new AuditLog({
      store: openStore({ partitions: 'none' }),
      types: {},
      cleaning: { rules: [{ target: 'events', maxAge: { days: 7 } }] },
    })
  const first = openLog()
  await first.recordCustom('right')
  await first.close()
  await shiftClock(`${atStart} days`)
  const audit = openLog()
  try {
    await audit.recordCustom('right')
    if (later > 0) await shiftClock(`${later} days`)
    await audit.recordCustom('wrong')
    const wait = { removed_count: 0, skipped: expect.stringContaining('maxAge waits') }
    expect(await audit.cleaning.run()).toMatchObject([wait])
    expect(await audit.cleaning.preview()).toMatchObject([{ ...wait, due_count: 0 }])
    audit.acceptClock()
    expect(await audit.cleaning.run()).toMatchObject([{ removed_count: later > 0 ? 2 : 1 }])
  } finally {
    await audit.close()
  }
})

it('new events are later than events that were copied without the sequence', async () => {
  await shiftClock('0')
  const first = openStore()
  const [copied] = await first.append([draft({ n: 0 })])
  await first.close()
  await database().pool.query(`SELECT setval('${schema()}.high_water', 0)`)
  const hourAgo = (): number => (Date.now() - 3_600_000) * 1000
  const store = openStore({ clock: hourAgo })
  const [event] = await store.append([draft({ n: 1 })])
  expect(parseTimestamp(event!.created_at)).toBe(parseTimestamp(copied!.created_at)! + 1)
  const live = await store.append([draft({ n: 2 }, { live: true })])
  await store.close()
  await database().pool.query(`SELECT setval('${schema()}.high_water', 0)`)
  const next = openStore({ clock: hourAgo })
  const [last] = await next.append([draft({ n: 3 })])
  expect(parseTimestamp(last!.created_at)).toBe(parseTimestamp(live[0]!.created_at)! + 1)
  await next.close()
})
