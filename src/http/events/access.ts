import type { AuditEvent } from '../../event/event.js'
import type { QueryObject } from '../../filter/parse.js'
import type { EventsAction } from './routes.js'

/** What a request is about to be given of the log. */
export interface EventsRead {
  readonly action: Extract<EventsAction, 'list' | 'read' | 'stream' | 'count' | 'export'>
  readonly username: string
  /** The query string as it was sent. */
  readonly query: string
  /** Empty where figures are given and no events, as of the first batch of an export. */
  readonly events: readonly AuditEvent[]
}

/** What the host lets a user do. */
export interface UserRights {
  readonly may: Readonly<Record<EventsAction, boolean>>
  /** True where he sees no more than a part of the log. */
  readonly restricted: boolean
}

/** The host's say in who may do what; `Context` is the request as its server knows it. */
export interface EventsAccess<Context> {
  /**
   * Whether the user may do this; where not, the answer is 403. It is asked before the request's body
   * is read, and of all actions where he asks what he may. What it throws is the host's to answer.
   * @default whoever is authenticated may do everything
   */
  authorize?(context: Context, action: EventsAction): boolean | Promise<boolean>
  /**
   * A filter that holds for all that the user reads, whatever the query: `{ username_eq: 'ann' }`. Events
   * outside of it do not exist for him: they are 404, in no list, and no reason for 206. Asked once per
   * request; a stream keeps to it. It has to restrict what it names: a filter with a blank or undefined
   * value or an empty list throws, as any other that cannot be read, and the error is the host's to
   * answer; `{ id_null: true }` lets nothing through.
   * @default everything is visible
   */
  visible?(
    context: Context,
  ): QueryObject['filter'] | undefined | Promise<QueryObject['filter'] | undefined>
  /**
   * Told what a request reads before it is sent, streams and exports batch by batch: to note it
   * elsewhere. Also of `HEAD` and of what is then answered 304, which tell that the events are there;
   * lists may be empty. It is waited for; where it throws, nothing is sent, and the error is the host's
   * to answer.
   */
  onRead?(context: Context, read: EventsRead): void | Promise<void>
}
