/** Migrations that bring a log to the schema of this version of Daybook. */
export interface PendingMigrations {
  /** The version of the log's schema; 0 if the database has no log. */
  readonly version: number
  /** Version that this version of Daybook needs. Less than `version` if a newer Daybook has migrated the log. */
  readonly latest: number
  /** The statements of each migration, in the order in which they run. */
  readonly sql: readonly string[]
  /** The statements that begin a ledger; `undefined` if the log has one. */
  readonly ledger: string | undefined
}
