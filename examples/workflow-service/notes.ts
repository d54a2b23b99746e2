import type { AuditLog, EventData } from 'daybook'
import type { workflowEventTypes, workflowLinks } from 'daybook/workflow'

type Types = typeof workflowEventTypes
type Links = typeof workflowLinks

export type EventName = keyof Types

type Audit = AuditLog<Types, Links>

/** Records an event of the service. */
export type Note = <Type extends EventName>(
  type: Type,
  data?: EventData<Types[Type], Links>,
  username?: string | null,
) => Promise<void>

/** The live event of running work. */
export interface LiveNote extends AsyncDisposable {
  append(key: string, text: string): void
  /** Closes the event. An event that is only disposed is marked as unfinished. */
  close(): Promise<void>
}

/** Records a live event when work starts. */
export type NoteLive = <Type extends EventName>(
  type: Type,
  data?: EventData<Types[Type], Links>,
  username?: string | null,
) => Promise<LiveNote>

export const createNote =
  (audit: Audit): Note =>
  async (type, data, username = null) => {
    // The log has already reported a rejected event.
    await audit.record(type, data, { username }).catch(() => {})
  }

export const createNoteLive =
  (audit: Audit): NoteLive =>
  async (type, data, username = null) => {
    const live = await attempt(type, () => audit.recordLive(type, data, { username }))
    return {
      append: (key, text) => {
        // `close` fails for the same reason and reports it.
        live?.append(key, text).catch(() => {})
      },
      close: async () => {
        await attempt(type, async () => live?.close())
      },
      [Symbol.asyncDispose]: async () => {
        await attempt(type, async () => live?.[Symbol.asyncDispose]())
      },
    }
  }

/** Finished work must not fail because of its event: errors of the log go to stderr. */
async function attempt<T>(type: EventName, record: () => Promise<T>): Promise<T | undefined> {
  try {
    return await record()
  } catch (error) {
    console.error(`${type} was not recorded:`, error)
    return undefined
  }
}

/** The event data for an error. */
export function failureData(error: unknown): { error: string; backtrace?: string | undefined } {
  return error instanceof Error
    ? { error: error.message, backtrace: error.stack }
    : { error: String(error) }
}
