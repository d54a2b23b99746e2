import Database from 'better-sqlite3'
import type { AttributeTypes, ListSource } from 'daybook'
import { postgresTable } from 'daybook/postgres'
import { sqliteTable } from 'daybook/sqlite'
import { postgresDatabase } from '../../support/database.js'

/*
 * The same three things as events and as rows of a list. An event also has the values as nested data; a row
 * has them under the joined names.
 */

const things = [
  { label: 'a', kind: 'x', name: 'alpha', size: 1, active: true },
  { label: 'b', kind: 'x', name: 'Beta', size: 2, active: false },
  { label: 'c', kind: 'y', name: null, size: null, active: null },
] as const

/** Attributes of custom events. */
export const thingEvents = things.map((thing) => ({
  type: `thing:${thing.label}`,
  ...thing,
  parent: { deep: thing },
}))

const TYPES = {
  label: 'string',
  kind: 'string',
  name: 'string',
  size: 'number',
  active: 'boolean',
} as const

const PREFIX = 'parent_deep_'

const withNested = <Value>(values: Readonly<Record<string, Value>>): Record<string, Value> => ({
  ...values,
  ...Object.fromEntries(Object.entries(values).map(([name, value]) => [PREFIX + name, value])),
})

export const thingAttributes: AttributeTypes = withNested(TYPES)

const rows = things.map((thing) => ({ id: thing.label, ...withNested<unknown>(thing) }))

export interface ThingList {
  readonly source: ListSource<object>
  readonly remove: () => void | Promise<void>
}

const COLUMNS = { string: 'text', number: 'numeric', boolean: 'boolean' } as const

const columns = Object.entries({ id: 'string', ...withNested(TYPES) } as Record<
  string,
  keyof typeof COLUMNS
>)
  .map(([name, type]) => `${name} ${COLUMNS[type]}`)
  .join(', ')

/** The rows, stored as by a host with this event store. */
export const thingLists: Readonly<Record<string, () => ThingList | Promise<ThingList>>> = {
  memory: () => ({ source: rows, remove() {} }),
  SQLite() {
    const database = new Database(':memory:')
    database.exec(`CREATE TABLE things (${columns})`)
    for (const row of rows) {
      const values = Object.values(row).map((value) =>
        typeof value === 'boolean' ? Number(value) : value,
      )
      database.prepare(`INSERT INTO things VALUES (${values.map(() => '?').join()})`).run(...values)
    }
    return {
      source: sqliteTable({ database, table: 'things' }),
      remove: () => void database.close(),
    }
  },
  async Postgres() {
    const { pool, remove } = await postgresDatabase()
    await pool.query(`CREATE TABLE things (${columns})`)
    for (const row of rows) {
      const values = Object.values(row)
      const places = values.map((_value, i) => `$${i + 1}`)
      await pool.query(`INSERT INTO things VALUES (${places.join()})`, values)
    }
    return { source: postgresTable({ pool, table: 'things' }), remove }
  },
}
