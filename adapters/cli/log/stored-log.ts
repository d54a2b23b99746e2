import {
  AuditLog,
  AuditLogError,
  type CleaningRule,
  type CustomTypes,
  describeEvent,
  type EventStore,
} from 'daybook'
import type { PostgresStoreOptions } from 'daybook/postgres'
import { statSync } from 'node:fs'
import type { Checkup } from '../../../src/store/checkup.js'
import type { PendingMigrations } from '../../../src/store/migrations.js'
import { queryText } from '../../../src/explaining/query-text.js'
import { recordRead } from '../../../src/reading/recorded-reads.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { exportEvents } from '../../../src/exporting/export-events.js'
import { CommandError } from '../terminal/exit-codes.js'
import type { Terminal } from '../terminal/terminal.js'
import type { LogConfig, OpenLog, OpenOptions, TailCall, Waiting } from './log.js'
import type { Target } from './target.js'

type OnOutage = NonNullable<TailCall['onOutage']>
type StoredTarget = Exclude<Target, { readonly kind: 'http' }>

function fileOf({ filename }: { readonly filename: string }): string {
  if (statSync(filename, { throwIfNoEntry: false })) return filename
  throw new CommandError('unreachable', `there is no file ${filename}`)
}

const postgresOptions = ({
  connectionString,
  schema,
}: Extract<Target, { readonly kind: 'postgres' }>): PostgresStoreOptions => ({
  connectionString,
  ...(schema !== undefined && { schema }),
})

/** Opens the store. Loads only the driver of this kind of log. */
async function openStore(
  target: StoredTarget,
  { readOnly, migrate: mayMigrate }: OpenOptions,
): Promise<EventStore> {
  const migrate = mayMigrate ? 'auto' : 'never'
  if (target.kind === 'postgres') {
    const { postgresStore } = await import('daybook/postgres')
    return postgresStore({ ...postgresOptions(target), readOnly, migrate })
  }
  const filename = mayMigrate ? target.filename : fileOf(target)
  const { sqliteStore } = await import('daybook/sqlite')
  return sqliteStore({ filename, readOnly, migrate })
}

const storedTarget = (target: Target): StoredTarget => {
  if (target.kind === 'http') throw new Error('a feed has no store')
  return target
}

/** Resolves to the migrations that `daybook migrate` would run. */
export async function pendingMigrations(target: Target): Promise<PendingMigrations> {
  const stored = storedTarget(target)
  if (stored.kind === 'sqlite')
    return (await import('daybook/sqlite')).sqliteMigrations(fileOf(stored))
  const { postgresMigrations } = await import('daybook/postgres')
  return postgresMigrations(postgresOptions(stored))
}

/** Checks the database of the log. */
export async function storeCheckups(target: Target): Promise<readonly Checkup[]> {
  const stored = storedTarget(target)
  if (stored.kind === 'sqlite')
    return (await import('daybook/sqlite')).sqliteCheckups(fileOf(stored))
  const { postgresCheckups } = await import('daybook/postgres')
  return postgresCheckups(postgresOptions(stored))
}

const SCHEDULE: ReadonlySet<string> = new Set(['every', 'at'])

const unscheduled = (rule: CleaningRule): CleaningRule =>
  Object.fromEntries(
    Object.entries(rule).filter(([name]) => !SCHEDULE.has(name)),
  ) as unknown as CleaningRule

/** The ledger of the configuration, or of the key alone. Without `seals`, the command seals nothing. */
function ledgerOptions({ readOnly, config, ledgerKey, seals }: OpenOptions): LogConfig['ledger'] {
  if (ledgerKey !== undefined)
    return { origin: ledgerKey.slice(0, ledgerKey.indexOf('+')), key: ledgerKey }
  const given = config?.ledger
  // A log that only reads seals nothing, and needs the last note of the signer.
  if (readOnly || seals || !given?.signer) return given
  return { origin: given.origin, key: given.key ?? given.signer.vkey }
}

/**
 * The configuration for a command, without background work: rules have no schedules, and subscriptions no deliveries.
 * The journal stays with the service. A log that is opened for reading gets none of these options.
 */
function passive(options: OpenOptions): LogConfig {
  const { readOnly, config: given = {} } = options
  const { cleaning, subscriptions, journal: _journal, ownEvents, ...others } = given
  const ledger = ledgerOptions(options)
  const config = { ...others, ...(ledger && { ledger }) }
  // A command is no run of the service.
  const reads = ownEvents?.reads === true
  if (readOnly) return { ...config, ...(reads && { ownEvents: { reads } }) }
  return {
    ...config,
    ...(reads && { ownEvents: { reads } }),
    ...(cleaning && {
      cleaning: {
        ...cleaning,
        ...(Array.isArray(cleaning.rules) && { rules: cleaning.rules.map(unscheduled) }),
      },
    }),
    ...(subscriptions && { subscriptions: { ...subscriptions, deliver: false } }),
  }
}

/** The store. It also reports when its lists begin to fail, and when they work again. */
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

const NO_EVENT = '00000000-0000-0000-0000-000000000000'

/** Opens the log on this store. If that fails, the store is closed. */
async function openAudit(store: EventStore, config: LogConfig, signal: AbortSignal) {
  const { presets } = await import('daybook/presets')
  const known: CustomTypes = Object.fromEntries(
    presets.flatMap(({ customTypes }) => Object.entries(customTypes)),
  )
  try {
    const audit = new AuditLog({
      types: {},
      ...config,
      customTypes: { ...known, ...config.customTypes },
      store,
    })
    // A read fails at once if Postgres is out of reach, while other calls retry for some seconds. The read also
    // migrates the log.
    await audit.get(NO_EVENT, { signal })
    return audit
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The head in the store, which is read without the key of the ledger. */
async function lastHead(audit: AuditLog, options: Waiting | undefined): Promise<string> {
  const { head } = await audit.ledger.status(options)
  if (head !== undefined) return head
  throw new AuditLogError(
    'NOT_SEALED',
    'the log has no signed head; a process with a signer makes one',
  )
}

/** The user of this process, whom recorded reads name. */
export const userOf = (env: Terminal['env']): string => env['USER'] || env['USERNAME'] || 'you'

/** A log on SQLite or Postgres, opened by this process. */
export async function openStoredLog(
  target: StoredTarget,
  options: OpenOptions,
  { signal, env }: Terminal,
): Promise<OpenLog> {
  const username = userOf(env)
  // A command that records its read has to write, so it fails without the right to write.
  const readOnly = options.readOnly && options.config?.ownEvents?.reads !== true
  const { store, outages } = watchOutages(await openStore(target, { ...options, readOnly }))
  const audit = await openAudit(store, passive(options), signal)
  const { types, customTypes } = audit
  const seen = options.conceal ? audit.restricted({ conceal: options.conceal }) : audit
  // A command prints what others may keep, so personal values stay encrypted. An export has them as they are stored, to be imported and proved.
  const sealed = { personal: 'sealed' } as const
  const stored = { personal: 'stored' } as const
  const note = (action: string, query: EventQuery): Promise<void> =>
    recordRead(audit, { action, username, query: queryText(query) })
  return {
    kind: target.kind,
    async list(query, options) {
      await note('list', query)
      return seen.list(query, { ...options, ...sealed })
    },
    async get(id, options) {
      await recordRead(audit, { action: 'read', username, query: '', id })
      return seen.get(id, { ...options, ...sealed })
    },
    async count(query, options) {
      await note('count', query)
      return seen.count(query, options)
    },
    async *tail(query, { after, signal, onOutage }) {
      await note('stream', query)
      if (onOutage) outages.add(onOutage)
      try {
        yield* seen.tail(query, { after, signal, ...sealed })
      } finally {
        if (onOutage) outages.delete(onOutage)
      }
    },
    async *export(query, options) {
      await note('export', query)
      yield* exportEvents(seen, query, { ...options, ...stored })
    },
    prove: (id, options) => audit.ledger.prove(id, options),
    checkpoint: (waiting) =>
      options.seals ? audit.ledger.checkpoint(waiting) : lastHead(audit, waiting),
    describe: (event) => describeEvent(event, { types, customTypes }),
    audit,
    close: () => audit.close(),
  }
}
