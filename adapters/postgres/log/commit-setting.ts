import { ask, type PostgresPoolClient } from '../connection/client.js'

/** The setting `synchronous_commit` of a connection. */
export interface CommitSetting {
  readonly value: string
  /** The failure that may lose acknowledged events, if the setting is weaker than the server's. */
  readonly risk?: string
  /** Advice that removes the risk. */
  readonly remedy: string
}

/** The owner of the setting, by `source` of pg_settings; the others are settings of the server. */
const OWNERS: ReadonlyMap<string | null, string> = new Map([
  ['database', 'the database'],
  ['user', 'the role'],
  ['database user', 'the role in this database'],
  ['client', 'the connection'],
  ['session', 'the session'],
])

/** Whose setting it is. */
export const ownerOf = (source: string | null | undefined): string =>
  OWNERS.get(source ?? null) ?? 'the server'

const LOCAL =
  'synchronous_commit is local, so no commit waits for the synchronous standby: a failover can lose acknowledged events'
const OFF =
  'synchronous_commit is off: a crash can lose events that are recorded in transactions of your own; other commits of Daybook are durable'

export async function readCommitSetting(client: PostgresPoolClient): Promise<CommitSetting> {
  const [row] = await ask(
    client,
    `SELECT setting, source, current_setting('synchronous_standby_names')
     FROM pg_catalog.pg_settings WHERE name = 'synchronous_commit'`,
  )
  const [value, source, standbys] = row!
  const isOwn = OWNERS.has(source!)
  const setting = {
    value: value!,
    remedy: `set synchronous_commit = on for ${ownerOf(source)}`,
  }
  const hasStandby = standbys !== ''
  if (value === 'local' && hasStandby) return { ...setting, risk: LOCAL }
  if (value === 'off' && (hasStandby || isOwn)) return { ...setting, risk: OFF }
  return setting
}
