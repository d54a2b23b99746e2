/** The part of pg (8 or newer) that is used here, by shape: a `Pool` or a `Client`. */
export interface PostgresClient {
  query(text: string, params: unknown[]): Promise<{ readonly rows: unknown[] }>
}
