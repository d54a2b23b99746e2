/** A request as the endpoints need it, whatever server it came through. */
export interface HttpRequest<Context = unknown> {
  readonly method: string
  /** Path without the query, as it was sent. */
  readonly path: string
  /** Query string without `?`, as it was sent. */
  readonly query: string
  /** The authenticated user; null where the host knows none. Asks the host: to be read once. */
  readonly username: string | null
  /** The request as its server knows it, for the host's own functions. */
  readonly context: Context
  /** Aborted once the client is gone. */
  readonly signal: AbortSignal
  /** A header's value by its lower-case name; empty where it was not sent. */
  header(name: string): string
  /** The body's bytes; throws `HttpProblem` 413 beyond the limit. */
  body(maxBytes: number): Promise<Uint8Array>
}

/** Chunks to be written as they come, no faster than the client takes them; given up when it is gone. */
export type HttpStream = AsyncIterable<string | Uint8Array>

/** The whole of a body. */
export type Content = string | Uint8Array

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Content | HttpStream | undefined
}
