import { scrubIndex } from '../../src/store-kit/maintenance/scrubbing.js'
import type { IndexStore } from '../../src/store-kit/maintenance/index-store.js'
import type { ScrubOptions, Scrubbed } from '../../src/store/scrub.js'
import type { Clock } from '../../src/event/timestamp.js'
import type { Connection } from './connection/connection.js'
import { DIALECT, runProgram } from './index/dialect.js'
import { repackAll } from './index/repacking.js'
import { rewriteFile } from './rewrite-file.js'
import { refreshStatistics } from './write/analyze.js'

/** How often to check whether the index is ready. */
const CHECK_MS = 50

const OPEN_THROTTLES = `DELETE FROM daybook_throttles WHERE stored_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM daybook_events WHERE created_at = stored_at)
  AND NOT EXISTS (SELECT 1 FROM daybook_live WHERE created_at = stored_at)`

const DELETE_EXPIRED = 'DELETE FROM daybook_state WHERE expires_at <= ?'

/**
 * Tables whose rows are identified by a rowid that no column has: VACUUM may change it. The tables of the log have none. An
 * index for the primary key shows that it is not the rowid: https://www.sqlite.org/lang_vacuum.html
 */
const TABLES_WITH_ROWIDS = `SELECT t.name FROM pragma_table_list AS t
  WHERE t.schema = 'main' AND t.type IN ('table', 'shadow') AND NOT t.wr
    AND t.name NOT LIKE 'daybook\\_%' ESCAPE '\\' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    AND (NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE pk = 1)
      OR EXISTS (SELECT 1 FROM pragma_index_list(t.name) WHERE origin = 'pk'))
  ORDER BY t.name`

interface Scrubbing {
  readonly connection: Connection
  readonly clock: Clock
  /** Wakes the builder of the index. */
  readonly wake: () => void
}

/** Implements `EventStore.scrub`. */
export async function scrub(
  { connection, clock, wake }: Scrubbing,
  { signal, onProgress = () => {} }: ScrubOptions,
): Promise<Scrubbed> {
  const options = { signal }
  const { statement } = connection
  onProgress({ step: 'values', done: 0, total: undefined })
  await connection.write(() => {
    statement(OPEN_THROTTLES).run()
    statement(DELETE_EXPIRED).run(clock())
  }, options)

  const write: IndexStore['write'] = (program) =>
    connection.write(() => runProgram(connection, program()), options)
  const read: IndexStore['read'] = (program) =>
    connection.retry(() => runProgram(connection, program()), options)
  const pause = (): Promise<void> => {
    wake()
    return connection.pause(options, CHECK_MS)
  }
  await scrubIndex({ dialect: DIALECT, read, write, change: write }, pause, (progress) =>
    onProgress({ step: 'index', ...progress }),
  )
  const damaged = await repackAll(connection, options, (done) =>
    onProgress({ step: 'compression', done, total: undefined }),
  )
  await refreshStatistics(connection, options, (done, total) =>
    onProgress({ step: 'statistics', done, total }),
  )
  const remaining = damaged > 0 ? [DAMAGED] : []
  const hosts = await connection.retry(
    () => statement(TABLES_WITH_ROWIDS).all() as { readonly name: string }[],
    options,
  )
  if (hosts.length > 0)
    return { remaining: [...remaining, notRewritten(hosts.map(({ name }) => name))] }
  await rewriteFile(connection, options, (done) => onProgress({ step: 'files', done, total: 2 }))
  return { remaining }
}

const DAMAGED =
  'Damaged events use compression dictionaries that may have texts of removed events. Removing the damaged events and repeating the call removes them.'

const notRewritten = (names: readonly string[]): string =>
  `The SQLite file may have bytes of removed events in free space. It was not written anew, because VACUUM may change the rowids of tables of the host ` +
  `that have no INTEGER PRIMARY KEY (${names.join(', ')}). VACUUM with PRAGMA secure_delete = ON, and then PRAGMA wal_checkpoint(TRUNCATE), remove them.`
