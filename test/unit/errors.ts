import { AuditLogError, type AuditLogErrorCode } from 'daybook'
import { expect } from 'vitest'

/** Equals an error with the code, and with the text in its message. */
export const errorWith = (code: AuditLogErrorCode, text = ''): unknown =>
  expect.objectContaining({ code, message: expect.stringContaining(text) as unknown })

/** The error that the function throws for its input. */
export function refusalOf(act: () => unknown): AuditLogError {
  let given: unknown
  try {
    given = act()
  } catch (error) {
    if (error instanceof AuditLogError) return error
    throw error
  }
  throw new Error(`nothing was refused: ${JSON.stringify(given)}`)
}
