import { setTimeout as delay } from 'node:timers/promises'
import {
  type AuditEvent,
  AuditLog,
  defineEventTypes,
  type EventStore,
  type JsonObject,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import jsonPatch from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { postgresDatabase } from '../../support/database.js'
import { tempDir } from '../../support/temp.js'

/*
 * Writers change live events while tails and pollers read them on the same store. A tail with changes must end with
 * the closed events. A poller must get each event once, in the order of `created_at`.
 */
const LIVE = 4
const STEPS = 21
const SHARED = 'test:following:live'
const types = defineEventTypes({ [SHARED]: {} })

const openLog = (store: EventStore): AuditLog<typeof types> => new AuditLog({ store, types })

async function writeLive(
  audit: AuditLog<typeof types>,
  name: string,
  isFollowed: (id: string) => boolean,
): Promise<AuditEvent> {
  const live = await audit.recordLive(SHARED, { name, progress: '', steps: [] })
  for (let step = 0; step < STEPS; step++) {
    await live.append('progress', `${name}: step ${step} 😀\n`)
    if (step % 3 === 0)
      await live.update(({ steps, ...others }) => ({ ...others, steps: [...(steps as []), step] }))
    if (step % 5 === 0) await live.update({ [`k${step}`]: { step }, [`k${step - 5}`]: undefined })
    await delay(Math.random() * 20)
  }
  // An event that is closed before a follower reads it has no changes.
  while (!isFollowed(live.event!.id)) await delay(5)
  return (await live.close())!
}

type Received = Map<string, JsonObject>

/** Fills in the attributes of each event after its changes, until `count` events are closed. */
async function followChanges(
  audit: AuditLog<typeof types>,
  count: number,
  received: Received,
): Promise<void> {
  let open = count
  for await (const item of audit.tail(
    { filter: { type_eq: SHARED } },
    { after: '2000-01-01', changes: true },
  )) {
    if ('patch' in item) {
      const before = received.get(item.id)!
      received.set(
        item.id,
        jsonPatch.applyPatch(structuredClone(before), item.patch, true).newDocument,
      )
      if (item.closed && --open === 0) break
    } else {
      expect(received.has(item.id)).toBe(false)
      received.set(item.id, item.attributes)
    }
  }
}

/** The ids in the order in which a poller receives them. */
async function poll(audit: AuditLog<typeof types>, isOver: () => boolean): Promise<string[]> {
  const seen: string[] = []
  for (let after = '2000-01-01'; ;) {
    const isLast = isOver()
    const filter = { type_eq: SHARED, created_at_gt: after, sorts: 'created_at' }
    const { events } = await audit.list({ filter, limit: 2 })
    seen.push(...events.map(({ id }) => id))
    after = events.at(-1)?.created_at ?? after
    if (isLast && events.length === 0) return seen
    await delay(Math.random() * 10)
  }
}

async function follow(writing: EventStore, reading: EventStore): Promise<void> {
  await using writer = openLog(writing)
  await using reader = openLog(reading)
  let isOver = false
  const followers: Received[] = [new Map(), new Map()]
  const isFollowed = (id: string): boolean => followers.every((received) => received.has(id))
  const following = followers.map((received) => followChanges(reader, LIVE, received))
  const polling = poll(reader, () => isOver)
  const closed = await Promise.all(
    Array.from({ length: LIVE }, async (_, i) => {
      await delay(i * 50)
      return writeLive(writer, `live${i}`, isFollowed)
    }),
  )
  isOver = true
  const expected = new Map(closed.map(({ id, attributes }) => [id, attributes]))
  await Promise.all(following)
  for (const received of followers) expect(received).toEqual(expected)
  expect((await polling).toSorted()).toEqual([...expected.keys()].toSorted())
  for (const event of closed) {
    const name = event.attributes['name'] as string
    const steps = Array.from({ length: STEPS }, (_, step) => step)
    expect(event.attributes).toEqual({
      name,
      progress: steps.map((step) => `${name}: step ${step} 😀\n`).join(''),
      steps: steps.filter((step) => step % 3 === 0),
      k20: { step: 20 },
    })
    expect(await reader.get(event.id)).toEqual(event)
  }
}

describe('live events are followed until they are closed', () => {
  it('in memory', async () => {
    const store = memoryStore()
    await follow(store, store)
  })

  it('on one SQLite file', async () => {
    const temp = tempDir()
    const filename = temp.file('audit.db')
    try {
      await follow(sqliteStore({ filename }), sqliteStore({ filename }))
    } finally {
      temp.remove()
    }
  })

  it('on Postgres', async () => {
    const { url, remove } = await postgresDatabase()
    const open = (): EventStore => postgresStore({ connectionString: url })
    try {
      await follow(open(), open())
    } finally {
      await remove()
    }
  })
})
