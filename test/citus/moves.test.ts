import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { expect, inject, it } from 'vitest'
import { imported, importedSome } from '../../src/testing/conformance/helpers.js'
import { citusSchemas } from '../support/citus-schemas.js'
import { askNode } from '../support/citus.js'
import { follow, OVER } from '../support/followed.js'
import { allEvents } from '../support/reported-losses.js'

const url = inject('citusUrl')
const nodes = inject('citusNodes')
const schemas = citusSchemas(url, 'moves')

const urlOf = (address: string): string => {
  const node = new URL(url)
  node.host = address
  return node.href
}
const openLog = (schema: string, connectionString = url): AuditLog =>
  new AuditLog({
    store: postgresStore({ connectionString, schema, citus: true }),
    types: {},
    waiting: { deadlineMs: 60_000 },
  })

/** The applications that are connected to a node as clients of a log. */
const clientsOf = async (address: string, application: string): Promise<number> => {
  const rows = await askNode(
    urlOf(address),
    'SELECT FROM pg_stat_activity WHERE application_name = $1',
    [application],
  )
  return rows.length
}

it('a new log is placed on a node, and the store connects to it', async () => {
  const schema = schemas.take()
  const named = new URL(url)
  named.searchParams.set('application_name', schema)
  const audit = openLog(schema, named.href)
  await audit.recordCustom('test:placed', { n: 1 })
  const node = await schemas.nodeOf(schema)
  expect(nodes).toContain(node)
  expect(await clientsOf(node, schema)).toBeGreaterThan(0)
  await audit.close()
  await schemas.drop(schema)
})

it('writers and followers on any node continue while the log moves', async () => {
  const schema = schemas.take()
  const first = openLog(schema)
  await first.recordCustom('test:begun')
  const second = openLog(schema, urlOf(nodes[0]!))
  const third = openLog(schema, urlOf(nodes[1]!))
  const following = follow(third)
  const acknowledged: string[] = []
  let isOver = false
  const writers = [first, second, first, second].map(async (audit, writer) => {
    for (let n = 0; !isOver; n++)
      acknowledged.push((await audit.recordCustom('test:moved', { writer, n }))!.id)
  })
  for (let move = 0; move < 2; move++) {
    const before = acknowledged.length
    await schemas.move(schema, nodes)
    // All writers have recorded on the new node.
    while (acknowledged.length < before + 40) await delay(10)
  }
  isOver = true
  await Promise.all(writers)
  await first.recordCustom(OVER)
  const stored = (await allEvents(first)).map(({ id }) => id)
  expect(stored.slice(1, -1).toSorted()).toEqual(acknowledged.toSorted())
  expect(await following).toEqual(stored.slice(0, -1))
  for (const audit of [first, second, third]) await audit.close()
  await schemas.drop(schema)
})

it('a process that has read the log before a move finds events that are imported afterwards', async () => {
  const schema = schemas.take()
  const writer = openLog(schema)
  const reader = openLog(schema)
  await writer.recordCustom('test:new', { n: 1 })
  const count = async (): Promise<number> =>
    (await reader.list('filter[name_eq]=old')).events.length
  expect(await count()).toBe(0)
  await schemas.move(schema, nodes)
  await writer.importEvents(
    importedSome(20).map((event) => ({ ...event, attributes: { name: 'old' } })),
  )
  expect(await count()).toBe(10)
  await schemas.move(schema, nodes)
  await writer.importEvents(
    [imported({ attributes: { name: 'older' } })].map((event) => ({
      ...event,
      created_at: '2025-04-01T10:00:00.000001Z',
      id: '0196b3c2-0000-4000-8000-000000009999',
    })),
  )
  expect((await reader.list('filter[name_eq]=older')).events).toHaveLength(1)
  await reader.close()
  await writer.close()
  await schemas.drop(schema)
})
