import Database from 'better-sqlite3'
import pg from 'pg'
import { manualClock } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'
import { eachStore, type EventPlace } from '../../support/event-stores.js'

/** The number of stored values, whether or not they have expired. */
async function countRows({ demo }: EventPlace): Promise<number> {
  if (demo.kind === 'sqlite') {
    const reader = new Database(demo.filename, { readonly: true })
    try {
      return reader.prepare('SELECT count(*) FROM daybook_state').pluck().get() as number
    } finally {
      reader.close()
    }
  }
  const client = new pg.Client(demo as pg.ClientConfig)
  await client.connect()
  const { rows } = await client.query<{ rows: number }>(
    'SELECT count(*)::int AS rows FROM daybook.state',
  )
  await client.end()
  return rows[0]!.rows
}

it.each(eachStore.filter(([name]) => name !== 'memory'))(
  'expired values are deleted, a hundred per write: %s',
  async (_, createPlace) => {
    const place = await createPlace()
    onTestFinished(() => place.remove())
    const clock = manualClock()
    const store = place.open(clock)
    onTestFinished(() => store.close())
    await store.updateState('for good', () => 0)
    const values = new Map(Array.from({ length: 150 }, (_, n) => [`${n}`, n]))
    await store.updateStates([...values.keys()], () => values, { keepFor: 1000 })
    clock.advance(1000)
    await store.updateState('for good', () => 1)
    expect(await countRows(place)).toBe(151)
    await store.updateState('new', () => 0, { keepFor: 1000 })
    expect(await countRows(place)).toBe(52)
    await store.updateState('newer', () => 0, { keepFor: 1000 })
    expect(await countRows(place)).toBe(3)
  },
)
