import type { AuditLog, AuditLogOptions, EventTypes } from 'daybook'
import type { Sentence } from '../../../src/describing/sentence.js'
import type { ExportFormat } from '../../../src/exporting/formats.js'
import type { AuditEvent } from '../../../src/event/event.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import type { CountOptions, EventCounts } from '../../../src/store/counts.js'
import type { EventPage } from '../../../src/store/store.js'
import type { Feed } from '../feed/open-feed.js'
import type { TargetKind } from './target.js'

export interface Waiting {
  readonly signal?: AbortSignal | undefined
}

export interface TailCall extends Waiting {
  /** A `created_at`. @default the time of the newest event */
  readonly after?: string | undefined
  /** Called when the log is out of reach, and with `undefined` once it answers again. */
  readonly onOutage?: ((error: unknown) => void) | undefined
}

export interface ExportCall extends Waiting {
  readonly format: ExportFormat
  readonly columns?: readonly string[] | undefined
  /** The name of the service, for formats that contain it. */
  readonly service?: string | undefined
}

/** A log in a store or behind a feed, for reading. */
export interface OpenLog {
  readonly kind: TargetKind
  list(query: EventQuery, options?: Waiting): Promise<EventPage>
  get(id: string, options?: Waiting): Promise<AuditEvent | undefined>
  count(
    query: EventQuery,
    options?: Pick<CountOptions, 'facets' | 'top' | 'attributes' | 'within' | 'signal'>,
  ): Promise<Pick<EventCounts, 'total' | 'levels' | 'facets' | 'attributes' | 'exact'>>
  /**
   * Matching events in the order of `created_at`, after `after`, without an end. Reports outages, and waits for their
   * end.
   */
  tail(query: EventQuery, options: TailCall): AsyncIterable<AuditEvent>
  /** The bytes of an export, oldest events first. */
  export(query: EventQuery, options: ExportCall): AsyncIterable<Uint8Array>
  /** The proof of an event. Rejects with `NOT_SEALED` and `NO_LEDGER`. */
  prove(id: string, options?: Waiting): Promise<string | undefined>
  /** The signed head of the ledger: a new one if the command seals. Rejects with `NOT_SEALED` before the first. */
  checkpoint(options?: Waiting): Promise<string>
  describe(event: AuditEvent): Sentence
  /** The log object; `undefined` over HTTP. */
  readonly audit: AuditLog | undefined
  /** The feed; `undefined` for a log in a store. */
  readonly feed?: Feed | undefined
  close(): Promise<void>
}

/** Options of `AuditLog` that a module of the user gives. */
export type LogConfig = Partial<Omit<AuditLogOptions<EventTypes>, 'store'>>

export interface OpenOptions {
  /** Names of attributes that the reader must not see. @default none */
  readonly conceal?: readonly string[] | undefined
  /** False for commands that write. */
  readonly readOnly: boolean
  /** True for commands that may create or migrate the log. @default false */
  readonly migrate?: boolean
  readonly config?: LogConfig | undefined
  /** The verifier key of the ledger, for a log whose options are not known. */
  readonly ledgerKey?: string | undefined
  /** True for the command that seals. @default false */
  readonly seals?: boolean | undefined
}
