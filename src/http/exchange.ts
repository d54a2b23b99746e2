/** A request, independent of the HTTP server. */
export interface HttpRequest<Context = unknown> {
  readonly method: string
  /** Path without the query, as sent. */
  readonly path: string
  /** Query string without `?`, as sent. */
  readonly query: string
  /** True if the query was in the body: see `withBodyQuery`. */
  readonly hasBodyQuery?: boolean
  /** The authenticated user, or null. Calls a function of the host, so read it only once. */
  readonly username: string | null
  /** The request object of the HTTP server, passed to the host's functions. */
  readonly context: Context
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** The value of a header by its lower-case name; an empty string if it was not sent. */
  header(name: string): string
  /** The bytes of the body. Throws `HttpProblem` 413 if it is longer than `maxBytes`. */
  body(maxBytes: number): Promise<Uint8Array>
}

/** The request with the user that was read of it, which can be read only once. */
export const withUser = <Context>(
  request: HttpRequest<Context>,
  username: string,
): HttpRequest<Context> => ({
  method: request.method,
  path: request.path,
  query: request.query,
  username,
  context: request.context,
  signal: request.signal,
  header: (name) => request.header(name),
  body: (maxBytes) => request.body(maxBytes),
})

/** Chunks, written as fast as the client reads them; iteration stops when the client disconnects. */
export type HttpStream = AsyncIterable<string | Uint8Array>

/** A complete body. */
export type Content = string | Uint8Array

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Content | HttpStream | undefined
}

/** Handles the requests to its paths; returns `undefined` synchronously for others. */
export type Endpoint<Context> = (request: HttpRequest<Context>) => Promise<HttpResponse> | undefined
