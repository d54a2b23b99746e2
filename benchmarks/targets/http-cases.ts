import type { SampleEvent } from '../harness/sample-events.js'

/** A query of the event feed, and what it has to find. */
export interface HttpCase {
  readonly query: string
  readonly limit: number
  readonly connections: number
  /** Each request asks for a query of its own: the last digits of its time are the request's number. */
  readonly isNumbered?: true
  matches(event: SampleEvent): boolean
}

const all = (limit: number, connections: number): HttpCase => ({
  query: `limit=${limit}`,
  limit,
  connections,
  matches: () => true,
})

export const CASES = {
  newest10: all(10, 100),
  paged10: {
    ...all(10, 100),
    query: 'limit=10&filter[created_at_lt]=2999-12-31T23:59:59.000000Z',
    isNumbered: true,
  },
  newest100: all(100, 100),
  newest1000: all(1000, 10),
  filtered: {
    query:
      'limit=10&filter[type_eq]=error:git_remote:fetch&filter[cluster_name_eq]=cluster-3&filter[message_cont]=queue',
    limit: 10,
    connections: 100,
    matches: ({ type, data }) =>
      type === 'error:git_remote:fetch' &&
      (data['cluster'] as { name: string } | undefined)?.name === 'cluster-3' &&
      String(data['message']).includes('queue'),
  },
} satisfies Readonly<Record<string, HttpCase>>

export type CaseName = keyof typeof CASES
