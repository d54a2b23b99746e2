import { AuditLog, type AuditEvent, type Damage, formatTimestamp } from 'daybook'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { timeOf } from '../support/part-truth.js'
import { randomRuns } from '../support/soak.js'
import { tempDir } from '../support/temp.js'

/*
 * The writer thread hands the events that it stores to the indexing thread. Whatever happens to them before they
 * are sealed, the index leads to each event that is there by the values that it has.
 */

const TUNING = { segmentSize: 16, fanOut: 3 }
const VALUES = 5
/** So many events are handed over at once. */
const PADDING = 'x'.repeat(8000)

type Step = readonly [
  act: 'record' | 'live' | 'remove' | 'replace' | 'import' | 'removeBefore' | 'index',
  number: number,
]

const step = (act: Step[0], max: number): fc.Arbitrary<Step> =>
  fc.integer({ min: 1, max }).map((number) => [act, number] as const)

const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: step('record', 40) },
    { weight: 1, arbitrary: step('live', 3) },
    { weight: 2, arbitrary: step('remove', 20) },
    { weight: 2, arbitrary: step('replace', 20) },
    { weight: 2, arbitrary: step('import', 20) },
    { weight: 1, arbitrary: step('removeBefore', 20) },
    { weight: 5, arbitrary: step('index', 1) },
  ),
  { minLength: 16, maxLength: 16, size: 'max' },
)

async function check(history: readonly Step[]): Promise<void> {
  const temp = tempDir()
  const { store, sealer, startWriter } = createSqliteStore(
    { filename: temp.file('audit.db') },
    // Only the test starts rounds.
    { tuning: TUNING, checkMs: 3_600_000 },
    { firstProbe: 1 },
  )
  const audit = new AuditLog({ store, types: { 'info:test:live': {} } })
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  const all = async (): Promise<readonly AuditEvent[]> => (await audit.list({ limit: 1000 })).events
  const attributes = (n: number) => ({ value: n % VALUES, padding: PADDING })
  const changed = (event: AuditEvent): AuditEvent => ({
    ...event,
    attributes: { value: (Number(event.attributes['value']) + 1) % VALUES },
  })

  const acts: Readonly<Record<Step[0], (number: number) => Promise<unknown>>> = {
    record: (count) =>
      Promise.all(
        Array.from({ length: count }, (_, n) => audit.recordCustom('test:note', attributes(n))),
      ),
    async live(n) {
      const live = await audit.recordLive('info:test:live', attributes(n))
      await audit.recordCustom('test:note', attributes(n))
      await live.update({ value: (n + 1) % VALUES })
      await live.close()
    },
    // Mostly events that are in no segment.
    async remove(back) {
      const event = (await all()).at(-back)
      if (event) await store.remove([event.id])
    },
    async replace(back) {
      const event = (await all()).at(-back)
      if (!event) return
      await store.remove([event.id])
      await audit.importEvents([changed(event)])
    },
    async import(back) {
      const events = await all()
      const event = events.at(-back)
      if (!event) return
      const times = new Set(events.map(timeOf))
      let time = timeOf(event)
      while (times.has(time)) time -= 1
      const id = `0196b3c2-0000-4000-8000-${String(time % 1e12).padStart(12, '0')}`
      await audit.importEvents([{ ...changed(event), id, created_at: formatTimestamp(time) }])
    },
    async removeBefore(back) {
      const event = (await all()).at(-back)
      if (event) await store.removeBefore(timeOf(event))
    },
    index: () => sealer.settled(),
  }

  try {
    expect(await startWriter()).toBe(true)
    for (const [act, number] of history) {
      await acts[act](number)
      if (act !== 'index') continue
      const events = await all()
      for (let value = 0; value < VALUES; value++) {
        const { events: found } = await audit.list(`filter[value_eq]=${value}&limit=1000`)
        expect(found).toEqual(events.filter((event) => event.attributes['value'] === value))
      }
      await audit.verify()
      expect(damages).toEqual([])
    }
  } finally {
    await audit.close()
    temp.remove()
  }
}

it('events that were handed over are found after any history', async () => {
  await fc.assert(fc.asyncProperty(steps, check), { numRuns: randomRuns(3, 50) })
})
