import type { AuditLog, AuditLogOptions, EventTypes } from 'daybook'
import type { Sentence } from '../../../src/describing/sentence.js'
import type { AuditEvent } from '../../../src/event/event.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import type { EventCounts } from '../../../src/store/counts.js'
import type { EventPage } from '../../../src/store/store.js'
import type { Feed } from '../feed/open-feed.js'
import type { TargetKind } from './target.js'

export interface Waiting {
  readonly signal?: AbortSignal | undefined
}

/** A log that commands read from, wherever it is. */
export interface OpenLog {
  readonly kind: TargetKind
  list(query: EventQuery, options?: Waiting): Promise<EventPage>
  get(id: string, options?: Waiting): Promise<AuditEvent | undefined>
  count(query: EventQuery, options?: Waiting): Promise<Pick<EventCounts, 'total' | 'exact'>>
  /** Matching events in the order of `created_at`, from after `after` on, without an end. */
  tail(
    query: EventQuery,
    options: Waiting & { readonly after?: string | undefined },
  ): AsyncIterable<AuditEvent>
  describe(event: AuditEvent): Sentence
  /** The log itself; `undefined` over HTTP. */
  readonly audit: AuditLog | undefined
  /** The feed; `undefined` for a log in a store. */
  readonly feed?: Feed | undefined
  close(): Promise<void>
}

/** Options of `AuditLog` that a module of the user gives. */
export type LogConfig = Partial<Omit<AuditLogOptions<EventTypes>, 'store'>>

export interface OpenOptions {
  /** False for commands that write. */
  readonly readOnly: boolean
  readonly config?: LogConfig | undefined
}
