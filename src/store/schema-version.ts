import { AuditLogError } from '../errors.js'

const mismatch = (message: string): AuditLogError => new AuditLogError('SCHEMA_MISMATCH', message)

/**
 * True if a schema of this version lacks no migration. `named` begins the message: `audit.db has schema version`. Throws
 * `SCHEMA_MISMATCH` if it has a newer version than this one knows.
 */
export function hasAllMigrations(named: string, version: number, known: number): boolean {
  if (version <= known) return version === known
  throw mismatch(`${named} ${version}; this version of daybook knows ${known}: update daybook`)
}

/** Throws `SCHEMA_MISMATCH` unless the schema of `name` has the version that this one knows; `undefined` for no schema. */
export function requireVersion(
  name: string,
  named: string,
  version: number | undefined,
  known: number,
): void {
  if (version !== undefined && hasAllMigrations(named, version, known)) return
  const found =
    version === undefined ? `${name} has no audit log` : `${named} ${version}, not ${known}`
  throw mismatch(`${found}: run daybook migrate`)
}
