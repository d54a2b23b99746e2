import fs from 'node:fs'
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { expect, it } from 'vitest'
import { queryDuckDb } from '../support/duckdb.js'
import { tempDir } from '../support/temp.js'

/** The SQL of the guide, in its order. */
const blocks = [
  ...fs
    .readFileSync('docs/guide/archive-and-query.md', 'utf8')
    .matchAll(/```sql\n(?<sql>[^`]*)```/g),
].map((match) => match.groups!['sql']!)

it.each(['parquet', 'ndjson'] as const)('the queries of the guide answer on %s', async (format) => {
  const temp = tempDir()
  const directory = temp.file('archive')
  const clock = manualClock('2026-10-31T23:00:00Z')
  const audit: AuditLog = new AuditLog({
    store: memoryStore({ clock }),
    types: {},
    cleaning: { rules: [{ target: 'events', maxRows: 0, archive: { directory, format } }] },
  })
  const shop = { project_path: '/projects/shop' }
  const change = { ...shop, field: 'name', before: 'Shop', after: 'The shop' }
  await audit.recordCustom('project:created', shop, { username: 'ann' })
  clock.advance(2 * 3_600_000_000)
  await audit.recordCustom('project:changed', change, { username: 'bob' })
  await audit.recordCustom('signed-in', {}, { username: 'ann' })
  await audit.cleaning.run({ rules: ['events'] })
  await audit.close()
  // A killed run leaves events in two files.
  const folder = `${directory}/year=2026/month=10`
  const [name] = fs.readdirSync(folder)
  fs.copyFileSync(`${folder}/${name}`, `${folder}/again-${name}`)

  const [parquetView, ndjsonView, ...queries] = blocks
  const view = (format === 'parquet' ? parquetView! : ndjsonView!).replace(
    "'year=",
    `'${directory}/year=`,
  )
  const [, project, active, changed, months, one] = await queryDuckDb(view, ...queries)
  expect(project).toMatchObject([
    { username: 'ann', type: 'project:created' },
    { username: 'bob', type: 'project:changed' },
  ])
  expect(active).toEqual([
    { username: 'ann', events: 2 },
    { username: 'bob', events: 1 },
  ])
  expect(changed).toMatchObject([
    { username: 'bob', field: 'name', before: 'Shop', after: 'The shop' },
  ])
  expect(months).toEqual([
    { year: 2026, month: 10, type: 'project:created', events: 1 },
    { year: 2026, month: 11, type: 'project:changed', events: 1 },
    { year: 2026, month: 11, type: 'signed-in', events: 1 },
  ])
  expect(one).toEqual([{ events: 1 }])
  temp.remove()
})
