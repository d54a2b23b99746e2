import { AuditLogError } from '../errors.js'
import type { LiveChange } from './store.js'

/** True if the change follows the stored revision; false if it was applied before. Throws `INVALID_OPTION` for a later one. */
export function isNextRevision(stored: number, { revision }: LiveChange): boolean {
  if (revision <= stored + 1) return revision > stored
  const message = `change ${revision} of a live event cannot follow change ${stored}`
  throw new AuditLogError('INVALID_OPTION', message)
}
