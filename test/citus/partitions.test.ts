import { AuditLog, parseTimestamp } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { imported } from '../../src/testing/conformance/helpers.js'
import { citusSchemas } from '../support/citus-schemas.js'
import { askNode } from '../support/citus.js'

const url = inject('citusUrl')
const nodes = inject('citusNodes')
const schemas = citusSchemas(url, 'partitions')

const urlOf = (address: string): string => {
  const node = new URL(url)
  node.host = address
  // Without this option, Citus hides the node's own tables.
  node.searchParams.set('options', '-c citus.override_table_visibility=false')
  return node.href
}

/** The first time of each partition on a server, from the tables that Citus shows or from the node's own tables. */
async function partitionsOn(address: string, schema: string, ofNode: boolean): Promise<string[]> {
  const rows = await askNode(
    urlOf(address),
    `SELECT relname FROM pg_class
     WHERE relnamespace = to_regnamespace($1) AND relname ~ $2 ORDER BY relname`,
    [
      pg.escapeIdentifier(schema),
      ofNode ? String.raw`^events_\d{8}_\d+$` : String.raw`^events_\d{8}$`,
    ],
  )
  return rows.map(([name]) => String(name).replace(/^events_(\d+).*/, '$1'))
}

it('old partitions are dropped on every node, also after a move, while the log records', async () => {
  const schema = schemas.take()
  const audit = new AuditLog({
    store: postgresStore({ connectionString: url, schema, citus: true, partitions: 'day' }),
    types: {},
    waiting: { deadlineMs: 60_000 },
  })
  const days = ['2025-05-01', '2025-05-02', '2025-05-03', '2025-05-04']
  const importedOn = (day: string, i: number) =>
    imported({
      id: `0196b3c2-0000-4000-8000-00000000100${i}`,
      created_at: `${day}T10:00:00.000001Z`,
    })
  await audit.importEvents(days.map(importedOn))
  let recorded = 0
  const record = async (): Promise<void> => {
    await audit.recordCustom('test:partitions')
    recorded += 1
  }
  await record()
  const servers = [new URL(url).host, ...nodes]
  const all = await partitionsOn(servers[0]!, schema, false)
  expect(all.slice(0, 4)).toEqual(days.map((day) => day.replaceAll('-', '')))

  let isOver = false
  const recording = (async () => {
    while (!isOver) await record()
  })()
  const removeBefore = (day: string): Promise<number> =>
    audit.store.removeBefore(parseTimestamp(`${day}T00:00:00.000000Z`)!)
  expect(await removeBefore('2025-05-03')).toBe(2)
  const home = await schemas.move(schema, nodes)
  expect(await removeBefore('2025-05-04')).toBe(1)
  isOver = true
  await recording

  for (const address of servers)
    expect(await partitionsOn(address, schema, false)).toEqual(all.slice(3))
  expect(await partitionsOn(home, schema, true)).toEqual(all.slice(3))
  expect((await audit.count()).total).toBe(1 + recorded)
  await audit.close()
  await schemas.drop(schema)
})
