import type { AuditLog } from 'daybook'
import type { workflowEventTypes } from 'daybook/workflow'

export type EventName = keyof typeof workflowEventTypes

/** Records what the service did. */
export type Note = (
  type: EventName,
  data?: Readonly<Record<string, unknown>>,
  username?: string | null,
) => Promise<void>

/** Work that is done must not fail for its event: a log that refuses one is told on stderr. */
export const notesIn =
  (audit: AuditLog<typeof workflowEventTypes>): Note =>
  async (type, data = {}, username = null) => {
    try {
      await audit.recordSystem(type, data, { username })
    } catch (error) {
      console.error(`${type} was not recorded:`, error)
    }
  }

/** The data keys of an event that tells of an error. */
export function failureData(error: unknown): { error: string; backtrace?: string | undefined } {
  return error instanceof Error
    ? { error: error.message, backtrace: error.stack }
    : { error: String(error) }
}
