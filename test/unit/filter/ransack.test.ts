import fs from 'node:fs'
import { AuditLog, type AuditEvent } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'

/*
 * The results of Ransack 4.4.1 (ActiveRecord 7.2, PostgreSQL 15) for a table of these rows, for the most selective of
 * a hundred thousand compared queries. Results are row numbers. If the query sorts, they are in order.
 */
interface Answers {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly answers: readonly (readonly [query: string, rows: readonly number[]])[]
}
const { columns, rows, answers } = JSON.parse(
  fs.readFileSync(new URL('../../fixtures/ransack.json', import.meta.url), 'utf8'),
) as Answers

const events = rows.map((row): AuditEvent => {
  const { id, created_at, username, system, type, ...attributes } = Object.fromEntries(
    row.map((value, i) => [columns[i], value]),
  )
  return { id, created_at, username, system, type, source: null, attributes }
})

const audit = new AuditLog({ store: memoryStore(), types: {} })
await audit.importEvents(events)

describe('the result equals that of Ransack', () => {
  it.each(answers)('for %s', async (query, expected) => {
    const page = await audit.list(`${query}&limit=1000`)
    const found = page.events.map(({ attributes }) => attributes['row'] as number)
    if (/filter\[s(?:orts)?\]/.test(query)) expect(found).toEqual(expected)
    else expect(found.toSorted((a, b) => a - b)).toEqual(expected)
  })
})
