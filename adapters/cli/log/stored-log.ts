import { AuditLog, AuditLogError, type CustomTypes, describeEvent, type EventStore } from 'daybook'
import { lstatSync } from 'node:fs'
import { exportEvents } from '../../../src/exporting/export-events.js'
import { CommandError } from '../terminal/exit-codes.js'
import type { OpenLog, OpenOptions, TailCall } from './log.js'
import type { Target } from './target.js'

type OnOutage = NonNullable<TailCall['onOutage']>
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

/** The store, which also reports when its lists begin to fail and when they work again. */
function watchOutages(store: EventStore): { store: EventStore; outages: Set<OnOutage> } {
  const outages = new Set<OnOutage>()
  let isAway = false
  const list: EventStore['list'] = async (...call) => {
    try {
      const page = await store.list(...call)
      if (isAway) for (const report of outages) report(undefined)
      isAway = false
      return page
    } catch (error) {
      const isTransient = error instanceof AuditLogError && error.code === 'STORE_FAILED'
      if (isTransient && !isAway) for (const report of outages) report(error)
      isAway ||= isTransient
      throw error
    }
  }
  return { store: { ...store, list }, outages }
}

/** A log on SQLite or Postgres, opened by this process. */
export async function openStoredLog(
  target: StoredTarget,
  { readOnly, config }: OpenOptions,
): Promise<OpenLog> {
  const { presets } = await import('daybook/presets')
  const { store, outages } = watchOutages(await openStore(target, readOnly))
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
    async *tail(query, { after, signal, onOutage }) {
      if (onOutage) outages.add(onOutage)
      try {
        yield* audit.tail(query, { after, signal })
      } finally {
        if (onOutage) outages.delete(onOutage)
      }
    },
    export: (query, options) => exportEvents(audit, query, options),
    describe: (event) => describeEvent(event, { types, customTypes }),
    audit,
    close: () => audit.close(),
  }
}
