import { perObject } from '../../../src/store/per-object.js'
import { randomUUID } from 'node:crypto'
import { ask, isPooled, type PostgresPoolClient, sendSingle, type TextRow } from './client.js'
import { isStalePlan } from './failures.js'

/** Each takes memory of the server; a process may have thousands of logs. */
const MAX_PREPARED = 16
/** Differs from the names of other copies of this module that use the same connections. */
const PREPARED_PREFIX = `daybook_${randomUUID().slice(0, 8)}`

/** The names of the prepared statements of each connection, by their text. */
const preparedNames = perObject<PostgresPoolClient, Map<string, string>>(() => new Map())

/** Connections that have lost prepared statements. */
const unprepared = new WeakSet<PostgresPoolClient>()

export const noteUnprepared = (client: PostgresPoolClient): void => void unprepared.add(client)

/** The name of the prepared statement, which ends with `use`; `undefined` if the connection cannot keep it. */
export function preparedName(
  client: PostgresPoolClient,
  use: string,
  text: string,
): string | undefined {
  if (isPooled(client) || unprepared.has(client)) return undefined
  const names = preparedNames(client)
  const known = names.get(text)
  if (known !== undefined || names.size === MAX_PREPARED) return known
  const name = `${PREPARED_PREFIX}_${names.size}_${use}`
  names.set(text, name)
  return name
}

/**
 * Like {@link ask}, but the server parses and plans the statement once for each connection, unless that leads through a
 * pooler. A statement that `DISCARD` or a new schema has made invalid is sent again unprepared. Its name ends with `use`.
 */
export async function askPrepared(
  client: PostgresPoolClient,
  use: string,
  text: string,
  ...values: unknown[]
): Promise<TextRow[]> {
  const name = preparedName(client, use, text)
  try {
    return (await sendSingle(client, { text, values, name })).rows as TextRow[]
  } catch (error) {
    if (name === undefined || !isStalePlan(error)) throw error
    const rows = await ask(client, text, ...values)
    noteUnprepared(client)
    return rows
  }
}
