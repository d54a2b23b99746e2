import type { IsSecret } from '../../event/secrets.js'
import type { Actor } from '../../recording/actor.js'

/** A route of the host, as its router declares it. */
export interface RecordedRoute {
  /** With the prefixes of its routers. */
  readonly path: string | RegExp
  readonly name?: string | undefined
}

/** A route that a request matched. */
export interface MatchedRoute extends RecordedRoute {
  readonly params: object
}

/** The user of a request by name, or with further fields; null if there is none. */
export type RequestUser = Actor | string | null

/** A part of a text, by indices; `to` is not included. */
export type Range = readonly [from: number, to: number]

/**
 * A request that is recorded, with its response, as the adapter of a server presents it. Members are read
 * when the event is made, because middleware may set their results.
 */
export interface RecordedExchange<Context> {
  /** Passed to the host's functions. */
  readonly context: Context
  readonly method: string
  /** The path as the client sent it, without the query. */
  readonly path: string
  /** The client's address as the server or the host gives it. Calls a function of the host, and may throw. */
  readonly address: unknown
  /** The authenticated user, or null. Calls a function of the host, and may throw. */
  readonly username: RequestUser
  /** The body, if a parser of the host has read it. */
  readonly body: unknown
  /** Files as parsers of multipart requests describe them; see `requestFiles`. */
  readonly files: unknown
  /** Parameters of the route by name. */
  readonly params: object
  /** The route that handled the request, or would have if earlier middleware had not refused it. */
  readonly route: RecordedRoute | undefined
  /** The objects that stand for the request in its server; one of them is the key of `answerOwn`. */
  readonly keys: readonly object[]
  /** The status of the response as it is now. */
  readonly status: number
  /** True if the head of the response has been sent. */
  readonly isStarted: boolean
  /** True if the client disconnected before it received the whole response. */
  readonly isAborted: boolean
  /** The body of the response, if it is known: parsed JSON or text. */
  readonly responseBody: unknown
  /** As `responseBody`, also of a longer response, up to 1 MiB. */
  readonly longBody: unknown
  /** The value of a header by its lower-case name; an empty string if it was not sent. */
  header(name: string): string
  /** The parts of `path` that hold secret parameters. */
  secretRanges(isSecret: IsSecret): readonly Range[]
  /** Reports an error of a function of the host. */
  report(error: unknown): void
}
