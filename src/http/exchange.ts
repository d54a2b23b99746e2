/** A request as the endpoints need it, whatever server it came through. */
export interface HttpRequest {
  readonly method: string
  /** Path without the query, as it was sent. */
  readonly path: string
  /** Query string without `?`, as it was sent. */
  readonly query: string
  /** The authenticated user; null where the host knows none. */
  readonly username: string | null
  /** A header's value by its lower-case name; empty where it was not sent. */
  header(name: string): string
  /** The body's bytes; throws `HttpProblem` 413 beyond the limit. */
  body(maxBytes: number): Promise<Uint8Array>
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}
