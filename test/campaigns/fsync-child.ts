import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog, type AuditLogError } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import { faultyStore } from 'daybook/testing'

/*
 * Records events while syncs fail, prints the outcome of each call, and is then killed:
 * `<store file> <journal file> <file of DAYBOOK_FAILING_SYNC> <plan>`.
 */

export interface Plan {
  /** Syncs that fail before each event. */
  readonly failures: readonly number[]
  /** Events go to the journal, as the store is away. */
  readonly isJournalled: boolean
  /** The store's file has a rollback journal in place of a WAL. */
  readonly hasRollback: boolean
}

export interface Outcome {
  readonly n: number
  readonly outcome: 'kept' | AuditLogError['code']
}

const [filename, journalFile, control, text] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
]
const { failures, isJournalled, hasRollback } = JSON.parse(text) as Plan
fs.writeFileSync(control, '0')
// A host has created the file, so it has no WAL.
const place = hasRollback ? { database: new Database(filename) } : { filename }
const store = faultyStore(sqliteStore(place))
const journal = sqliteJournal({ filename: journalFile })
const audit: AuditLog = new AuditLog({
  store,
  journal,
  types: {},
  failurePolicy: isJournalled ? 'queue' : 'block',
  waiting: { deadlineMs: 3000 },
})
// Otherwise the process warns of each loss.
audit.on('rejected', () => {})
if (isJournalled) store.fail('append')
for (const [n, count] of failures.entries()) {
  fs.writeFileSync(control, String(count))
  const outcome = await audit.recordCustom('x', { n }).then(
    () => 'kept' as const,
    (error: unknown) => (error as AuditLogError).code,
  )
  process.stdout.write(`${JSON.stringify({ n, outcome } satisfies Outcome)}\n`)
}
process.kill(process.pid, 'SIGKILL')
