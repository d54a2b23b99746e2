import Database from 'better-sqlite3'

/** True if a write transaction can begin. A process that is suspended within a transaction keeps the lock. */
export function isWritable(filename: string): boolean {
  const database = new Database(filename, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}
