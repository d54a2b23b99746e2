import type { SampleEvent } from '../harness/sample-events.js'

/** A query of the event feed. */
export interface HttpCase {
  readonly title: string
  readonly query: string
  readonly limit: number
  readonly connections: number
  /** Each request has a different query: the last digits of its time are the number of the request. */
  readonly isNumbered?: true
  /** Whether the query finds the event. */
  matches(event: SampleEvent): boolean
}

const newest = (limit: number, connections: number): HttpCase => ({
  title: `\`limit=${limit}\``,
  query: `limit=${limit}`,
  limit,
  connections,
  matches: () => true,
})

export const CASES = {
  newest10: newest(10, 100),
  paged10: {
    ...newest(10, 100),
    title: '`limit=10`, a different `created_at_lt` in each request',
    query: 'limit=10&filter[created_at_lt]=2999-12-31T23:59:59.000000Z',
    isNumbered: true,
  },
  newest100: newest(100, 100),
  newest1000: newest(1000, 10),
  filtered: {
    title: '`limit=10`, three conditions',
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
export const CASE_NAMES = Object.keys(CASES) as CaseName[]
