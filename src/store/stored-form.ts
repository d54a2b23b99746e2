import { AuditLogError } from '../errors.js'

/**
 * The form in which this version of Daybook stores events, the same on all stores: ids and times, the attributes, the names with
 * one meaning, and the checksum. It is written beside the version of the schema. A change that an older version would read
 * wrongly increases it.
 */
export const STORED_FORM = 1

/** Checks the form that a log states. Throws `SCHEMA_MISMATCH` for a newer one, and for none. */
export function checkStoredForm(name: string, form: number | null | undefined): void {
  if (form === undefined || form === null)
    throw new AuditLogError(
      'SCHEMA_MISMATCH',
      `${name} does not state the form of its events: an early version of daybook wrote it`,
    )
  if (form > STORED_FORM)
    throw new AuditLogError(
      'SCHEMA_MISMATCH',
      `${name} has events in form ${form}; this version of daybook knows ${STORED_FORM}: update daybook`,
    )
}
