import {
  type AuditEvent,
  type EventQuery,
  type EventStore,
  type JsonObject,
  parseQuery,
} from 'daybook'
import pg from 'pg'
import { expect, it } from 'vitest'
import { createLog } from '../../../adapters/postgres/log/log.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { createAbandonedClosing } from '../../../adapters/postgres/write/liveness.js'
import { DAY } from '../../../src/event/timestamp.js'
import { draft, numbersOf, range } from '../../../src/testing/conformance/helpers.js'
import { manualClock } from '../../../src/testing/conformance/manual-clock.js'
import { useSchemas } from '../../support/schemas.js'
import { APPEND, startProxy } from '../../support/proxy.js'

const { database, schema, openStore } = useSchemas('live')

const ALL: EventQuery = { where: undefined, sorts: [], limit: 1000 }

async function begin(store: EventStore, attributes: JsonObject): Promise<AuditEvent> {
  const [event] = await store.append([draft(attributes, { live: true })])
  return event!
}

const grown = (revision: number, text: string) => ({
  revision,
  texts: [{ key: 'log', text, replaces: false }],
})

it('is closed though the partition of its time has been dropped', async () => {
  const clock = manualClock('2026-01-31T23:59:59Z')
  const store = openStore({ clock })
  await store.append([draft({ n: 0 })])
  const event = await begin(store, { n: 1, log: '' })
  await store.changeLive(event.id, grown(1, 'begun'))
  clock.advance(60 * DAY)
  await store.append([draft({ n: 2 })])
  expect(await store.removeBefore(clock() - DAY)).toBe(1)
  const partitions = async (): Promise<unknown[]> => {
    const { rows } = await database().pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = '${schema()}.events'::regclass ORDER BY 1`,
    )
    return rows.map(({ name }) => name)
  }
  expect(await partitions()).not.toContain('events_202601')
  const closed = await store.closeLive(event.id, grown(2, ' and ended'))
  expect(closed).toEqual({ ...event, attributes: { n: 1, log: 'begun and ended' } })
  expect(await partitions()).toContain('events_202601')
  expect(await store.get(event.id)).toEqual(closed)
  expect(numbersOf((await store.list(ALL)).events)).toEqual([1, 2])
  await store.close()
})

it('leaves no rows in the live tables once closed, and is found by the index', async () => {
  const store = openStore({ partitions: 'none' })
  const event = await begin(store, { n: 1, log: '' })
  for (const revision of range(1, 20)) await store.changeLive(event.id, grown(revision, 'x'))
  await store.closeLive(event.id, { revision: 21, json: '{"n":1,"log":"","stage":"done"}' })
  const { rows } = await database().pool.query(
    `SELECT (SELECT count(*) FROM ${schema()}.live_events)::int AS events,
       (SELECT count(*) FROM ${schema()}.live_texts)::int AS texts`,
  )
  expect(rows).toEqual([{ events: 0, texts: 0 }])
  // More events than a list probes before it asks the index.
  await store.append(range(2, 300).map((n) => draft({ n })))
  const { where } = parseQuery('filter[stage_eq]=done')
  const { events } = await store.list({ where, sorts: [], limit: 10 })
  expect(events.map(({ attributes }) => attributes)).toEqual([
    { n: 1, log: 'x'.repeat(20), stage: 'done' },
  ])
  await store.close()
})

it('applies each change once if results are lost', async () => {
  const target = new URL(database().url)
  const proxy = await startProxy({ host: target.hostname, port: Number(target.port) })
  target.port = String(proxy.port)
  const store = openStore({ connectionString: target.href })
  const event = await begin(store, { n: 1, log: '' })
  for (const revision of range(1, 3)) {
    proxy.loseAnswerTo(`UPDATE "${schema()}".live_events`)
    expect(await store.changeLive(event.id, grown(revision, String(revision)))).toBe(true)
  }
  expect((await store.get(event.id))!.attributes).toEqual({ n: 1, log: '123' })
  proxy.loseAnswerTo(`DELETE FROM "${schema()}".live_events`)
  const closed = await store.closeLive(event.id, grown(4, '4'))
  expect(closed!.attributes).toEqual({ n: 1, log: '1234' })
  expect((await store.list(ALL)).events).toEqual([closed])
  proxy.loseAnswerTo(APPEND)
  const second = await begin(store, { n: 2, log: '' })
  expect((await store.list(ALL)).events).toEqual([closed, second])
  expect(await store.openEvents()).toEqual([{ id: second.id, revision: 0 }])
  await store.close()
  await proxy.close()
})

it('is closed as unfinished without heartbeats, and no other event is', async () => {
  const store = openStore()
  const left = await begin(store, { n: 1, log: '' })
  const held = await begin(store, { n: 2, log: '' })
  await store.changeLive(left.id, grown(1, 'as far as this'))
  const pool = new pg.Pool({ connectionString: database().url })
  const log = createLog({
    names: namesIn(schema()),
    pool,
    partitions: 'month',
    clock: undefined,
    onPrepared: () => {},
  })
  await log.use(AbortSignal.timeout(10_000), () => Promise.resolve())
  let now = 0
  let closed = 0
  const closeAbandoned = createAbandonedClosing(
    log,
    () => closed++,
    () => now,
  )
  for (; now < 20_000; now += 5000) {
    await closeAbandoned()
    await store.touchLive([held.id])
    expect(closed).toBe(0)
  }
  await closeAbandoned()
  expect(closed).toBe(1)
  expect(await store.openEvents()).toEqual([{ id: held.id, revision: 0 }])
  const unfinished = { n: 1, log: 'as far as this', unfinished: true }
  expect((await store.get(left.id))!.attributes).toEqual(unfinished)
  // The process of the event notices that it is closed.
  expect(await store.changeLive(left.id, grown(2, 'more'))).toBe(false)
  expect((await store.closeLive(left.id, { revision: 2 }))!.attributes).toEqual(unfinished)
  await store.close()
  await pool.end()
})
