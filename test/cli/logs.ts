import { AuditLog, type AuditLogOptions, type EventTypes } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { workflowEventTypes } from 'daybook/workflow'
import { tempDir } from '../support/temp.js'

export interface FileLog {
  readonly file: string
  readonly temp: ReturnType<typeof tempDir>
  /** The log, opened for writing. */
  readonly audit: AuditLog
  close(): Promise<void>
}

/** A new log on a SQLite file. */
export function openFileLog(options: Partial<AuditLogOptions<EventTypes>> = {}): FileLog {
  const temp = tempDir()
  const file = temp.file('audit.db')
  const audit = new AuditLog({
    types: workflowEventTypes,
    ...options,
    store: sqliteStore({ filename: file }),
  })
  return {
    file,
    temp,
    audit,
    async close() {
      await audit.close()
      temp.remove()
    },
  }
}
