import { AuditLogs } from 'daybook'
import { postgresLogs } from 'daybook/postgres'
import { expect, inject, it } from 'vitest'
import { citusSchemas } from '../support/citus-schemas.js'

const url = inject('citusUrl')
const nodes = inject('citusNodes')
const schemas = citusSchemas(url, '')
const PREFIX = 'logs_'
const KEYS = ['acme', 'beta', 'gamma', 'delta']

it('each log is placed on a node, and all logs can be read together, even while a log moves', async () => {
  for (const key of KEYS) await schemas.drop(PREFIX + key)
  const logs = new AuditLogs({
    stores: postgresLogs({ connectionString: url, citus: true, schemaPrefix: PREFIX }),
    types: {},
  })
  for (const [n, key] of KEYS.entries()) await logs.log(key).recordCustom('test:logs', { n })
  expect(await logs.keys()).toEqual(KEYS.toSorted())
  const readPlaces = async (): Promise<ReadonlySet<string>> =>
    new Set(await Promise.all(KEYS.map((key) => schemas.nodeOf(PREFIX + key))))
  // Citus distributes schemas in turns. Other tests also place their logs.
  if ((await readPlaces()).size < nodes.length) await schemas.move(PREFIX + KEYS[1], nodes)
  expect(await readPlaces()).toEqual(new Set(nodes))

  const followed: number[] = []
  const following = (async () => {
    for await (const { event } of logs.tail('filter[n_gteq]=10')) {
      followed.push(Number(event.attributes['n']))
      if (followed.length === 20) return
    }
  })()
  const numbers = async (): Promise<unknown[]> =>
    (await logs.list('limit=100')).events.map(({ event }) => event.attributes['n'])
  expect(await numbers()).toEqual([0, 1, 2, 3])

  const moving = schemas.move(PREFIX + KEYS[0], nodes)
  for (let n = 10; n < 30; n++) await logs.log(KEYS[n % 4]!).recordCustom('test:logs', { n })
  await moving
  await following
  expect(followed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 10))
  expect(await numbers()).toEqual([0, 1, 2, 3, ...Array.from({ length: 20 }, (_, i) => i + 10)])
  expect((await logs.count()).total).toBe(24)
  await logs.close()
  for (const key of KEYS) await schemas.drop(PREFIX + key)
})
