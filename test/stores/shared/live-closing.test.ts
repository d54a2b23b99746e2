import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditEvent, AuditLog } from 'daybook'
import { expect, it } from 'vitest'
import { draft, numbersOf, range } from '../../../src/testing/conformance/helpers.js'
import { eachStore } from '../../support/event-stores.js'

// More than a page.
const SIZE = 1040
const OPEN_EVERY = 20
const ROUNDS = 2

const twoConnections = eachStore.filter(([name]) => name !== 'memory')

async function expectEachOnce(reader: AuditLog, all: readonly unknown[]): Promise<void> {
  for (const order of ['', '&filter[sorts]=created_at']) {
    const found: unknown[] = []
    for await (const page of reader.pages(`filter[n_gteq]=0${order}`))
      found.push(...numbersOf(page))
    expect(found.toSorted((a, b) => Number(a) - Number(b))).toEqual(all)
  }
  const sorted = await reader.list('filter[sorts]=n&limit=1000')
  expect(numbersOf(sorted.events)).toEqual(all.slice(0, 1000))
  const options = { within: 60_000 }
  expect((await reader.count('', options)).total).toBe(all.length)
  const { attributes } = await reader.count('', { ...options, attributes: true })
  expect(attributes?.find(({ name }) => name === 'n')?.count).toBe(all.length)
}

it.each(twoConnections)(
  'on %s each event is read and counted once while another connection closes open ones',
  async (_, createPlace) => {
    const place = await createPlace()
    const other = place.open()
    // Complete counts may take long on a busy machine.
    const store = place.open(undefined, { queryTimeoutMs: 60_000 })
    const reader: AuditLog = new AuditLog({ store, types: {} })
    const isLive = (n: number): boolean => n % OPEN_EVERY === 3
    const events = await other.append(
      range(0, SIZE - 1).map((n) => draft({ n }, isLive(n) ? { live: true } : {})),
    )
    const open = events.filter((_event, n) => isLive(n))
    const close = async (closing: readonly AuditEvent[]): Promise<void> => {
      for (const { id, attributes } of closing) {
        const json = JSON.stringify({ ...attributes, closed: true })
        await other.closeLive(id, { revision: 1, json })
        await nextTurn()
      }
    }
    for (let round = 0; round < ROUNDS; round++)
      await Promise.all([
        close(open.filter((_event, i) => i % ROUNDS === round)),
        expectEachOnce(reader, numbersOf(events)),
      ])
    expect(await store.openEvents()).toEqual([])
    await Promise.all([reader.close(), other.close()])
    await place.remove()
  },
)
