import { AuditLog, type CustomTypes, describeEvent, type EventStore } from 'daybook'
import { lstatSync } from 'node:fs'
import { CommandError } from '../terminal/exit-codes.js'
import type { OpenLog, OpenOptions } from './log.js'
import type { Target } from './target.js'

type StoredTarget = Exclude<Target, { readonly kind: 'http' }>

/** Loads the driver of this kind of log only. */
async function openStore(target: StoredTarget, readOnly: boolean): Promise<EventStore> {
  if (target.kind === 'postgres') {
    const { postgresStore } = await import('daybook/postgres')
    const { connectionString, schema } = target
    return postgresStore({ connectionString, readOnly, ...(schema && { schema }) })
  }
  const { filename } = target
  if (!lstatSync(filename, { throwIfNoEntry: false }))
    throw new CommandError('unreachable', `there is no file ${filename}`)
  const { sqliteStore } = await import('daybook/sqlite')
  return sqliteStore({ filename, readOnly })
}

/** A log on SQLite or Postgres, opened by this process. */
export async function openStoredLog(
  target: StoredTarget,
  { readOnly, config }: OpenOptions,
): Promise<OpenLog> {
  const { presets } = await import('daybook/presets')
  const store = await openStore(target, readOnly)
  const known: CustomTypes = Object.fromEntries(
    presets.flatMap(({ customTypes }) => Object.entries(customTypes)),
  )
  const audit = new AuditLog({
    types: {},
    ...config,
    customTypes: { ...known, ...config?.customTypes },
    store,
  })
  const { types, customTypes } = audit
  return {
    kind: target.kind,
    list: (query, options) => audit.list(query, options),
    get: (id, options) => audit.get(id, options),
    count: (query, options) => audit.count(query, options),
    tail: (query, options) => audit.tail(query, options),
    describe: (event) => describeEvent(event, { types, customTypes }),
    audit,
    close: () => audit.close(),
  }
}
