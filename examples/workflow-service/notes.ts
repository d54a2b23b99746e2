import type { AuditLog } from 'daybook'
import type { workflowEventTypes } from 'daybook/workflow'

export type EventName = keyof typeof workflowEventTypes

type Audit = AuditLog<typeof workflowEventTypes>

type Data = Readonly<Record<string, unknown>>

/** Records what the service did. */
export type Note = (type: EventName, data?: Data, username?: string | null) => Promise<void>

/** The event of work that goes on, to which what comes of the work is added. */
export interface LiveNote extends AsyncDisposable {
  append(key: string, text: string): void
  /** The work is over. Where only the scope of the note ends, its event is marked as unfinished. */
  close(): Promise<void>
}

/** Records what the service does, from its beginning on. */
export type NoteLive = (type: EventName, data?: Data, username?: string | null) => Promise<LiveNote>

export const notesIn =
  (audit: Audit): Note =>
  async (type, data = {}, username = null) => {
    await attempt(type, () => audit.recordSystem(type, data, { username }))
  }

export const liveNotesIn =
  (audit: Audit): NoteLive =>
  async (type, data = {}, username = null) => {
    const live = await attempt(type, () => audit.recordLive(type, data, { username }))
    return {
      append: (key, text) => {
        // `close` fails for the same reason, and tells it.
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

/** Work that is done must not fail for its event: a log that refuses one is told on stderr. */
async function attempt<T>(type: EventName, record: () => Promise<T>): Promise<T | undefined> {
  try {
    return await record()
  } catch (error) {
    console.error(`${type} was not recorded:`, error)
    return undefined
  }
}

/** The data keys of an event that tells of an error. */
export function failureData(error: unknown): { error: string; backtrace?: string | undefined } {
  return error instanceof Error
    ? { error: error.message, backtrace: error.stack }
    : { error: String(error) }
}
