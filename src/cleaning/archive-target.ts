import type { AuditEvent } from '../event/event.js'
import type { DescribedTypes } from '../describing/describe-event.js'
import type { ArchiveFormat } from './events-file.js'
import type { ArchiveEvents } from './rule.js'

/** An archive for the events that one run removes. */
export interface Archive {
  /** Resolves to the ids of the events that have become durable in the archive, and may be removed. */
  add(events: readonly AuditEvent[]): Promise<readonly string[]>
  /** Makes the remaining events durable, and resolves to their ids. */
  finish(): Promise<readonly string[]>
  /** Path of the newest file that has events. */
  readonly file: string | undefined
  /** Discards events that are not durable. */
  close(): Promise<void>
}

/** A directory of files by year and month, and the bounds of a file. */
export interface Lake {
  readonly directory: string
  readonly format: ArchiveFormat
  readonly columns: readonly string[] | undefined
  readonly maxRows: number
  readonly maxBytes: number
  readonly mode: number
}

/** Destination for the archived events of a rule. */
export interface ArchiveTarget {
  /** A directory, a function of the host, or a directory with folders by month. */
  readonly to: string | ArchiveEvents | Lake
  /** Permissions of the file in a directory. */
  readonly mode?: number | undefined
}

/** The run that archives. */
export interface ArchivingRun {
  /** The name of the rule. */
  readonly rule: string
  readonly described: DescribedTypes
  readonly signal: AbortSignal
  /** Called with each file once it is complete, before its events count as durable. Then a file gets at most 100,000 events. */
  readonly onFile?: ((file: string, ids: readonly string[]) => Promise<void>) | undefined
}
